#pragma once

#include "support/check.hpp"
#include "support/sinkhorn_any_mask.hpp"

#include <vector>

/// Two texts of 2 and 3 blocks, and nothing between them: what the tests of recorded Sinkhorn attention
/// share.
namespace headwise::sinkhorn_case {

inline constexpr Index block_len = 3;

inline const AttendOptions options{.heads = 2, .query_rows = RaggedRows::from_lengths({6, 0, 9})};

/// Query, key and value.
inline std::vector<Matrix<double>> inputs() {
  return {check::random(15, 4, 1), check::random(15, 4, 2), check::random(15, 6, 3)};
}

inline check::AnyMask everything() {
  return [](Index, Index) { return true; };
}
inline check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

/// Scores of blocks, what `weigh` makes of each, and attention; x[3] and x[4], where given, are a null block.
template <class X, class Weigh>
auto sorted(const X& x, BlockQuery kind, SinkhornReach reach, const AttendOptions& o,
            const check::AnyMask& mask, const Weigh& weigh) {
  auto blocks = block_scores(x[0], x[1], block_len, o.heads, kind, o.query_rows);
  for (auto& each : blocks)
    if (each.cols() > 0) each = weigh(each);
  if (x.size() > 3)
    return attend_sinkhorn(x[0], x[1], x[2], blocks, block_len, reach, o, mask, x[3], x[4]).output;
  return attend_sinkhorn(x[0], x[1], x[2], blocks, block_len, reach, o, mask).output;
}

}  // namespace headwise::sinkhorn_case
