#include <headwise/autograd/sinkhorn.hpp>

#include "autograd/laws.hpp"
#include "support/sinkhorn_case.hpp"

namespace headwise::sinkhorn_test {
namespace {

using check::random;
using sinkhorn_case::causal;
using sinkhorn_case::everything;
using sinkhorn_case::inputs;
using sinkhorn_case::options;
using sinkhorn_case::sorted;

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

TEST(RecordedSinkhorn, ANullBlockLearnsFromTheFirstBlockOfEachText) {
  laws::Inputs x = inputs();
  x.push_back(random(2, 4, 4));
  x.push_back(random(2, 6, 5));
  laws::expect_gradients(
      [](const auto& numbers) {
        return sorted(numbers, BlockQuery::leading, SinkhornReach::own_blocks, options, causal(),
                      [](const auto& scores) {
                        return sinkhorn(scores, {.iterations = 3, .order = SinkhornOrder::causal});
                      });
      },
      x);
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
