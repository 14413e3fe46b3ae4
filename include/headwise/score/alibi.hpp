#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

namespace headwise::score {

/// The slope of one head.
///
///     heads a power of two:   2^(-8 (head + 1) / heads)
///     else, c the next lower: the slopes of c heads, then every second one of 2 c heads, from the first
///
/// The jump after head c is that of the authors' code. Throws nothing; 0 <= head < heads.
inline double alibi_slope(Index head, Index heads) {
  const Index power = Index(std::bit_floor(std::size_t(heads)));
  const Index numerator = head < power ? 2 * (head + 1) : 2 * (head - power) + 1;
  return std::exp2(-4.0 * double(numerator) / double(power));
}

/// All slopes, [heads, 1]: what learned slopes start from. Throws ShapeError when heads is not positive.
template <class Scalar = double>
Matrix<Scalar> alibi_slopes(Index heads) {
  expect_positive("alibi_slopes: heads", heads);
  Matrix<Scalar> slopes(heads, 1);
  for (Index head = 0; head < heads; ++head) slopes(head, 0) = Scalar(alibi_slope(head, heads));
  return slopes;
}

/// What a slope is multiplied with.
enum class AlibiDistance {
  directed,  ///< key - query: a penalty for the past, a reward for the future; as published, for causal
             ///< attention
  symmetric  ///< -|key - query|: a penalty on both sides, for attention that sees the future
};

struct AlibiOptions {
  AlibiDistance distance = AlibiDistance::directed;
  double factor = 1;  ///< of every slope; 1 / sqrt(head_dim) where a model adds the bias before it scales
};

/// Slopes by the published rule, for `heads` query heads.
struct AlibiRule {
  Index heads = 1;
};

/// ALiBi: distance is a linear penalty on the score, steeper in some heads than in others.
///
///     s  <-  s + factor * slope[head] * (key - query)
///
/// Not multiplied by the softmax scale. Slopes are those of the paper (`Alibi{heads}`, nothing is learned) or
/// an operand [heads, 1] (`Alibi(slopes)`), whose gradient is the sum of d * factor * (key - query).
/// Cost: one multiplication and one addition a visible pair. Throws ShapeError when the number of slopes is
/// not the number of query heads.
/// Paper: Press, Smith, Lewis, "Train Short, Test Long", 2021, section 3.
template <class Slopes = AlibiRule>
class Alibi {
 public:
  using policy = ScoreTag;
  static constexpr bool is_learned = !std::same_as<Slopes, AlibiRule>;

  /// Throws ShapeError when heads is not positive, or the slopes are not one column.
  explicit Alibi(std::integral auto heads, AlibiOptions options = {}) requires(!is_learned)
      : slopes_{Index(heads)}, options_(options) {
    expect_positive("Alibi: heads", slopes_.heads);
  }
  explicit Alibi(Slopes slopes, AlibiOptions options = {}) requires is_learned : slopes_(std::move(slopes)),
                                                                                 options_(options) {
    expect_equal("Alibi: columns of slopes", slopes_.cols(), 1, "slopes are [heads, 1]");
  }

  template <class Scalar>
  struct Bound {
    static constexpr std::array<Learned, is_learned ? 1 : 0> learned{};  // Learned::number, if any

    Scalar slope, factor;
    Position mirrored;  ///< all bits where distances to the future change their sign, else zero
    Index head;

    constexpr Scalar operator()(Scalar s, Position query, Position key) const noexcept {
      return s + slope * distance(query, key);
    }

    constexpr auto pull_back(Scalar, Position query, Position key, Scalar d) const noexcept {
      if constexpr (is_learned) {
        return PullBack<Scalar, 1>{d, {d * factor * distance(query, key)}};
      } else {
        return PullBack<Scalar>{d, {}};
      }
    }

    void fold(std::span<const LearnedSum<Scalar>> sums,
              std::span<Matrix<Scalar>> gradients) const requires is_learned {
      gradients[0](head, 0) += sums[0].number;
    }

   private:
    constexpr Scalar distance(Position query, Position key) const noexcept {
      const Position ahead = key - query;
      const Position flip = ((query - key) >> 31) & mirrored;  // all bits where ahead > 0
      return Scalar((ahead ^ flip) - flip);
    }
  };

  template <class Scalar>
  Bound<Scalar> bind(const Context& context) const requires(!is_learned || OperandOf<Slopes, Scalar>) {
    const Scalar factor = Scalar(options_.factor);
    const Position mirrored = options_.distance == AlibiDistance::symmetric ? -1 : 0;
    if constexpr (is_learned) {
      return {factor * Scalar(value_of(slopes_).coeff(context.head, 0)), factor, mirrored, context.head};
    } else {
      return {factor * Scalar(alibi_slope(context.head, slopes_.heads)), factor, mirrored, context.head};
    }
  }

  void check(const Context& context) const {
    if constexpr (is_learned) {
      expect_equal("Alibi: rows of slopes", slopes_.rows(), context.heads, "one slope for each query head");
    } else {
      expect_equal("Alibi: heads", slopes_.heads, context.heads, "give the number of query heads");
    }
  }

  void for_each_operand(auto&& visit) const requires is_learned { visit(slopes_); }
  auto map_operands(auto&& f) const requires is_learned {
    using Mapped = std::remove_cvref_t<decltype(f(slopes_))>;
    return Alibi<Mapped>(f(slopes_), options_);
  }

 private:
  Slopes slopes_;
  AlibiOptions options_;
};

template <std::integral Heads>
Alibi(Heads) -> Alibi<AlibiRule>;
template <std::integral Heads>
Alibi(Heads, AlibiOptions) -> Alibi<AlibiRule>;
template <class Slopes>
Alibi(Slopes) -> Alibi<Slopes>;
template <class Slopes>
Alibi(Slopes, AlibiOptions) -> Alibi<Slopes>;

}  // namespace headwise::score
