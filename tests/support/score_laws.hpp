#pragma once

#include <headwise/core/math.hpp>
#include <headwise/core/random.hpp>
#include <headwise/core/score_queries.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <span>
#include <type_traits>
#include <vector>

/// What is true of every score, written once. A score joins with one line:
///
///     INSTANTIATE_TYPED_TEST_SUITE_P(SoftCap, ScoreLaws, SoftCap);
///
/// Where a default score is not enough, the type is a sample:
///
///     struct LearnedSlopes {
///       static auto score() { return Alibi(alibi_slopes(4)); }    // operands in double
///       static std::vector<Context> contexts();                   // optional; two heads of four if absent
///     };
namespace headwise::score {

namespace laws {

/// Queries of one sequence against its keys; the first query stands at key `offset`.
inline Context context(Index head, Index heads, Index q_len, Index k_len, Index offset) {
  Context c;
  c.head = head;
  c.heads = heads;
  c.query_rows = {0, q_len};
  c.key_rows = {0, k_len};
  c.relative = {-(q_len - 1 + offset), k_len - offset};
  return c;
}

template <class P>
std::vector<Context> contexts() {
  if constexpr (requires { P::contexts(); }) {
    return P::contexts();
  } else {
    return {context(0, 4, 5, 7, 2), context(3, 4, 5, 7, 2)};
  }
}

template <class P>
auto sample() {
  if constexpr (requires { P::score(); }) {
    return P::score();
  } else {
    return P{};
  }
}

/// One visible pair: its score, and the gradient that comes back to it.
struct Pair {
  Place query, key;
  double score, d;
};

inline std::vector<Pair> pairs(const Context& c) {
  Rng rng(std::uint64_t(17 + c.head));
  const Index offset = -c.relative.begin - (c.query_rows.size() - 1);
  std::vector<Pair> result;
  for (Index q = 0; q < c.query_rows.size(); ++q) {
    for (Index k = 0; k < c.key_rows.size(); ++k) {
      const Place query{Position(q + offset), Position(q)}, key{Position(k), Position(k)};
      result.push_back({query, key, 2 * rng.gaussian(), rng.gaussian()});
    }
  }
  return result;
}

/// The gradient that comes back to the sink's logit.
inline constexpr double d_sink = -0.7;

/// The same score with operands in Scalar, one number moved by `step`. which: the operand, -1 for none.
template <class Scalar, class Score>
auto moved(const Score& score, Index which, Index i, Index j, Scalar step) {
  Index operand = 0;
  return headwise::map_operands(score, [&](const auto& table) {
    Matrix<Scalar> numbers = value_of(table).template cast<Scalar>();
    if (operand++ == which) numbers(i, j) += step;
    return numbers;
  });
}

/// sum over pairs of d * score(s), and of the sink: a function whose gradients the policy must know.
template <class Scalar, class Score>
Scalar weighted_sum(const Score& score, const Context& c) {
  const auto bound = bind_score<Scalar>(score, c);
  Scalar sum(0);
  for (const Pair& p : pairs(c)) sum += Scalar(p.d) * headwise::apply(bound, Scalar(p.score), p.query, p.key);
  if constexpr (has_sink<decltype(bound)>()) sum += Scalar(d_sink) * bound.sink();
  return sum;
}

/// Im f(ih) / h, exact to the last bits; for a score that complex numbers cannot compute a difference
/// quotient of fourth order in long double. f(step) takes either.
template <bool is_complex, class F>
double derivative(const F& f) {
  if constexpr (is_complex) {
    constexpr double h = 1e-20;
    return f(std::complex<double>(0, h)).imag() / h;
  } else {
    constexpr long double h = 1e-4L;
    return double((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
  }
}

template <class Score>
inline constexpr bool computes_complex =
    ScorePolicy<decltype(moved<std::complex<double>>(std::declval<const Score&>(), -1, 0, 0, 0)),
                std::complex<double>>;

/// What a kernel does with a bound score: sums of learned numbers by kind, folded into the operands'
/// gradients.
template <class Score>
std::vector<Matrix<double>> gradients(const Score& score, const Context& c) {
  std::vector<Matrix<double>> result;
  headwise::for_each_operand(
      score, [&](const auto& table) { result.push_back(Matrix<double>::Zero(table.rows(), table.cols())); });
  const auto bound = bind_score<double>(score, c);
  constexpr auto kinds = learned_of<std::remove_const_t<decltype(bound)>>();
  constexpr std::size_t count = kinds.size();
  if constexpr (count > 0) {
    std::array<double, count> number{};
    std::vector<std::vector<double>> distance(count,
                                              std::vector<double>(std::size_t(c.relative.size()), 0.0));
    for (const Pair& p : pairs(c)) {
      const auto back = headwise::pull_back(bound, p.score, p.query, p.key, p.d);
      for (std::size_t n = 0; n < count; ++n) {
        if (kinds[n] == Learned::number) number[n] += back.learned[n];
        if (kinds[n] == Learned::sink) number[n] = d_sink;
        if (kinds[n] == Learned::per_distance)
          distance[n][std::size_t(p.key.position - p.query.position - c.relative.begin)] += back.learned[n];
        if constexpr (has_learned<std::remove_const_t<decltype(bound)>>(Learned::per_pair)) {
          if (kinds[n] != Learned::per_pair) continue;
          const auto slot = bound.pair_slot(n, std::span(result));
          slot.data[p.query.row * slot.row_stride + p.key.row * slot.column_stride] += back.learned[n];
        }
      }
    }
    std::array<LearnedSum<double>, count> sums;
    for (std::size_t n = 0; n < count; ++n) sums[n] = {number[n], distance[n], c.relative.begin};
    bound.fold(std::span<const LearnedSum<double>>(sums), std::span(result));
  }
  return result;
}

template <class Score>
void expect_score_derivative(const Score& score, const Context& c) {
  constexpr bool is_complex = computes_complex<Score>;
  const auto bound = bind_score<double>(score, c);
  for (const Pair& p : pairs(c)) {
    const double expected =
        p.d * derivative<is_complex>([&](auto step) {
          using Scalar = decltype(step);
          const auto wide = moved<Scalar>(score, -1, 0, 0, Scalar(0));
          return headwise::apply(bind_score<Scalar>(wide, c), Scalar(p.score) + step, p.query, p.key);
        });
    const double got = headwise::pull_back(bound, p.score, p.query, p.key, p.d).score;
    EXPECT_NEAR(got, expected, 1e-12 * (1 + std::abs(expected)))
        << "s " << p.score << ", query " << p.query.row << ", key " << p.key.row << ", head " << c.head;
  }
}

template <class Score>
void expect_learned_derivatives(const Score& score, const Context& c) {
  constexpr bool is_complex = computes_complex<Score>;
  const auto got = gradients(score, c);
  for (std::size_t operand = 0; operand < got.size(); ++operand) {
    for (Index i = 0; i < got[operand].rows(); ++i) {
      for (Index j = 0; j < got[operand].cols(); ++j) {
        const double expected = derivative<is_complex>([&](auto step) {
          using Scalar = decltype(step);
          return weighted_sum<Scalar>(moved<Scalar>(score, Index(operand), i, j, step), c);
        });
        EXPECT_NEAR(got[operand](i, j), expected, 1e-11 * (1 + std::abs(expected)))
            << "operand " << operand << " (" << i << ", " << j << "), head " << c.head;
      }
    }
  }
}

/// |other - double| <= eps * (1 + |score| + |result|), where a score is a few operations long.
template <class Scalar, class Score>
void expect_agrees_with_double(const Score& score, const Context& c, double tolerance) {
  const auto narrow = moved<Scalar>(score, -1, 0, 0, Scalar(0));
  const auto bound = bind_score<double>(score, c);
  const auto other = bind_score<Scalar>(narrow, c);
  for (const Pair& p : pairs(c)) {
    const double expected = headwise::apply(bound, p.score, p.query, p.key);
    const Scalar got = headwise::apply(other, Scalar(p.score), p.query, p.key);
    EXPECT_NEAR(double(math::real(got)), expected, tolerance * (1 + std::abs(p.score) + std::abs(expected)))
        << "s " << p.score << ", query " << p.query.row << ", key " << p.key.row;
  }
}

template <class P>
void for_each_context(auto&& check) {
  const auto score = sample<P>();
  for (const Context& c : contexts<P>()) {
    check_score(score, c);
    check(score, c);
  }
}

}  // namespace laws

template <class P>
class ScoreLaws : public testing::Test {};

TYPED_TEST_SUITE_P(ScoreLaws);

TYPED_TEST_P(ScoreLaws, PullBackIsTheDerivativeOfTheScore) {
  laws::for_each_context<TypeParam>(
      [](const auto& score, const Context& c) { laws::expect_score_derivative(score, c); });
}

TYPED_TEST_P(ScoreLaws, FoldedSumsAreTheDerivativesOfTheLearnedNumbers) {
  laws::for_each_context<TypeParam>(
      [](const auto& score, const Context& c) { laws::expect_learned_derivatives(score, c); });
}

TYPED_TEST_P(ScoreLaws, EveryScalarComputesTheSame) {
  laws::for_each_context<TypeParam>([](const auto& score, const Context& c) {
    laws::expect_agrees_with_double<float>(score, c, 1e-6);
    laws::expect_agrees_with_double<long double>(score, c, 1e-14);
    if constexpr (laws::computes_complex<std::remove_cvref_t<decltype(score)>>)
      laws::expect_agrees_with_double<std::complex<double>>(score, c, 1e-14);
  });
}

/// Lanes copy the view, and see nothing else of the score.
TYPED_TEST_P(ScoreLaws, TheLaneViewIsSmallAndComputesTheSame) {
  laws::for_each_context<TypeParam>([](const auto& score, const Context& c) {
    const auto narrow = laws::moved<float>(score, -1, 0, 0, 0);
    const auto bound = bind_score<float>(narrow, c);
    const auto view = lane_view(bound);
    static_assert(std::is_trivially_copyable_v<std::remove_const_t<decltype(view)>>);
    static_assert(has_pull_back<std::remove_const_t<decltype(view)>, float>());
    for (const laws::Pair& p : laws::pairs(c)) {
      const float s = float(p.score), d = float(p.d);
      EXPECT_EQ(headwise::apply(view, s, p.query, p.key), headwise::apply(bound, s, p.query, p.key));
      EXPECT_EQ(headwise::pull_back(view, s, p.query, p.key, d).score,
                headwise::pull_back(bound, s, p.query, p.key, d).score);
    }
  });
}

/// A score that says it does not read the query's position gives the same wherever the query stands.
TYPED_TEST_P(ScoreLaws, WhatItSaysItDoesNotReadDoesNotMatter) {
  laws::for_each_context<TypeParam>([](const auto& score, const Context& c) {
    if constexpr (!reads_query<std::remove_cvref_t<decltype(score)>>()) {
      const auto bound = bind_score<double>(score, c);
      for (const laws::Pair& p : laws::pairs(c)) {
        const Place elsewhere{p.query.position + 41, p.query.row};
        EXPECT_EQ(headwise::apply(bound, p.score, elsewhere, p.key),
                  headwise::apply(bound, p.score, p.query, p.key));
      }
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(ScoreLaws, PullBackIsTheDerivativeOfTheScore,
                            FoldedSumsAreTheDerivativesOfTheLearnedNumbers, EveryScalarComputesTheSame,
                            TheLaneViewIsSmallAndComputesTheSame, WhatItSaysItDoesNotReadDoesNotMatter);

}  // namespace headwise::score
