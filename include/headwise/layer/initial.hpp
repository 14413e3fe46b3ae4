#pragma once

#include <headwise/core/parameter.hpp>
#include <headwise/core/random.hpp>

#include <cmath>

namespace headwise::layer {

/// Where the numbers of a new layer come from: drawn from a generator, or zeros that a loader replaces.
///
///     drawn(rng)           weight ~ U(-a, a), a = sqrt(6 / (in + out));  table ~ N(0, 1 / width)
///     drawn(rng, stddev)   weight, table ~ N(0, stddev^2)
///     zeros()              for loaders: nothing is drawn
///
/// An Rng converts, so `Linear<float>({.in = 3, .out = 4}, rng)` is all there is to say.
/// Paper: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
/// 2010, equation 16.
class Initial {
 public:
  // Implicit on purpose: a generator is what most callers hand over.
  Initial(Rng& rng) noexcept : rng_(&rng) {}

  static Initial drawn(Rng& rng) noexcept { return Initial(rng); }
  static Initial drawn(Rng& rng, double stddev) noexcept {
    Initial initial(rng);
    initial.stddev_ = stddev;
    return initial;
  }
  static Initial zeros() noexcept { return {}; }

  /// A product's factor [out, in].
  template <class Scalar>
  Parameter<Scalar> weight(Index out, Index in) const {
    if (rng_ == nullptr) return constant<Scalar>(out, in, 0);
    if (stddev_ > 0) return {normal(out, in, Scalar(stddev_), *rng_)};
    const double bound = std::sqrt(6.0 / double(in + out));
    return {uniform(out, in, Scalar(-bound), Scalar(bound), *rng_)};
  }

  /// An embedding [count, width].
  template <class Scalar>
  Parameter<Scalar> table(Index count, Index width) const {
    if (rng_ == nullptr) return constant<Scalar>(count, width, 0);
    const double stddev = stddev_ > 0 ? stddev_ : 1 / std::sqrt(double(width));
    return {normal(count, width, Scalar(stddev), *rng_)};
  }

  template <class Scalar>
  static Parameter<Scalar> constant(Index rows, Index cols, double value) {
    return {Matrix<Scalar>::Constant(rows, cols, Scalar(value))};
  }

 private:
  Initial() = default;

  Rng* rng_ = nullptr;
  double stddev_ = 0;
};

}  // namespace headwise::layer
