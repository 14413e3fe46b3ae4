#include <headwise/attention/explain.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/none.hpp>

#include <gtest/gtest.h>

#include <string>

namespace headwise {
namespace {

TEST(Explain, CountsPairsExactly) {
  for (const Index length : {0, 1, 47, 48, 100, 1000}) {
    const auto causal = explain({.q_len = length, .k_len = length}, {.heads = 3}, mask::Causal{});
    EXPECT_EQ(causal.pairs, 3 * length * (length + 1) / 2) << length;
    EXPECT_EQ(explain({.q_len = length, .k_len = length}, {.heads = 3}, mask::None{}).pairs,
              3 * length * length);
  }
}

TEST(Explain, CountsTheFlopsOfThePairs) {
  const auto e =
      explain({.q_len = 10, .k_len = 20, .head_dim = 64, .value_dim = 32}, {.heads = 2}, mask::None{});
  EXPECT_EQ(e.forward_flops, 2.0 * 400 * (64 + 32));
  EXPECT_EQ(e.backward_flops, 2.0 * 400 * (3 * 64 + 2 * 32));
  EXPECT_EQ(e.operand_bytes, Index(sizeof(float)) * (10 * 2 * (64 + 32 + 1) + 20 * 2 * (64 + 32)));
}

TEST(Explain, SkipsTheTilesThatCausalityHides) {
  const auto e = explain({.q_len = 4096, .k_len = 4096}, {}, mask::Causal{});
  EXPECT_GE(e.computed_pairs, e.pairs);
  EXPECT_GT(e.density(), 0.97);
  EXPECT_GT(e.tiles.full, 50 * e.tiles.partial / 8);
}

TEST(Explain, AsksAMaskOfUnknownCoveragePairByPair) {
  const auto odd = [](Index, Index k) { return k % 2 == 1; };
  const auto e = explain({.q_len = 30, .k_len = 31}, {.query_offset = 0}, odd);
  EXPECT_EQ(e.pairs, 30 * 15);
  EXPECT_EQ(e.tiles.full, 0);
}

TEST(Explain, CountsThePairsOfAPlan) {
  Plan plan;
  plan.items.push_back({RowList::affine(0, 3, 10), RowList::of({1, 5, 29})});
  const Plans plans{{plan}};
  EXPECT_EQ(explain({.q_len = 30, .k_len = 30}, {}, mask::None{}, &plans).pairs, 30);
}

TEST(Explain, SaysItInWords) {
  const std::string text = to_string(explain({.q_len = 8, .k_len = 8}, {}, mask::Causal{}));
  EXPECT_EQ(text.find("pairs      36 allowed"), 0u) << text;
  EXPECT_NE(text.find("computed   with "), std::string::npos);
}

}  // namespace
}  // namespace headwise
