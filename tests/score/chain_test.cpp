#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/function.hpp>
#include <headwise/score/none.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/score_laws.hpp"

#include <cmath>
#include <complex>
#include <vector>

namespace headwise::score::chain_test {
namespace {

/// Every kind of learned number in one chain, so that sums and gradients must be handed to the right part.
struct EveryKind {
  static auto score() {
    return dense_bias(check::random(5, 7, 1)) >> Alibi(alibi_slopes(4)) >>
           T5Bias(check::random(8, 4, 2), {.max_distance = 6}) >> SoftCap{.limit = 3} >>
           Sink(check::random(4, 1, 3));
  }
};
/// Brackets on the other side: a chain as the second part.
struct BracketsToTheRight {
  static auto score() {
    return Alibi{4} >> (SoftCap{.limit = 2} >> T5Bias(check::random(8, 4, 2), {.max_distance = 6}));
  }
};
using Samples = testing::Types<EveryKind, BracketsToTheRight>;
INSTANTIATE_TYPED_TEST_SUITE_P(Chain, ScoreLaws, Samples);

TEST(Chain, AppliesScoresInWrittenOrder) {
  const Context c = laws::context(0, 8, 9, 9, 0);
  const Place query{8, 8}, key{2, 2};
  const auto bias_first = bind_score<double>(Alibi{8} >> SoftCap{.limit = 2}, c);
  const auto cap_first = bind_score<double>(SoftCap{.limit = 2} >> Alibi{8}, c);
  EXPECT_NEAR(headwise::apply(bias_first, 4.0, query, key), 2 * std::tanh((4 - 3.0) / 2), 1e-15);
  EXPECT_NEAR(headwise::apply(cap_first, 4.0, query, key), 2 * std::tanh(4 / 2.0) - 3, 1e-15);
}

/// A policy of rows and one of positions, each with its own coordinates.
TEST(Chain, GivesEachPartTheCoordinatesThatItReads) {
  const Matrix<double> bias = check::random(3, 5, 1);
  const auto score = dense_bias(bias) >> Alibi{1, {.factor = 256}};
  const auto bound = bind_score<double>(score, laws::context(0, 1, 3, 5, 2));
  EXPECT_EQ(headwise::apply(bound, 0.0, Place{1002, 2}, Place{1001, 4}), bias(2, 4) - 1);
}

constexpr auto same = [](auto s, Position, Position) { return s; };

TEST(Chain, ReadsTheQueryWhenOneOfItsPartsDoes) {
  static_assert(reads_query<decltype(SoftCap{} >> Alibi{1})>());
  static_assert(!reads_query<decltype(SoftCap{} >> None{})>());
  static_assert(!reads_query<decltype(dense_bias(Matrix<float>()) >> SoftCap{})>());
  static_assert(!reads_query<decltype(function<Coordinates::rows>(same) >> SoftCap{})>());
  static_assert(reads_query<decltype(function(same) >> SoftCap{})>());
}

TEST(Chain, OfScoresThatDoNothingDoesNothing) {
  using Bound = decltype(bind_score<float>(None{} >> Sink(Matrix<float>(1, 1)), Context{}));
  static_assert(is_identity<Bound>());
  static_assert(has_sink<Bound>());
  static_assert(!is_identity<decltype(bind_score<float>(None{} >> SoftCap{}, Context{}))>());
}

template <class A, class B>
concept Chains = requires(const A& a, const B& b) {
  a >> b;
};

TEST(Chain, ASinkComesLastAndOnce) {
  using OneSink = Sink<Matrix<float>>;
  using Ends = decltype(SoftCap{} >> Sink(Matrix<float>(1, 1)));
  static_assert(Chains<SoftCap, OneSink>);
  static_assert(!Chains<OneSink, SoftCap>);
  static_assert(!Chains<OneSink, OneSink>);
  static_assert(!Chains<Ends, SoftCap>);
  static_assert(!Chains<Ends, OneSink>);
  static_assert(Chains<None, Ends>);
}

/// An operand that no kernel can read, as a tape's variable is.
struct Variable {
  Index rows() const { return 4; }
  Index cols() const { return 1; }
};

TEST(Chain, HoldsOperandsThatCannotBeBoundUntilTheyAreMapped) {
  const auto recorded = Alibi(Variable{}) >> SoftCap{.limit = 3};
  static_assert(ScoreRecipe<decltype(recorded)>);
  static_assert(!ScorePolicy<decltype(recorded), double>);
  const auto computed = headwise::map_operands(recorded, [](const Variable&) { return alibi_slopes(4); });
  static_assert(ScorePolicy<decltype(computed), double>);
  const Context c = laws::context(1, 4, 3, 3, 0);
  EXPECT_EQ(
      headwise::apply(bind_score<double>(computed, c), 0.5, Place{2, 2}, Place{0, 0}),
      headwise::apply(bind_score<double>(Alibi{4} >> SoftCap{.limit = 3}, c), 0.5, Place{2, 2}, Place{0, 0}));
}

template <class Score>
concept BindsATemporary = requires(Score score) {
  bind_score<double>(std::move(score), Context{});
};

TEST(Chain, IsNotBoundAsATemporaryWhenAPartLendsItsMemory) {
  using Dense = DenseBias<Matrix<double>>;
  static_assert(BindsATemporary<decltype(Alibi{1} >> SoftCap{})>);
  static_assert(!BindsATemporary<Dense>);
  static_assert(!BindsATemporary<Chain<Dense, SoftCap>>);
  static_assert(!BindsATemporary<Chain<SoftCap, Chain<SoftCap, Dense>>>);
}

TEST(Chain, VisitsOperandsInWrittenOrder) {
  std::vector<Index> rows;
  headwise::for_each_operand(EveryKind::score(),
                             [&](const auto& operand) { rows.push_back(operand.rows()); });
  EXPECT_EQ(rows, (std::vector<Index>{5, 4, 8, 4}));
}

TEST(Chain, MapsOperandsInWrittenOrder) {
  std::vector<Index> rows;
  (void)headwise::map_operands(EveryKind::score(), [&](const auto& operand) {
    rows.push_back(operand.rows());
    return operand;
  });
  EXPECT_EQ(rows, (std::vector<Index>{5, 4, 8, 4}));
}

TEST(Chain, ThrowsWhatItsPartsThrow) {
  EXPECT_THROW(check_score(SoftCap{.limit = -1} >> Alibi{4}, laws::context(0, 4, 2, 2, 0)), ShapeError);
  EXPECT_THROW(check_score(SoftCap{} >> Alibi{8}, laws::context(0, 4, 2, 2, 0)), ShapeError);
}

}  // namespace
}  // namespace headwise::score::chain_test
