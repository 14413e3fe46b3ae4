#include <headwise/position/learned.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>

namespace headwise::position {
namespace {

using check::near;
using check::random;
using check::thrown;

TEST(Learned, AddsTheRowOfEachPosition) {
  for (Index length : {0, 1, 63, 64, 65}) {
    const Learned<double> encoding(random(70, 6, 1));
    const auto x = random(length, 6, 2);
    Matrix<double> expected = x;
    for (Index i = 0; i < length; ++i)
      for (Index c = 0; c < 6; ++c) expected(i, c) += encoding.table()(i + 5, c);
    EXPECT_TRUE(near(encoding(x, 5), expected, 0)) << length;
  }
}

TEST(Learned, FollowsExplicitPositions) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const hw::Matrix<float> x = hw::normal(5, 16, 1.0f, rng);
  // [docs position/learned]
  const hw::position::Learned encoding({.max_len = 512, .d_model = 16}, rng);
  // Two texts in one batch, of 2 and 3 tokens: each counts its own.
  const hw::RaggedRows batch = hw::RaggedRows::from_lengths({2, 3});
  const hw::Matrix<float> y = encoding(x, hw::position::within_sequences(batch));
  // [docs end]
  for (Index i = 0; i < 5; ++i)
    EXPECT_TRUE(near(y.row(i), Matrix<float>(x.row(i) + encoding.table().row(i < 2 ? i : i - 2)), 0));
}

TEST(Learned, APositionBeyondTheTableIsAnErrorNotAClamp) {
  const Learned<double> encoding(random(4, 2, 1));
  EXPECT_NO_THROW((void)encoding(random(1, 2, 2), 3));
  const std::string text =
      "add_positions: positions[1] is 4, expected 0 to 3; a learned table ends; make it longer, shorten the "
      "text, or "
      "use an encoding that is computed";
  EXPECT_EQ(thrown<ShapeError>([&] { (void)encoding(random(2, 2, 2), 3); }), text);
  EXPECT_THROW((void)encoding(random(1, 2, 2), -1), ShapeError);
}

TEST(Learned, NamesTheSizeThatIsWrong) {
  Rng rng(1);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)Learned<>({.max_len = 0}, rng); }),
            "Learned: max_len is 0, expected a positive number");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)Learned<>({.d_model = -1}, rng); }),
            "Learned: d_model is -1, expected a positive number");
  const Learned<double> encoding(random(4, 2, 1));
  EXPECT_EQ(thrown<ShapeError>([&] { (void)encoding(random(2, 3, 2)); }),
            "add_positions: columns of x is 3, expected 2; the table has this many");
}

TEST(Learned, StartsSmallAndTheSameForASeed) {
  Rng rng(7), again(7);
  const Learned<double> a({.max_len = 200, .d_model = 50}, rng), b({.max_len = 200, .d_model = 50}, again);
  EXPECT_TRUE(near(a.table(), b.table(), 0));
  EXPECT_NEAR(a.table().squaredNorm() / 10000, 0.02 * 0.02, 0.02 * 0.02 * 0.1);
}

TEST(Learned, HasOneParameter) {
  Learned<double> encoding(random(4, 2, 1));
  int visited = 0;
  encoding.for_each_parameter([&](std::string_view name, Parameter<double>& parameter) {
    EXPECT_EQ(name, "table");
    parameter.value.setZero();
    ++visited;
  });
  EXPECT_EQ(visited, 1);
  EXPECT_TRUE(encoding.table().isZero());
}

}  // namespace
}  // namespace headwise::position
