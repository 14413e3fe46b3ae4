#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace headwise::mask::documents_test {
namespace {

/// Documents of the given lengths; ids neither start at 0 nor rise.
std::vector<TokenId> packed(const std::vector<Index>& lengths) {
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    ids.insert(ids.end(), std::size_t(lengths[i]), TokenId((i * 5) % 7) - 3);
  return ids;
}

/// Two sequences of 70 and 66 rows; a document's id goes on across their border.
struct SelfAttention {
  static std::vector<Documents> masks() {
    return {Documents(packed({1, 30, 2, 36, 65, 1, 1})), Documents(packed({136})),
            Documents(packed({63, 7, 57, 9}))};
  }
  static std::vector<Context> contexts() {
    std::vector<Context> each(2);
    each[0].query_rows = each[0].key_rows = {0, 70};
    each[1].query_rows = each[1].key_rows = {70, 136};
    each[1].sequence = 1;
    each[0].sequences = each[1].sequences = 2;
    each[0].heads = each[1].heads = 2;
    return each;
  }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Documents, MaskLaws, SelfAttention);

/// Queries in any order, some of a document without keys; the same ids in both sequences.
struct CrossAttention {
  static std::vector<Documents> masks() {
    return {Documents({9, 4, 9, 1, 4, 4}, {4, 4, 1, 1, 1, 1, 9, 2, 2, 4})};
  }
  static std::vector<Context> contexts() {
    std::vector<Context> each(2);
    each[0].query_rows = {0, 4};
    each[0].key_rows = {0, 7};
    each[1].query_rows = {4, 6};
    each[1].key_rows = {7, 10};
    each[1].sequence = 1;
    each[0].sequences = each[1].sequences = 2;
    return each;
  }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(DocumentsOfQueriesAndKeys, MaskLaws, CrossAttention);

struct Interleaved {
  static std::vector<ScatteredDocuments> masks() {
    std::vector<TokenId> ids(136);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i < 70 ? TokenId(i % 3) : TokenId(i / 64 + i % 2);
    return {ScatteredDocuments(ids), ScatteredDocuments(packed({1, 30, 2, 36, 65, 1, 1}))};
  }
  static std::vector<Context> contexts() { return SelfAttention::contexts(); }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(ScatteredDocuments, MaskLaws, Interleaved);

std::string refusal(const auto& mask, Index q_len, Index k_len, const PictureOptions& options = {}) {
  try {
    (void)to_dense(mask, q_len, k_len, options);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Documents, SeesTheTokensOfItsOwnDocument) {
  namespace hw = headwise;
  // [docs mask/documents]
  const hw::mask::Documents documents({7, 7, 7, 2, 2});  // one id for each row of query and key
  const std::string picture = hw::mask::to_string(hw::mask::Causal{} && documents, 5, 5);
  // "#....\n"
  // "##...\n"
  // "###..\n"
  // "...#.\n"
  // "...##\n"
  // [docs end]
  EXPECT_EQ(picture, "#....\n##...\n###..\n...#.\n...##\n");
}

TEST(Documents, QueriesMayHaveIdsOfTheirOwn) {
  EXPECT_EQ(to_string(Documents({2, 5, 1, 2}, {1, 2, 2}), 4, 3), ".##\n...\n#..\n.##\n");
}

TEST(Documents, ShareNothingAcrossTheBordersOfSequences) {
  const Documents documents({0, 1, 1, 0});
  EXPECT_EQ(to_string(documents, 2, 2, {.sequence = 0, .sequences = 2}), "#.\n.#\n");
  EXPECT_EQ(to_string(documents, 2, 2, {.sequence = 1, .sequences = 2}), "#.\n.#\n");
}

TEST(Documents, RefusesADocumentThatComesBack) {
  const std::string text =
      "Documents: id of key row 3 is 7, expected a document that has not ended before it in its sequence; "
      "keep the "
      "rows of a document together, or use mask::ScatteredDocuments";
  EXPECT_EQ(refusal(Documents({7, 7, 2, 7}), 4, 4), text);
  EXPECT_EQ(refusal(Causal{} && Documents({7, 7, 2, 7}), 4, 4), text);
  EXPECT_EQ(refusal(Documents({7, 2, 7, 2}), 2, 2, {.sequence = 1, .sequences = 2}), "accepted");
}

TEST(Documents, ScatteredServesDocumentsThatComeBack) {
  EXPECT_EQ(to_string(ScatteredDocuments({7, 7, 2, 7}), 4, 4), "##.#\n##.#\n..#.\n##.#\n");
  EXPECT_EQ(to_string(ScatteredDocuments({2}, {2, 1, 2}), 1, 3), "#.#\n");
}

TEST(Documents, WantsOneIdForEachRow) {
  EXPECT_EQ(refusal(Documents({1, 1}), 3, 3),
            "Documents: number of query ids is 2, expected 3; give one id for each row of query");
  EXPECT_EQ(refusal(Documents({1, 1, 1}, {1, 1}), 3, 3),
            "Documents: number of key ids is 2, expected 3; give one id for each row of key");
  EXPECT_EQ(refusal(Documents({1, 1, 1}), 1, 1, {.sequence = 1, .sequences = 2}),
            "Documents: number of query ids is 3, expected 2; give one id for each row of query");
  EXPECT_EQ(refusal(ScatteredDocuments({1, 1}, {1}), 2, 2),
            "ScatteredDocuments: number of key ids is 1, expected 2; give one id for each row of key");
}

}  // namespace
}  // namespace headwise::mask::documents_test
