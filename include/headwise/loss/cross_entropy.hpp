#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/loss/evaluated.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace headwise::loss {

/// Where the mass of label smoothing goes; the two conventions differ.
enum class Smoothed {
  all_classes,   ///< smoothing / classes to each, the target included: PyTorch
  wrong_classes  ///< smoothing / (classes - 1) to each but the target: tensor2tensor
};

struct CrossEntropyOptions {
  TokenId ignored = -100;  ///< a target that does not count
  double smoothing = 0;    ///< of the labels, at least 0 and at most 1
  Smoothed smoothed = Smoothed::all_classes;
  double z_loss = 0;  ///< weight of the squared log-sum-exp; 1e-4 in T5
  Reduction reduction = Reduction::mean;
};

namespace detail {

/// What the target's distribution gives to the target, and to each other class.
struct Labels {
  double target = 1, other = 0;

  Labels(const CrossEntropyOptions& options, Index classes) {
    const bool all = options.smoothed == Smoothed::all_classes;
    const Index sharing = all ? classes : classes - 1;
    other = sharing > 0 ? options.smoothing / double(sharing) : 0.0;
    target = 1 - options.smoothing + (all ? other : 0.0);
  }
};

template <class Scalar>
Scalar log_of(Scalar x) {
  using std::log;
  return log(x);
}

/// The largest real part; NaN counts as small, and comes back through the sum of the exponentials.
template <class Scalar>
math::real_of<Scalar> largest_of(const Scalar* x, Index count) {
  using Real = math::real_of<Scalar>;
  return reduce_lanes(
      count, -math::infinity<Scalar>, [](Scalar v) { return math::real(v); },
      [](Real a, Real b) { return b > a ? b : a; }, x);
}

/// One row: its share of the loss, and of the gradient if `d` is not null.
///
///     e_k = exp(logits_k - largest),   lse = largest + log(sum e),   p_k = e_k / sum e
template <class Scalar>
Scalar cross_entropy_row(const Scalar* logits, Index classes, Index target, const Labels& labels,
                         double z_loss, Scalar weight, Scalar* d) {
  const Scalar shift = Scalar(largest_of(logits, classes));
  const auto exponential = [shift](Scalar s) { return math::exp(s - shift); };
  Scalar sum;
  if (d == nullptr) {
    sum = sum_lanes(classes, exponential, logits);
  } else {
    // Evaluated once: the gradient is made of the same exponentials.
    update_lanes(
        classes, [exponential](Scalar& e, Scalar s) { e = exponential(s); }, d, logits);
    sum = sum_lanes(
        classes, [](Scalar e) { return e; }, d);
  }
  const Scalar lse = shift + log_of(sum);
  Scalar expected = Scalar(labels.target) * logits[target];
  if (labels.other != 0) {
    const Scalar all = sum_lanes(
        classes, [](Scalar s) { return s; }, logits);
    expected += Scalar(labels.other) * (all - logits[target]);
  }
  if (d != nullptr) {
    const Scalar factor = weight * (Scalar(1) + Scalar(2 * z_loss) * lse) / sum;
    const Scalar others = weight * Scalar(labels.other);
    transform_lanes(d, classes, [factor, others](Scalar e) { return factor * e - others; });
    d[target] -= weight * Scalar(labels.target - labels.other);
  }
  return lse - expected + Scalar(z_loss) * lse * lse;
}

template <class Scalar>
Scalar cross_entropy(const ConstMatrixRef<Scalar>& logits, std::span<const TokenId> targets,
                     const CrossEntropyOptions& options, Matrix<Scalar>* gradient) {
  const Index counted = Index(targets.size()) - std::count(targets.begin(), targets.end(), options.ignored);
  const double weight = share(options.reduction, counted);
  const Labels labels(options, logits.cols());
  if (gradient != nullptr) gradient->resize(logits.rows(), logits.cols());
  Total<Scalar> total(0);
  for (Index row = 0; row < logits.rows(); ++row) {
    const TokenId target = targets[std::size_t(row)];
    Scalar* d = gradient == nullptr ? nullptr : gradient->data() + row * logits.cols();
    if (target == options.ignored) {
      if (d != nullptr) std::fill_n(d, logits.cols(), Scalar(0));
      continue;
    }
    total += Total<Scalar>(cross_entropy_row(logits.data() + row * logits.outerStride(), logits.cols(),
                                             target, labels, options.z_loss, Scalar(weight), d));
  }
  return Scalar(Total<Scalar>(weight) * total);
}

inline void check_targets(std::span<const TokenId> targets, Index rows, Index classes,
                          const CrossEntropyOptions& options) {
  expect_equal("cross_entropy: number of targets", Index(targets.size()), rows, "one for each row of logits");
  if (!(options.smoothing >= 0 && options.smoothing <= 1)) {
    fail_shape("cross_entropy: smoothing", std::to_string(options.smoothing), "0 to 1");
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == options.ignored || (0 <= targets[i] && Index(targets[i]) < classes)) continue;
    fail_shape(
        "cross_entropy: targets[" + std::to_string(i) + "]", std::to_string(targets[i]),
        "0 to " + std::to_string(classes - 1) + ", or " + std::to_string(options.ignored) + " (ignored)");
  }
}

}  // namespace detail

/// Cross-entropy of logits against target classes, with the gradient (p - y) / count.
///
///     -sum_k y_k log p_k + z_loss lse^2      p = softmax(logits), y: the target, smoothed if wanted
///
/// logits [n, classes], a matrix -> the number; a variable -> a variable [1, 1]. targets [n]; ignored ones
/// count neither in the sum nor in the mean. Throws ShapeError when a target is not a class.
/// Cost: O(n classes), and n * classes numbers for the gradient when it is recorded.
/// Paper: Szegedy et al., "Rethinking the Inception Architecture", 2015, section 7, for smoothing; Raffel et
/// al., T5, 2019, for the z-loss.
template <Sequence Logits>
auto cross_entropy(const Logits& logits, std::span<const TokenId> targets,
                   const CrossEntropyOptions& options = {}) {
  using Scalar = scalar_of<Logits>;
  detail::check_targets(targets, logits.rows(), logits.cols(), options);
  return detail::evaluated(logits, [&](const ConstMatrixRef<Scalar>& x, Matrix<Scalar>* gradient) {
    return detail::cross_entropy<Scalar>(x, targets, options, gradient);
  });
}

}  // namespace headwise::loss
