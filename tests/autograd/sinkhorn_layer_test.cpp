#include <headwise/autograd/product.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/autograd/sinkhorn.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/layer/rows.hpp>

#include "autograd/laws.hpp"
#include "support/sinkhorn_case.hpp"

#include <vector>

namespace headwise::sinkhorn_layer_test {
namespace {

using check::near;
using check::random;
using sinkhorn_case::block_len;
using sinkhorn_case::everything;
using sinkhorn_case::inputs;
using sinkhorn_case::options;
using sinkhorn_case::sorted;

TEST(RecordedSinkhorn, IsTheOneBackwardOfTheCall) {
  const auto x = inputs();
  const auto d = random(15, 6, 4);
  BlockMatrices<double> weights;
  for (const Index blocks : {2, 2, 0, 0, 3, 3}) weights.push_back(random(blocks, blocks, 5));
  const auto attended =
      attend_sinkhorn(x[0], x[1], x[2], weights, block_len, SinkhornReach::own_blocks, options, everything());
  const auto expected = attend_sinkhorn_backward(x[0], x[1], x[2], weights, block_len, attended, d,
                                                 SinkhornReach::own_blocks, options, everything());
  autograd::Tape<double> tape;
  const auto query = tape.input(x[0]), key = tape.input(x[1]), value = tape.input(x[2]);
  autograd::BlockVars<double> learned;
  for (const auto& each : weights) learned.push_back(tape.input(each));
  const auto y =
      attend_sinkhorn(query, key, value, learned, block_len, SinkhornReach::own_blocks, options, everything())
          .output;
  EXPECT_EQ(tape.size(), 10u);
  EXPECT_EQ(y.value(), attended.output);
  const auto got = backward(y, d);
  EXPECT_EQ(got.of(query), expected.query);
  EXPECT_EQ(got.of(key), expected.key);
  EXPECT_EQ(got.of(value), expected.value);
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(got.of(learned[i]), expected.weights[i]);
  const auto constant =
      attend_sinkhorn(query, key, value, weights, block_len, SinkhornReach::own_blocks, options, everything())
          .output;
  EXPECT_EQ(backward(constant, d).of(key), expected.key);
}

/// The paper's sorting network: a learned product of each block's mean says where the block goes.
struct SortingLayer {
  Parameter<double> sorting, value;

  auto operator()(const Sequence auto& x) const {
    const RaggedRows blocks = RaggedRows::uniform(4, block_len);
    const auto weights = sinkhorn(multiply(mean_rows(x, blocks), sorting), {.iterations = 4});
    const std::vector of_head{weights};
    return attend_sinkhorn(x, x, multiply(x, value), of_head, block_len, SinkhornReach::own_blocks,
                           AttendOptions{}, everything())
        .output;
  }
  void for_each_parameter(auto&& visit) {
    visit("sorting", sorting);
    visit("value", value);
  }
};

TEST(RecordedSinkhorn, ASortingNetworkLearns) {
  SortingLayer layer{{random(5, 4, 6)}, {random(5, 3, 7)}};
  laws::expect_layer_gradients(
      layer, [](const auto& l, const auto& x) { return l(x); }, random(12, 5, 1));
}

TEST(RecordedSinkhorn, GradientsOfABatchAreTheSumOfThoseOfItsTexts) {
  const laws::Inputs x = inputs();
  const auto d = random(15, 6, 4);
  const auto gradients_of = [](const laws::Inputs& numbers, const Matrix<double>& d_rows,
                               const AttendOptions& o) {
    return laws::backward_of(
        [&](const auto& v) {
          return sorted(v, BlockQuery::mean, SinkhornReach::own_blocks, o, everything(),
                        [](const auto& scores) { return sinkhorn(scores, {.iterations = 3}); });
        },
        numbers, d_rows);
  };
  const laws::Inputs batch = gradients_of(x, d, options);
  for (const Range& text : {Range{0, 6}, Range{6, 15}}) {
    laws::Inputs part;
    for (const auto& each : x) part.push_back(each.middleRows(text.begin, text.size()));
    const laws::Inputs alone = gradients_of(part, d.middleRows(text.begin, text.size()), {.heads = 2});
    for (std::size_t n = 0; n < alone.size(); ++n)
      EXPECT_TRUE(near(Matrix<double>(batch[n].middleRows(text.begin, text.size())), alone[n], 1e-13));
  }
}

}  // namespace
}  // namespace headwise::sinkhorn_layer_test
