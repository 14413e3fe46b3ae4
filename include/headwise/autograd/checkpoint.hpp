#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/layer/checkpoint.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace headwise::autograd {

namespace detail {

/// Records f again on a tape of its own, goes through it in reverse, and hands on what it finds.
template <class Scalar, class F, std::size_t n>
void pull_back_recomputed(Sweep<Scalar>& sweep, const F& f, const std::array<Var<Scalar>, n>& arguments,
                          Matrix<Scalar> d) {
  Tape<Scalar> tape;
  const auto repeated = std::apply(
      [&](const auto&... x) { return std::array<Var<Scalar>, n>{tape.borrowed(x.value(), x.learns())...}; },
      arguments);
  const Var<Scalar> y = std::apply([&](const auto&... x) { return Var<Scalar>(f(x...)); }, repeated);
  Gradients<Scalar> gradients = backward(y, std::move(d));
  for (std::size_t i = 0; i < n; ++i)
    if (sweep.wants(arguments[i])) sweep.add(arguments[i], gradients.of(repeated[i]));
  gradients.for_each([&](const Matrix<Scalar>& parameter, Matrix<Scalar>& gradient) {
    sweep.add(arguments[0].tape().leaf(parameter), std::move(gradient));
  });
}

}  // namespace detail

/// f(x...) as one node that keeps its result only: backward records f anew, on a tape of its own, and goes
/// through that. Dropout draws the same factors again, because they are a function of the options.
///
/// f is copied and kept until the tape ends; what it refers to must live as long, and so must the parameters
/// it reads. Throws ShapeError, in backward, when f reads a variable that is not among x.
/// Cost: f is computed a second time; its intermediate results exist only then, one checkpoint at a time.
/// Paper: Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016, section 3.
template <class F, class... X>
requires Recorded<X...>
auto checkpoint(const F& f, const X&... x) {
  const auto arguments = detail::as_vars(x...);
  using Scalar = scalar_of<decltype(arguments[0])>;
  Matrix<Scalar> value =
      std::apply([&](const auto&... each) { return Matrix<Scalar>(f(each.value()...)); }, arguments);
  return arguments[0].tape().record_learned(std::move(value),
                                            [f, arguments](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                                              detail::pull_back_recomputed(sweep, f, arguments, std::move(d));
                                            });
}

}  // namespace headwise::autograd
