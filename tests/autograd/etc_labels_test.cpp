#include <headwise/autograd/etc.hpp>
#include <headwise/autograd/label_scores.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/score/query_choice.hpp>
#include <headwise/score/query_distance.hpp>

#include "autograd/laws.hpp"
#include "support/pattern_laws.hpp"

#include <span>
#include <vector>

namespace headwise::etc_labels_test {
namespace {

using check::waves;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

const std::vector<TokenId> sentence{0, 0, 0, 0, 1, 1, 1, 1}, global{0, 1};

/// A table as scores of a tape hold it, so that the kernel is compiled once.
autograd::Var<double> held(const autograd::Var<double>& table) { return table; }
Eigen::Map<const Matrix<double>> held(const Matrix<double>& table) {
  return {table.data(), table.rows(), table.cols()};
}

/// ETC with one table of learned labels: distances up to 2, then "of another sentence" and "of the same".
/// x: long query, key, value, global query, key, value, table.
const auto labelled = [](const auto& x) {
  constexpr Index radius = 2, most = 2;
  const std::vector<Index> within = distance_labels(radius, most), sides{2 * most + 1, 2 * most + 2},
                           among_global = distance_labels(1, most);
  const mask::ScatteredDocuments of_long(sentence, global), of_global(global, sentence);
  const check::AnyMask hard = [](Index q, Index k) {
    return global[std::size_t(q)] == sentence[std::size_t(k)];
  };
  const auto long_distances = label_scores(x[0], x[6], std::span<const Index>(within)),
             long_sides = label_scores(x[0], x[6], std::span<const Index>(sides)),
             global_distances = label_scores(x[3], x[6], std::span<const Index>(among_global)),
             global_sides = label_scores(x[3], x[6], std::span<const Index>(sides));
  const auto pieces =
      etc_pieces(etc_piece(x[1], x[2], everything(), score::QueryDistance(held(long_distances))),
                 etc_piece(x[4], x[5], everything(), score::QueryChoice(held(long_sides), of_long)),
                 etc_piece(x[4], x[5], everything(), score::QueryDistance(held(global_distances))),
                 etc_piece(x[1], x[2], hard, score::QueryChoice(held(global_sides), of_global)));
  const auto [from_long, from_global] = attend_etc(x[0], x[3], pieces, {.radius = radius});
  return concatenate_rows(from_long.output, from_global.output);
};

laws::Inputs inputs() {
  return {waves(0, 8, 4), waves(1, 8, 4), waves(2, 8, 4),      waves(3, 2, 4),
          waves(4, 2, 4), waves(5, 2, 4), 0.5 * waves(7, 7, 4)};
}

TEST(EtcLabels, HaveThePublishedNumbers) {
  const Matrix<double> output = labelled(inputs());
  EXPECT_NEAR(check::checksum(output.topRows(8)), 1.566189414917, 1e-11);
  EXPECT_NEAR(check::checksum(output.bottomRows(2)), 0.297966260099, 1e-11);
}

TEST(EtcLabels, TheTableAndTheQueriesLearnThroughEveryPiece) {
  laws::expect_gradients_by_differences(labelled, inputs());
}

}  // namespace
}  // namespace headwise::etc_labels_test
