#pragma once

#include <headwise/core/error.hpp>
#include <headwise/position/add_positions.hpp>
#include <headwise/position/positions.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace headwise::position {

/// Where the sine and the cosine of one frequency stand: side by side, or all sines before all cosines.
/// Weights trained with one are useless with the other.
enum class SinusoidLayout { interleaved, concatenated };

/// How the frequencies are spaced: the paper's, or those of its first code (tensor2tensor, fairseq).
enum class SinusoidGrid { paper, tensor2tensor };

struct SinusoidalOptions {
  Index d_model = 512;
  SinusoidLayout layout = SinusoidLayout::interleaved;
  SinusoidGrid grid = SinusoidGrid::paper;
  double base = 10000;  ///< the longest wavelength is about 2 pi base
  Index start = 0;      ///< added to every position: 1 where a code counts from 1
};

/// Sinusoidal positions: each pair of channels is a clock hand, the pairs turning ever more slowly.
///
///     P[p, 2t] = sin((p + start) w_t),  P[p, 2t+1] = cos((p + start) w_t)        x + P
///     paper grid: w_t = base^(-2t / d_model)    tensor2tensor: w_t = base^(-t / max(d_model / 2 - 1, 1))
///
/// P[p] . P[q] depends on p - q only. An odd d_model leaves the last sine of the paper grid without its
/// cosine, and one trailing zero channel in tensor2tensor's. Computed in double for every scalar type. Cost:
/// one sine and one cosine for each pair of channels of each row. Paper: Vaswani et al., "Attention Is All
/// You Need", 2017, section 3.5; positions and channels count from 0.
class Sinusoidal {
 public:
  /// Throws ShapeError when d_model is not positive, or base is not a finite number above 0.
  explicit Sinusoidal(const SinusoidalOptions& options) : options_(options) {
    expect_positive("Sinusoidal: d_model", options.d_model);
    if (!(options.base > 0) || std::isinf(options.base)) {
      fail_shape("Sinusoidal: base", std::to_string(options.base), "a finite number above 0");
    }
    const bool paper = options.grid == SinusoidGrid::paper;
    const Index pairs = paper ? (options.d_model + 1) / 2 : options.d_model / 2;
    const double steps = paper ? double(options.d_model) / 2 : double(std::max<Index>(pairs - 1, 1));
    for (Index t = 0; t < pairs; ++t) frequencies_.push_back(std::pow(options.base, -double(t) / steps));
  }

  /// w_t, from the fastest to the slowest pair of channels.
  const std::vector<double>& frequencies() const noexcept { return frequencies_; }
  const SinusoidalOptions& options() const noexcept { return options_; }

  /// positions [n], of any sign -> P [n, d_model].
  template <class Scalar = float>
  Matrix<Scalar> table(std::span<const Position> positions) const {
    Matrix<Scalar> signal = Matrix<Scalar>::Zero(Index(positions.size()), options_.d_model);
    const Index pairs = Index(frequencies_.size());
    const bool interleaved = options_.layout == SinusoidLayout::interleaved;
    for (Index row = 0; row < signal.rows(); ++row) {
      const double position = double(positions[std::size_t(row)]) + double(options_.start);
      for (Index t = 0; t < pairs; ++t) {
        const double angle = position * frequencies_[std::size_t(t)];
        const Index sine = interleaved ? 2 * t : t, cosine = interleaved ? 2 * t + 1 : pairs + t;
        signal(row, sine) = Scalar(std::sin(angle));
        if (cosine < options_.d_model) signal(row, cosine) = Scalar(std::cos(angle));
      }
    }
    return signal;
  }

  /// x [n, d_model], positions [n] -> x + P. Throws ShapeError when x is not d_model wide or has other rows.
  auto operator()(const Sequence auto& x, std::span<const Position> positions) const {
    expect_equal("Sinusoidal: number of positions", Index(positions.size()), x.rows(),
                 "give one for each row of x");
    expect_equal("Sinusoidal: columns of x", x.cols(), options_.d_model);
    return add_positions(x, table<scalar_of<decltype(x)>>(positions));
  }

  /// The same for the positions first, first + 1, ...
  auto operator()(const Sequence auto& x, Index first = 0) const {
    return (*this)(x, std::span<const Position>(consecutive(x.rows(), first)));
  }

 private:
  SinusoidalOptions options_;
  std::vector<double> frequencies_;
};

}  // namespace headwise::position
