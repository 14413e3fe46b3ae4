#pragma once

#include <headwise/autograd/tape.hpp>

#include <gtest/gtest.h>

#include "autograd/laws.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

/// The laws of gradients for models that read token ids. A model is called as call(model, ids, options), with
/// a list of ids or with those of a tape.
namespace headwise::laws {

/// The gradients of sum(logits o d), and that the logits are bit-equal to those without a tape.
template <class Model, class Call>
autograd::Gradients<double> model_gradients(const Model& model, const Call& call,
                                            const std::vector<TokenId>& ids, const Matrix<double>& d) {
  autograd::Tape<double> tape;
  const auto logits = call(model, tape.input(ids));
  EXPECT_EQ(logits.value(), call(model, ids)) << "a tape changes no bit of the values";
  return backward(logits, d);
}

/// Every `stride`-th number of every parameter by central differences; no parameter is without a gradient.
template <class Model, class Call>
void expect_model_gradients(Model& model, const Call& call, const std::vector<TokenId>& ids, Index stride) {
  const Matrix<double> value = call(model, ids), d = check::random(value.rows(), value.cols(), 99);
  const auto gradients = model_gradients(model, call, ids, d);
  std::size_t parameters = 0;
  model.for_each_parameter([&](std::string_view name, auto& parameter) {
    ++parameters;
    for (Index i = 0; i < parameter.value.size(); i += stride) {
      double& number = parameter.value.data()[i];
      const double before = number;
      number = before + 6e-6;
      const double above = inner(d, call(model, ids));
      number = before - 6e-6;
      const double expected = (above - inner(d, call(model, ids))) / 12e-6;
      number = before;
      ASSERT_NEAR(gradients.of(parameter).data()[i], expected, 1e-7 + 1e-6 * std::abs(expected))
          << name << ", number " << i;
    }
  });
  EXPECT_EQ(parameters, gradients.size());
}

}  // namespace headwise::laws
