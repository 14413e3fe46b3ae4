#include <headwise/score/function.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/score_laws.hpp"

#include <complex>
#include <string>
#include <vector>

namespace headwise::score::function_test {
namespace {

/// s^2 + distance, by head.
struct Squared {
  static auto score() {
    return function(
        [](auto s, Position q, Position k, Index head, Index) {
          using S = decltype(s);
          return S(s * s + S(k - q) * S(Position(head)));
        },
        [](auto s, Position, Position) {
          using S = decltype(s);
          return S(2) * s;
        });
  }
};
/// A learned polynomial, w0 s + w1 distance s^2, one for each head.
struct Polynomial {
  static auto score() {
    const auto f = [](auto s, Position q, Position k, const auto& w) {
      return w[0] * s + w[1] * decltype(s)(k - q) * s * s;
    };
    const auto df = [](auto s, Position q, Position k, const auto& w) {
      using S = decltype(s);
      const S distance = S(k - q);
      return PullBack<S, 2>{w[0] + S(2) * w[1] * distance * s, {s, distance * s * s}};
    };
    return learned_function<2>(f, df, check::random(4, 2, 9));
  }
};
/// The same numbers for all heads, in a parameter, asked about rows.
struct SharedByHeads {
  static auto score() {
    return learned_function<1, Coordinates::rows>(
        [](auto s, Position q, Position, const auto& w) { return s + w[0] * decltype(s)(q); },
        [](auto s, Position q, Position, const auto&) {
          using S = decltype(s);
          return PullBack<S, 1>{S(1), {S(q)}};
        },
        Parameter<double>{check::random(1, 1, 9)});
  }
};
using Samples = testing::Types<Squared, Polynomial, SharedByHeads>;
INSTANTIATE_TYPED_TEST_SUITE_P(Function, ScoreLaws, Samples);

constexpr auto add_distance = [](auto s, Position q, Position k) { return s + decltype(s)(k - q); };
constexpr auto one = [](auto s, Position, Position) { return decltype(s)(1); };

TEST(Function, ComputesWhatTheCallableComputes) {
  const auto bound = bind_score<double>(function(add_distance, one), Context{});
  EXPECT_EQ(bound(0.5, 7, 3), -3.5);
  EXPECT_EQ(bound.pull_back(0.5, 7, 3, 0.25).score, 0.25);
}

TEST(Function, MayAskAboutRows) {
  const auto bound = bind_score<double>(function<Coordinates::rows>(add_distance, one), Context{});
  EXPECT_EQ(headwise::apply(bound, 0.0, Place{100, 1}, Place{200, 3}), 2.0);
}

TEST(Function, WithoutADerivativeComputesAndHasNoPullBack) {
  const auto bound = bind_score<float>(function(add_distance), Context{});
  static_assert(!has_pull_back<decltype(bound), float>());
  static_assert(has_pull_back<decltype(bind_score<float>(function(add_distance, one), Context{})), float>());
  EXPECT_EQ(bound(1.0f, 1, 2), 2.0f);
}

TEST(Function, MustReturnExactlyTheScalar) {
  const auto returns_double = [](float s, Position, Position) { return double(s); };
  using Score = decltype(function(returns_double));
  static_assert(!ScorePolicy<Score, float>);
  static_assert(ScorePolicy<decltype(function(add_distance)), std::complex<double>>);
}

TEST(Function, CallablesThatOwnMemoryAreBorrowed) {
  const std::vector<double> table{10, 20, 30};
  const auto score = function([table](double s, Position, Position k) { return s + table[std::size_t(k)]; });
  const auto bound = bind_score<double>(score, Context{});
  EXPECT_EQ(bound(0.5, 0, 2), 30.5);
  static_assert(std::is_trivially_copyable_v<std::remove_const_t<decltype(bound)>>);
}

TEST(Function, ABareCallableIsAScoreWithoutADerivative) {
  const auto bound = bind_score<double>(add_distance, Context{});
  EXPECT_EQ(bound(0.5, 7, 3), -3.5);
  static_assert(!has_pull_back<decltype(bound), double>());
  const auto by_head = [](double s, Position, Position, Index head, Index sequence) {
    return s + double(10 * head + sequence);
  };
  Context context;
  context.head = 2;
  context.sequence = 3;
  EXPECT_EQ(bind_score<double>(by_head, context)(0.5, 0, 0), 23.5);
}

/// w[head] is read, and the score returned as it is.
TEST(LearnedFunction, B107_ANumberWithoutEffectHasGradientZero) {
  const auto score =
      learned_function<1>([](auto s, Position, Position, const auto& w) { return s + decltype(s)(0) * w[0]; },
                          [](auto s, Position, Position, const auto&) {
                            using S = decltype(s);
                            return PullBack<S, 1>{S(1), {S(0)}};
                          },
                          check::random(4, 1, 3));
  const auto gradients = laws::gradients(score, laws::context(1, 4, 3, 3, 0));
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_TRUE(check::near(gradients[0], Matrix<double>::Zero(4, 1), 0.0));
}

std::string refusal(const Matrix<double>& numbers) {
  try {
    const auto score = learned_function<2>([](auto s, Position, Position, const auto&) { return s; },
                                           [](auto, Position, Position, const auto&) { return 0; }, numbers);
    check_score(score, laws::context(0, 4, 3, 3, 0));
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LearnedFunction, NamesWhatDoesNotFit) {
  EXPECT_EQ(refusal(check::random(1, 2, 1)), "accepted");
  EXPECT_EQ(refusal(check::random(4, 2, 1)), "accepted");
  EXPECT_EQ(refusal(check::random(3, 2, 1)),
            "learned_function: rows of numbers is 3, expected 1 or 4 (heads)");
  EXPECT_EQ(refusal(check::random(4, 3, 1)),
            "learned_function: columns of numbers is 3, expected 2; one column a number");
}

}  // namespace
}  // namespace headwise::score::function_test
