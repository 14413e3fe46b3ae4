#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace headwise::score {

/// The place of a derivative that was not given.
struct NoDerivative {};

/// A callable as a score; made by `function`.
template <class F, class DF = NoDerivative, Coordinates where_ = Coordinates::positions>
class Function {
 public:
  using policy = ScoreTag;
  static constexpr Coordinates coordinates = where_;
  static constexpr bool lends_memory = !HeldCallable<F>::by_value || !HeldCallable<DF>::by_value;

  constexpr Function(F f, DF df) : f_(std::move(f)), df_(std::move(df)) {}

  template <class Scalar>
  struct Bound {
    static constexpr Coordinates coordinates = where_;

    CalledScore<F, Scalar> f;

    constexpr Scalar operator()(Scalar s, Position query, Position key) const { return f(s, query, key); }
  };

  template <class Scalar>
  struct DifferentiableBound : Bound<Scalar> {
    CalledScore<DF, Scalar> df;

    constexpr PullBack<Scalar> pull_back(Scalar s, Position query, Position key, Scalar d) const {
      return {d * df(s, query, key), {}};
    }
  };

  template <class Scalar>
  constexpr auto bind(const Context& context) const requires CallableScore<F, Scalar> {
    const Bound<Scalar> bound{CalledScore<F, Scalar>(f_, context)};
    if constexpr (std::same_as<DF, NoDerivative>) {
      return bound;
    } else {
      static_assert(
          CallableScore<DF, Scalar>,
          "score::function: the derivative takes what the function takes, and returns the same scalar");
      return DifferentiableBound<Scalar>{bound, CalledScore<DF, Scalar>(df_, context)};
    }
  }

 private:
  F f_;
  DF df_;
};

/// Any callable as a score, with the derivative with respect to the score that backward needs.
///
///     s  <-  f(s, query, key)        derivative df(s, query, key)
///
/// Both may also take (head, sequence), and both return exactly the scalar: write `auto s` and
/// `decltype(s)(0.5)` to serve every scalar. Asked about positions, or about rows within the sequence:
/// function<Coordinates::rows>(f, df). Without df it computes, and backward does not compile.
/// Cost: vectorised when branch-free (math::select, math::exp, math::tanh). Throws nothing of its own.
template <Coordinates coordinates = Coordinates::positions, class F, class DF = NoDerivative>
constexpr auto function(F f, DF df = {}) {
  return Function<F, DF, coordinates>(std::move(f), std::move(df));
}

/// A callable with N learned numbers as a score; made by `learned_function`.
template <std::size_t N, class F, class DF, class Table, Coordinates where_ = Coordinates::positions>
class LearnedFunction {
 public:
  using policy = ScoreTag;
  static constexpr Coordinates coordinates = where_;
  static constexpr bool lends_memory = !HeldCallable<F>::by_value || !HeldCallable<DF>::by_value;

  LearnedFunction(F f, DF df, Table numbers)
      : f_(std::move(f)), df_(std::move(df)), numbers_(std::move(numbers)) {
    expect_equal("learned_function: columns of numbers", numbers_.cols(), Index(N), "one column a number");
  }

  template <class Scalar>
  struct Bound {
    static constexpr Coordinates coordinates = where_;
    static constexpr std::array<Learned, N> learned{};  // Learned::number, each

    HeldCallable<F> f;
    HeldCallable<DF> df;
    std::array<Scalar, N> numbers;
    Index row;  ///< of the numbers

    constexpr Scalar operator()(Scalar s, Position query, Position key) const {
      return (*f)(s, query, key, numbers);
    }

    constexpr PullBack<Scalar, N> pull_back(Scalar s, Position query, Position key, Scalar d) const {
      PullBack<Scalar, N> result = (*df)(s, query, key, numbers);
      result.score *= d;
      for (Scalar& each : result.learned) each *= d;
      return result;
    }

    void fold(std::span<const LearnedSum<Scalar>> sums, std::span<Matrix<Scalar>> gradients) const {
      for (std::size_t n = 0; n < N; ++n) gradients[0](row, Index(n)) += sums[n].number;
    }
  };

  template <class Scalar>
  Bound<Scalar> bind(const Context& context) const requires OperandOf<Table, Scalar> {
    Bound<Scalar> bound{
        HeldCallable<F>(f_), HeldCallable<DF>(df_), {}, numbers_.rows() == 1 ? 0 : context.head};
    for (std::size_t n = 0; n < N; ++n)
      bound.numbers[n] = Scalar(value_of(numbers_).coeff(bound.row, Index(n)));
    return bound;
  }

  void check(const Context& context) const {
    if (numbers_.rows() == 1 || numbers_.rows() == context.heads) return;
    fail_shape("learned_function: rows of numbers", std::to_string(numbers_.rows()),
               "1 or " + std::to_string(context.heads) + " (heads)");
  }

  void for_each_operand(auto&& visit) const { visit(numbers_); }
  auto map_operands(auto&& f) const {
    using Mapped = std::remove_cvref_t<decltype(f(numbers_))>;
    return LearnedFunction<N, F, DF, Mapped, where_>(f_, df_, f(numbers_));
  }

 private:
  F f_;
  DF df_;
  Table numbers_;
};

/// A callable with N learned numbers, of its own or shared by all heads, as a score.
///
///     s  <-  f(s, query, key, w)        w: std::array of N numbers, a row of `numbers` [heads, N] or [1, N]
///
/// derivatives(s, query, key, w) returns PullBack<Scalar, N>{df/ds, {df/dw ...}}. The gradient of a number on
/// which the score does not depend is 0, never absent.
/// Throws ShapeError when `numbers` has not N columns, or neither one row nor one for each head.
template <std::size_t N, Coordinates coordinates = Coordinates::positions, class F, class DF, class Table>
auto learned_function(F f, DF derivatives, Table numbers) {
  return LearnedFunction<N, F, DF, Table, coordinates>(std::move(f), std::move(derivatives),
                                                       std::move(numbers));
}

}  // namespace headwise::score
