#include <headwise/attention/attend_backward.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"

#include <cmath>

namespace headwise::learned_score_test {
namespace {

using check::near;
using check::random;

/// Every learned piece the kernel knows, in one chain: per distance, per head, through a cap, and a sink.
auto chain(const Matrix<double>& table, const Matrix<double>& slopes, const Matrix<double>& sinks) {
  return score::T5Bias(table) >> score::Alibi(slopes) >> score::SoftCap{.limit = 3} >> score::Sink(sinks);
}

struct Inputs {
  Index heads = 2, kv_heads = 1;
  Matrix<double> query = random(29, 2 * 5, 1), key = random(29, 5, 2), value = random(29, 3, 3),
                 d = random(29, 2 * 3, 4);
  Matrix<double> table = random(8, 2, 5), slopes = 0.1 * random(2, 1, 6), sinks = random(2, 1, 7);
  AttendOptions options{.heads = 2, .kv_heads = 1, .query_rows = RaggedRows::from_lengths({11, 18})};

  double loss() const {
    const auto output = attend(query, key, value, options, mask::Causal{}, chain(table, slopes, sinks));
    return (output.array() * d.array()).sum();
  }
};

/// d loss / d numbers by central differences.
Matrix<double> difference_quotients(Inputs& in, Matrix<double>& numbers) {
  Matrix<double> result(numbers.rows(), numbers.cols());
  const double step = 1e-5;
  for (Index i = 0; i < numbers.size(); ++i) {
    const double before = numbers.data()[i];
    numbers.data()[i] = before + step;
    const double above = in.loss();
    numbers.data()[i] = before - step;
    result.data()[i] = (above - in.loss()) / (2 * step);
    numbers.data()[i] = before;
  }
  return result;
}

TEST(LearnedScore, EveryOperandGetsItsGradientInOrder) {
  Inputs in;
  const auto score = chain(in.table, in.slopes, in.sinks);
  const auto attended = attend_with_lse(in.query, in.key, in.value, in.options, mask::Causal{}, score);
  const auto g =
      attend_backward(in.query, in.key, in.value, attended, in.d, in.options, mask::Causal{}, score);
  ASSERT_EQ(g.learned.size(), 3u);
  EXPECT_TRUE(near(g.learned[0], difference_quotients(in, in.table), 1e-8));
  EXPECT_TRUE(near(g.learned[1], difference_quotients(in, in.slopes), 1e-7));
  EXPECT_TRUE(near(g.learned[2], difference_quotients(in, in.sinks), 1e-8));
  EXPECT_TRUE(near(g.query, difference_quotients(in, in.query), 1e-8));
  EXPECT_TRUE(near(g.key, difference_quotients(in, in.key), 1e-8));
  EXPECT_TRUE(near(g.value, difference_quotients(in, in.value), 1e-8));
  EXPECT_GT(g.learned[0].norm(), 0.01);
}

TEST(LearnedScore, SumsInTheSameOrderOnAnyNumberOfThreads) {
  Inputs in;
  const auto score = chain(in.table, in.slopes, in.sinks);
  const auto attended = attend_with_lse(in.query, in.key, in.value, in.options, mask::Causal{}, score);
  const auto serial =
      attend_backward(in.query, in.key, in.value, attended, in.d, in.options, mask::Causal{}, score);
  ThreadPool pool(3);
  in.options.executor = pool.executor();
  const auto parallel =
      attend_backward(in.query, in.key, in.value, attended, in.d, in.options, mask::Causal{}, score);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(parallel.learned[i], serial.learned[i]);
}

TEST(LearnedScore, ASinkTakesWeightAndGivesNoValue) {
  const auto query = random(5, 4, 1), key = random(5, 4, 2), value = random(5, 3, 3);
  const Matrix<double> logit = Matrix<double>::Constant(1, 1, 0.7);
  reference::Problem problem;
  problem.sink = 0.7;
  const auto attended = attend_with_lse(query, key, value, mask::Causal{}, score::Sink(logit));
  problem.allows = [](Index q, Index k) { return k <= q; };
  const auto expected = reference::forward(query, key, value, problem);
  EXPECT_TRUE(near(attended.output, expected.output, 1e-13));
  for (Index i = 0; i < 5; ++i) EXPECT_NEAR(attended.lse(i, 0), expected.lse[std::size_t(i)], 1e-13);
}

TEST(LearnedScore, B14_ASinkIsPartOfTheRunningMaximum) {
  const auto with_sink = [](Index keys, double logit) {
    const Matrix<double> query = Matrix<double>::Zero(1, 1), key = Matrix<double>::Zero(keys, 1);
    Matrix<double> value(keys, 1);
    for (Index i = 0; i < keys; ++i) value(i, 0) = double(1 + 2 * i);
    return attend_with_lse(query, key, value, {.query_offset = 0}, mask::Causal{},
                           score::Sink(Matrix<double>(Matrix<double>::Constant(1, 1, logit))));
  };
  const auto none = with_sink(0, 0.5);
  EXPECT_EQ(none.output(0, 0), 0);
  EXPECT_NEAR(none.lse(0, 0), 0.5, 1e-15);
  const auto large = with_sink(1, 100);
  EXPECT_NEAR(large.lse(0, 0), 100, 1e-12);
  EXPECT_GT(large.output(0, 0), 0);
  EXPECT_LT(large.output(0, 0), 1e-40);
}

}  // namespace
}  // namespace headwise::learned_score_test
