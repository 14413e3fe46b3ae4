#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/rotate.hpp>
#include <headwise/autograd/rows.hpp>

#include "autograd/laws.hpp"

#include <vector>

namespace headwise::rows_test {
namespace {

using check::near;
using check::random;
using laws::expect_gradients;

constexpr TokenId ids[] = {2, 0, 2, 1};
constexpr Position positions[] = {3, 3, 0, 1};
constexpr Index rows[] = {1, 1, 3};

TEST(Rows, AnEmbeddingAddsUpTheGradientsOfEachId) {
  const Parameter<double> table{random(4, 3, 1)};
  autograd::Tape<double> tape;
  const auto x = embed(table, tape.input(std::vector<TokenId>(std::begin(ids), std::end(ids))));
  EXPECT_EQ(x.value(), embed(table, std::span<const TokenId>(ids)));
  const Matrix<double> d = random(4, 3, 2);
  const Matrix<double> got = backward(x, d).of(table);
  EXPECT_TRUE(near(got.row(0), d.row(1), 0));
  EXPECT_TRUE(near(got.row(1), d.row(3), 0));
  EXPECT_TRUE(near(got.row(2), d.row(0) + d.row(2), 1e-16));
  EXPECT_TRUE(got.row(3).isZero(0));
}

TEST(Rows, TablesThatAreAddedHaveTheirGradients) {
  expect_gradients([](const auto& x) { return embed(x[0], std::span<const TokenId>(ids)); },
                   {random(4, 3, 1)});
  expect_gradients([](const auto& x) { return add_embedding(x[0], x[1], std::span<const TokenId>(ids)); },
                   {random(4, 3, 1), random(5, 3, 2)});
  using position::add_positions;
  expect_gradients(
      [](const auto& x) { return add_positions(x[0], x[1], std::span<const Position>(positions)); },
      {random(4, 3, 1), random(5, 3, 2)});
}

TEST(Rows, ASignalTakesNoGradientButPassesIt) {
  autograd::Tape<double> tape;
  const auto x = tape.input(random(4, 3, 1));
  const Matrix<double> signal = random(4, 3, 2), d = random(4, 3, 3);
  const auto y = add_positions(x, signal);
  EXPECT_EQ(y.value(), position::add_positions(x.value(), signal));
  EXPECT_EQ(backward(y, d).of(x), d);
}

TEST(Rows, JoinedAndCutMatricesHaveTheirGradients) {
  const laws::Inputs inputs{random(4, 3, 1), random(2, 3, 2), random(4, 2, 3)};
  expect_gradients([](const auto& x) { return concatenate_rows(x[0], x[1]); }, {inputs[0], inputs[1]});
  expect_gradients([](const auto& x) { return concatenate_columns(x[0], x[1]); }, {inputs[0], inputs[2]});
  expect_gradients([](const auto& x) { return concatenate_rows(x[0], x[0]); }, {inputs[0]});
  expect_gradients([](const auto& x) { return slice_rows(x[0], 1, 2); }, {inputs[0]});
  expect_gradients([](const auto& x) { return slice_columns(x[0], 0, 2); }, {inputs[0]});
  expect_gradients([](const auto& x) { return gather_rows(x[0], std::span<const Index>(rows)); },
                   {inputs[0]});
  expect_gradients([](const auto& x) { return mean_rows(x[0]); }, {inputs[0]});
  expect_gradients(
      [](const auto& x) {
        return mean_rows(x[0], RaggedRows::from_lengths({3, 0, 1}));
      },
      {inputs[0]});
}

TEST(Rows, RotationsAreTurnedBack) {
  using position::rotate;
  for (const auto pairing : {position::Pairing::half_split, position::Pairing::interleaved}) {
    const position::Rotary rotary({.head_dim = 6, .rotary_dim = 4, .pairing = pairing});
    expect_gradients(
        [&](const auto& x) { return rotate(x[0], rotary, 2, std::span<const Position>(positions)); },
        {random(4, 12, 1)});
    expect_gradients([&](const auto& x) { return rotate(x[0], rotary, 2, 5); }, {random(4, 12, 1)});
  }
}

}  // namespace
}  // namespace headwise::rows_test
