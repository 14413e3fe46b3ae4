#include <headwise/attention/etc.hpp>
#include <headwise/mask/documents.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"

#include <algorithm>

namespace headwise {
namespace {

using check::near;
using check::waves;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

/// ETC's label of a distance: 0 ... K forwards, K + 1 ... 2 K backwards.
Index label(Index distance, Index most) {
  return distance >= 0 ? std::min(distance, most) : most + std::min(-distance, most);
}

TEST(AttendEtc, HasThePublishedNumbers) {
  const Index most = 2;
  const auto lq = waves(0, 8, 4), lk = waves(1, 8, 4), lv = waves(2, 8, 4);
  const auto gq = waves(3, 2, 4), gk = waves(4, 2, 4), gv = waves(5, 2, 4);
  const Matrix<double> table = 0.5 * waves(7, 7, 4);
  const std::vector<TokenId> sentence{0, 0, 0, 0, 1, 1, 1, 1}, global{0, 1};
  const auto add_label = [&](const Matrix<double>& query, auto label_of) {
    return [&, label_of](double s, Position q, Position k) {
      return s + query.row(q).dot(table.row(label_of(q, k))) / 2;  // 2 = sqrt(head_dim)
    };
  };
  const auto distance = [=](Position q, Position k) { return label(k - q, most); };
  const auto of_long = [&](Position q, Position k) {
    return 2 * most + 1 + Index(sentence[std::size_t(q)] == global[std::size_t(k)]);
  };
  const auto of_global = [&](Position q, Position k) { return of_long(k, q); };
  const auto pieces = etc_pieces(
      etc_piece(lk, lv, everything(), add_label(lq, distance)),
      etc_piece(gk, gv, everything(), add_label(lq, of_long)),
      etc_piece(gk, gv, everything(), add_label(gq, distance)),
      etc_piece(lk, lv, mask::ScatteredDocuments(global, sentence), add_label(gq, of_global)));  // hard g2l
  const auto got = attend_etc(lq, gq, pieces, {.radius = 2});
  EXPECT_NEAR(check::checksum(got.from_long.output), 1.566189414917, 1e-11);
  EXPECT_NEAR(check::checksum(got.from_global.output), 0.297966260099, 1e-11);
  Matrix<double> rows(2, 4);
  rows << 0.140797800741, -0.636718952023, 0.478282765994, 0.037909076654,  //
      0.014300924372, -0.360096385164, 0.106470421965, 0.394663439327;
  EXPECT_TRUE(near(got.from_long.output.row(3), rows.row(0), 1e-11));
  EXPECT_TRUE(near(got.from_global.output.row(1), rows.row(1), 1e-11));
}

TEST(AttendEtc, LabelsDistancesAsThePaperDoes) {
  const Index expected[6][6] = {{0, 1, 2, 3, 3, 3}, {4, 0, 1, 2, 3, 3}, {5, 4, 0, 1, 2, 3},
                                {6, 5, 4, 0, 1, 2}, {6, 6, 5, 4, 0, 1}, {6, 6, 6, 5, 4, 0}};
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(label(j - i, 3), expected[i][j]);
}

}  // namespace
}  // namespace headwise
