#include <headwise/attention/attend_backward.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/instruction_sets.hpp"

namespace headwise::determinism_test {
namespace {

using check::near;
using check::random;

/// Large enough that the kernel hands its tasks to the executor.
struct Inputs {
  Matrix<double> query = random(700, 3 * 40, 1), key = random(700, 3 * 40, 2), value = random(700, 3 * 40, 3),
                 d = random(700, 3 * 40, 4);
};

TEST(Determinism, AnyNumberOfThreadsGivesTheSameBits) {
  const Inputs in;
  AttendOptions options{.heads = 3, .dropout = {.rate = 0.1, .seed = 7}};
  const auto serial = attend_with_lse(in.query, in.key, in.value, options, mask::Causal{});
  const auto gradients = attend_backward(in.query, in.key, in.value, serial, in.d, options, mask::Causal{});
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    options.executor = pool.executor();
    const auto result = attend_with_lse(in.query, in.key, in.value, options, mask::Causal{});
    EXPECT_EQ(result.output, serial.output) << threads;
    EXPECT_EQ(result.lse, serial.lse) << threads;
    const auto g = attend_backward(in.query, in.key, in.value, serial, in.d, options, mask::Causal{});
    EXPECT_EQ(g.query, gradients.query) << threads;
    EXPECT_EQ(g.key, gradients.key) << threads;
    EXPECT_EQ(g.value, gradients.value) << threads;
  }
}

TEST(Determinism, EveryInstructionSetComputesTheFormula) {
  const auto query = random(70, 2 * 9, 1), key = random(70, 2 * 9, 2), value = random(70, 2 * 9, 3),
             d = random(70, 2 * 9, 4);
  const auto causal = [](Index) {
    reference::Problem p;
    p.allows = [](Index q, Index k) { return k <= q; };
    return p;
  };
  const auto expected = reference::attention(query, key, value, 2, 2, causal);
  const auto adjoint = reference::backward(query, key, value, d, 2, 2, causal);
  for (const InstructionSet set : check::instruction_sets()) {
    const AttendOptions options{.heads = 2, .instruction_set = set};
    const auto attended = attend_with_lse(query, key, value, options, mask::Causal{});
    EXPECT_TRUE(near(attended.output, expected, 1e-13)) << name(set);
    const auto g = attend_backward(query, key, value, attended, d, options, mask::Causal{});
    EXPECT_TRUE(near(g.query, adjoint.query, 1e-12)) << name(set);
    EXPECT_TRUE(near(g.key, adjoint.key, 1e-12)) << name(set);
    EXPECT_TRUE(near(g.value, adjoint.value, 1e-12)) << name(set);
  }
}

TEST(Determinism, SinglePrecisionIsAsGoodAsItsEpsilonOnEveryInstructionSet) {
  const auto query = random(70, 2 * 64, 1), key = random(70, 2 * 64, 2), value = random(70, 2 * 64, 3);
  const auto expected = reference::attention(query, key, value, 2, 2);
  for (const InstructionSet set : check::instruction_sets()) {
    const auto output = attend(query.cast<float>(), key.cast<float>(), value.cast<float>(),
                               {.heads = 2, .instruction_set = set});
    EXPECT_TRUE(near(output, expected, 2e-6)) << name(set);
  }
}

}  // namespace
}  // namespace headwise::determinism_test
