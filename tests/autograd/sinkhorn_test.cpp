#include <headwise/autograd/sinkhorn.hpp>

#include "autograd/laws.hpp"
#include "support/sinkhorn_any_mask.hpp"

namespace headwise::sinkhorn_test {
namespace {

using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}
check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

constexpr Index block_len = 3;

/// Two texts of 2 and 3 blocks.
const AttendOptions options{.heads = 2, .query_rows = RaggedRows::from_lengths({6, 0, 9})};

/// Scores of blocks, what `weigh` makes of each, and attention.
template <class X, class Weigh>
auto sorted(const X& x, BlockQuery kind, SinkhornReach reach, const AttendOptions& o,
            const check::AnyMask& mask, const Weigh& weigh) {
  auto blocks = block_scores(x[0], x[1], block_len, o.heads, kind, o.query_rows);
  for (auto& each : blocks)
    if (each.cols() > 0) each = weigh(each);
  return attend_sinkhorn(x[0], x[1], x[2], blocks, block_len, reach, o, mask).output;
}

laws::Inputs inputs() { return {random(15, 4, 1), random(15, 4, 2), random(15, 6, 3)}; }

TEST(RecordedSinkhorn, GradientsGoThroughEveryIterationOfTheSorting) {
  laws::expect_gradients(
      [](const auto& x) {
        return sorted(x, BlockQuery::mean, SinkhornReach::own_blocks, options, everything(),
                      [](const auto& scores) { return sinkhorn(scores, {.iterations = 3}); });
      },
      inputs());
  laws::expect_gradients(
      [](const auto& x) {
        return sorted(x, BlockQuery::leading, SinkhornReach::own_blocks, options, causal(),
                      [](const auto& scores) {
                        return sinkhorn(scores, {.iterations = 3, .order = SinkhornOrder::causal});
                      });
      },
      inputs());
}

TEST(RecordedSinkhorn, GradientsGoToTheBestBlocksOfAllQueries) {
  laws::expect_gradients(
      [](const auto& x) {
        return sorted(x, BlockQuery::whole, SinkhornReach::all_blocks, options, everything(),
                      [](const auto& scores) { return best_blocks(scores, 2); });
      },
      inputs());
}

}  // namespace
}  // namespace headwise::sinkhorn_test
