#pragma once

#include <headwise/attention/attend.hpp>

#include <string>
#include <utility>

namespace headwise {

namespace attention {

/// False for a score that ends in a sink: it would join each of the softmaxes that are merged.
template <class Scalar, class Score>
constexpr bool joins_one_softmax() {
  return !has_sink<decltype(bind_score<Scalar>(std::declval<const Score&>(), Context{}))>();
}

}  // namespace attention

/// Joins two attentions of the same queries over different keys into the attention over all of them.
///
///     lse = log(exp(a.lse) + exp(b.lse)),   output = exp(a.lse - lse) a.output + exp(b.lse - lse) b.output
///
/// Both: output [q_rows, heads * value_dim], lse [q_rows, heads]. An empty part (lse = -inf) is the neutral
/// element, two empty parts stay empty. Throws ShapeError when shapes differ, or when an lse is +inf or NaN,
/// which no finite score can give. Cost: O(size of output).
/// Paper: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, section 3.1.
template <class Scalar>
Attended<Scalar> merge(const Attended<Scalar>& a, const Attended<Scalar>& b) {
  expect_equal("merge: rows", b.output.rows(), a.output.rows(), "both parts have the same queries");
  expect_equal("merge: columns", b.output.cols(), a.output.cols(), "both parts have the same heads");
  for (const Attended<Scalar>* part : {&a, &b}) {
    expect_equal("merge: lse rows", part->lse.rows(), a.output.rows());
    expect_equal("merge: lse columns", part->lse.cols(), a.lse.cols());
    for (Index i = 0; i < part->lse.size(); ++i) {
      const auto lse = math::real(part->lse.data()[i]);
      if (!(lse < math::infinity<Scalar>)) fail_shape("merge: lse", std::to_string(lse), "a number or -inf");
    }
  }
  const Index heads = a.lse.cols();
  if (heads > 0) expect_multiple("merge: columns", a.output.cols(), heads, "columns of lse");
  const Index value_dim = heads > 0 ? a.output.cols() / heads : 0;
  Attended<Scalar> whole{Matrix<Scalar>(a.output.rows(), a.output.cols()),
                         Matrix<Scalar>(a.lse.rows(), heads)};
  for (Index i = 0; i < a.output.rows(); ++i) {
    for (Index head = 0; head < heads; ++head) {
      const Scalar lse = kernel::log_add(a.lse(i, head), b.lse(i, head));
      const Scalar wa = kernel::share(a.lse(i, head), lse), wb = kernel::share(b.lse(i, head), lse);
      for (Index x = head * value_dim; x < (head + 1) * value_dim; ++x)
        whole.output(i, x) = wa * a.output(i, x) + wb * b.output(i, x);
      whole.lse(i, head) = lse;
    }
  }
  return whole;
}

}  // namespace headwise
