#include <headwise/score/sink.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/score_laws.hpp"

#include <string>
#include <vector>

namespace headwise::score::sink_test {
namespace {

struct Logits {
  static auto score() { return Sink(check::random(4, 1, 1)); }
};
struct LogitsInAParameter {
  static auto score() { return Sink(Parameter<double>{check::random(4, 1, 2)}); }
};
using Samples = testing::Types<Logits, LogitsInAParameter>;
INSTANTIATE_TYPED_TEST_SUITE_P(Sink, ScoreLaws, Samples);

TEST(Sink, LeavesEveryScoreAsItIsAndGivesTheHeadsLogit) {
  const Matrix<double> logits = check::random(4, 1, 1);
  for (Index head : {0, 3}) {
    const auto bound = bind_score<double>(Sink(logits), laws::context(head, 4, 2, 2, 0));
    EXPECT_EQ(bound.sink(), logits(head, 0));
    EXPECT_EQ(bound(0.25, 1, 0), 0.25);
    EXPECT_EQ(bound.pull_back(0.25, 1, 0, 3.0).score, 3.0);
  }
}

TEST(Sink, SaysWhatKernelsAsk) {
  using Bound = decltype(bind_score<float>(Sink(Matrix<float>(1, 1)), Context{}));
  static_assert(has_sink<Bound>());
  static_assert(is_identity<Bound>());
  static_assert(has_learned<Bound>(Learned::sink));
  static_assert(!reads_query<Sink<Matrix<float>>>());
}

TEST(Sink, AddsItsGradientToItsHead) {
  const auto bound = bind_score<double>(Sink(check::random(4, 1, 1)), laws::context(2, 4, 2, 2, 0));
  std::vector<Matrix<double>> gradients{Matrix<double>::Ones(4, 1)};
  const LearnedSum<double> sum{.number = 0.5};
  bound.fold(std::span(&sum, 1), std::span(gradients));
  EXPECT_EQ(gradients[0](2, 0), 1.5);
  EXPECT_EQ(gradients[0](1, 0), 1.0);
}

std::string refusal(const Matrix<double>& logits) {
  try {
    check_score(Sink(logits), laws::context(0, 4, 2, 2, 0));
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Sink, NamesWhatDoesNotFit) {
  EXPECT_EQ(refusal(check::random(4, 1, 1)), "accepted");
  EXPECT_EQ(refusal(check::random(3, 1, 1)),
            "Sink: rows of logits is 3, expected 4; one logit for each query head");
  EXPECT_EQ(refusal(check::random(4, 2, 1)),
            "Sink: columns of logits is 2, expected 1; logits are [heads, 1]");
}

}  // namespace
}  // namespace headwise::score::sink_test
