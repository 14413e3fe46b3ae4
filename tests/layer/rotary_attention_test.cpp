// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace headwise::layer {
namespace {

using check::near;
using check::random;
using check::thrown;

/// One head of two channels that turn together; identity projections, so that the layer's input is query, key
/// and value.
MultiHeadAttention<double> bare() {
  MultiHeadAttention<double> layer({.d_model = 2, .heads = 1, .rotary = position::Rotary({.head_dim = 2})},
                                   Initial::zeros());
  layer.for_each_parameter([](std::string_view, auto& p) { p.value.setIdentity(); });
  return layer;
}

/// softmax over the cosines of angle differences, for query and keys [1, 0] of one length, by plain loops.
double mean_value(double query_position, const std::vector<double>& key_positions,
                  const std::vector<double>& values) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = std::exp(std::cos(query_position - key_positions[i]) / std::sqrt(2.0));
    sum += weight * values[i];
    total += weight;
  }
  return sum / total;
}

/// The cases say q = k = [1, 0] and v apart from them: values ride in a channel that keys do not have.
MultiHeadAttention<double> with_values() {
  MultiHeadAttention<double> layer(
      {.d_model = 3, .heads = 1, .head_dim = 2, .value_dim = 1, .rotary = position::Rotary({.head_dim = 2})},
      Initial::zeros());
  layer.for_each_parameter([](std::string_view name, auto& p) {
    if (name == "query.weight" || name == "key.weight") p.value(0, 0) = 1;  // [1, 0, v] -> [1, 0]
    if (name == "value.weight") p.value(0, 2) = 1;                          // [1, 0, v] -> v
    if (name == "output.weight") p.value(2, 0) = 1;
  });
  return layer;
}

Matrix<double> token(double value) { return Eigen::RowVector3d(1, 0, value); }

TEST(RotaryAttention, B55_TheQueryOfACachedTokenIsTurnedAtItsOwnPosition) {
  const auto layer = with_values();
  KeyValueCache<double> cache;
  double last = 0;
  for (double value : {1, 2, 4}) {
    auto [y, longer] = layer(token(value), std::move(cache), mask::Causal{});
    last = y(0, 2);
    cache = std::move(longer);
  }
  EXPECT_NEAR(last, 2.78121013, 1e-8);
}

TEST(RotaryAttention, B56_StepsAfterAPromptStandWhereOneCallPutsThem) {
  const auto layer = with_values();
  Matrix<double> text(4, 3);
  text << 1, 0, 1, 1, 0, 2, 1, 0, 4, 1, 0, 8;
  auto [prompt, cache] = layer(text.topRows(2), KeyValueCache<double>(), mask::Causal{});
  auto [third, longer] = layer(text.row(2), std::move(cache), mask::Causal{});
  auto [fourth, longest] = layer(text.row(3), std::move(longer), mask::Causal{});
  EXPECT_NEAR(third(0, 2), 2.78121013, 1e-8);
  EXPECT_NEAR(fourth(0, 2), 5.08395446, 1e-8);
  EXPECT_TRUE(near(fourth, layer(text, mask::Causal{}).bottomRows(1), 1e-14));
}

TEST(RotaryAttention, B58_DroppedRowsLeaveTheOthersAtTheirTruePositions) {
  const auto layer = with_values();
  Matrix<double> text(4, 3);
  text << 1, 0, 1, 1, 0, 2, 1, 0, 4, 1, 0, 8;
  auto [prompt, cache] = layer(text, KeyValueCache<double>(), mask::Causal{});
  cache.retain([](Index, Position position) { return position == 0 || position == 3; });
  auto [y, longer] = layer(token(16), std::move(cache), mask::Causal{});
  EXPECT_NEAR(y(0, 2), 10.86557444, 1e-8);
  EXPECT_NEAR(y(0, 2), mean_value(4, {0, 3, 4}, {1, 8, 16}), 1e-12);
}

TEST(RotaryAttention, PositionsRestartInEverySequence) {
  const auto layer = bare();
  const auto x = random(7, 2, 1);
  const Matrix<double> y = layer(x, {.query_rows = RaggedRows::from_lengths({3, 4})}, mask::Causal{});
  EXPECT_TRUE(near(y.topRows(3), layer(x.topRows(3), mask::Causal{}), 1e-14));
  EXPECT_TRUE(near(y.bottomRows(4), layer(x.bottomRows(4), mask::Causal{}), 1e-14));
}

TEST(RotaryAttention, TakesPositionsThatAreGiven) {
  const auto layer = bare();
  const auto x = random(3, 2, 1);
  const std::vector<Position> far{100, 101, 102}, spread{0, 2, 4};
  const auto at = [&](const std::vector<Position>& p) {
    return layer(x, {.query_positions = p, .key_positions = p}, mask::Causal{});
  };
  EXPECT_TRUE(near(at(far), layer(x, mask::Causal{}), 1e-13));
  EXPECT_FALSE(near(at(spread), layer(x, mask::Causal{}), 1e-3));
}

TEST(RotaryAttention, AScalingThatReadsTheLengthTurnsCachedKeysAnew) {
  Rng rng(5);
  const position::DynamicNtkScaling scaling{.factor = 2, .trained_len = 3};
  const MultiHeadAttention<double> layer(
      {.d_model = 4, .heads = 1, .rotary = position::Rotary({.head_dim = 4, .scaling = scaling})}, rng);
  const auto x = random(6, 4, 2);
  KeyValueCache<double> cache;
  for (Index t = 0; t < 6; ++t) {
    auto [y, longer] = layer(x.row(t), std::move(cache), mask::Causal{});
    cache = std::move(longer);
    const Matrix<double> text = x.topRows(t + 1);
    EXPECT_TRUE(near(y, layer(text, mask::Causal{}).bottomRows(1), 1e-13)) << t;
  }
}

TEST(RotaryAttention, AsksWhereTheQueriesStandWhenLengthsDiffer) {
  const auto layer = bare();
  const auto x = random(2, 2, 1), memory = random(3, 2, 2);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)layer.across(x, memory, memory); }),
            "MultiHeadAttention: sequence 0 has 2 queries and 3 keys, expected to be told where the queries "
            "stand, to "
            "rotate them; set .query_offset, or .query_positions and .key_positions");
  const Matrix<double> last = layer.across(x, memory, memory, {.query_offset = align_last});
  EXPECT_TRUE(near(last, layer.across(x, memory, memory, {.query_offset = 1}), 1e-14));
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)layer.remembered(memory); }),
      "MultiHeadAttention: a memory is given to a layer with rotary positions, expected a layer without");
}

}  // namespace
}  // namespace headwise::layer
