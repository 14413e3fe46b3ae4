#include <headwise/autograd/product.hpp>

#include "autograd/laws.hpp"

// Each verb is called without namespace, as layers do: the lambda finds that of matrices or of variables.
namespace headwise::product_test {
namespace {

using check::random;
using laws::expect_gradients_by_differences;

TEST(Product, HasTheGradientsOfBothFactors) {
  expect_gradients_by_differences([](const auto& x) { return multiply(x[0], x[1]); },
                                  {random(3, 4, 1), random(4, 2, 2)});
  expect_gradients_by_differences([](const auto& x) { return multiply_transposed(x[0], x[1]); },
                                  {random(3, 4, 1), random(5, 4, 2)});
  expect_gradients_by_differences([](const auto& x) { return multiply(x[0], x[0]); }, {random(3, 3, 1)});
}

TEST(Product, AffineHasTheGradientsOfWeightAndBias) {
  for (Index rows : {0, 1, 65}) {
    expect_gradients_by_differences([](const auto& x) { return affine(x[0], x[1], x[2]); },
                                    {random(rows, 4, 1), random(5, 4, 2), random(1, 5, 3)});
  }
}

}  // namespace
}  // namespace headwise::product_test
