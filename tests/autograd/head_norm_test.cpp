#include <headwise/autograd/head_norm.hpp>

#include "autograd/laws.hpp"

namespace headwise::head_norm_test {
namespace {

using check::random;

TEST(RecordedHeadNorms, HaveTheirGradients) {
  for (const double epsilon : {0.0, 0.1}) {
    laws::expect_gradients([&](const auto& x) { return unit_heads(x[0], 2, epsilon); }, {random(5, 6, 1)});
    laws::expect_gradients([&](const auto& x) { return standard_heads(x[0], 2, epsilon); },
                           {random(5, 6, 2)});
  }
}

TEST(RecordedHeadNorms, AHeadWithoutDirectionHasNone) {
  Matrix<double> x = random(3, 4, 1);
  x.block(1, 2, 1, 2).setZero();
  autograd::Tape<double> tape;
  const auto input = tape.input(x);
  for (const auto& y : {unit_heads(input, 2), standard_heads(input, 2)}) {
    const Matrix<double> gradient = backward(y, random(3, 4, 2)).of(input);
    EXPECT_TRUE(gradient.allFinite());
    EXPECT_TRUE(gradient.block(1, 2, 1, 2).isZero(0));
  }
}

}  // namespace
}  // namespace headwise::head_norm_test
