#include <headwise/autograd/ops.hpp>
#include <headwise/model/decoder.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <vector>

namespace headwise::float_test {
namespace {

using check::random;

TEST(ModelGradients, FloatAgreesWithDouble) {
  Rng rng(1);
  const model::DecoderOptions options{
      .vocab_size = 11, .d_model = 16, .layers = 2, .heads = 4, .rotary = position::Rotary({.head_dim = 4})};
  const model::Decoder<float> narrow(options, rng);
  model::Decoder<double> wide(options, layer::Initial::zeros());
  std::vector<Matrix<double>> values;
  narrow.for_each_parameter(
      [&](std::string_view, const auto& p) { values.push_back(p.value.template cast<double>()); });
  std::size_t n = 0;
  wide.for_each_parameter([&](std::string_view, auto& p) { p.value = values[n++]; });

  const std::vector<TokenId> ids{1, 5, 5, 0, 2, 6, 10};
  const Matrix<double> d = random(7, 11, 9);
  autograd::Tape<float> tape;
  autograd::Tape<double> wide_tape;
  const auto got = backward(narrow(tape.input(ids)), d.cast<float>());
  const auto expected = backward(wide(wide_tape.input(ids)), d);
  std::vector<Matrix<double>> singles;
  narrow.for_each_parameter(
      [&](std::string_view, const auto& p) { singles.push_back(got.of(p).template cast<double>()); });
  n = 0;
  wide.for_each_parameter([&](std::string_view name, const auto& p) {
    const Matrix<double>& exact = expected.of(p);
    EXPECT_LT((singles[n++] - exact).norm(), 1e-4 * exact.norm() + 1e-5) << name;
  });
}

}  // namespace
}  // namespace headwise::float_test
