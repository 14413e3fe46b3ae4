#include <headwise/autograd/ops.hpp>
#include <headwise/loss/cross_entropy.hpp>
#include <headwise/model/decoder.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <sys/resource.h>
#include <vector>

namespace headwise::memory_test {
namespace {

/// The most memory that this process ever had, in bytes: matrices, tape, and the kernel's scratch.
std::ptrdiff_t high_water_mark() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::ptrdiff_t(usage.ru_maxrss) * 1024;
}

std::size_t gradients_of_a_step(const model::Decoder<float>& model, Index length) {
  std::vector<TokenId> ids(std::size_t(length), 0);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = TokenId(i % 5);
  autograd::Tape<float> tape;
  return backward(loss::cross_entropy(model(tape.input(ids)), ids)).size();
}

/// Forward and backward of a whole model. One byte for each pair of query and key would be 37 MB, one float
/// 150 MB; what is linear in the length needs 150 floats a token for this model, 4 MB.
TEST(TrainingStep, HoldsNoMatrixOfQueriesTimesKeys) {
  Rng rng(1);
  const model::Decoder<float> model({.vocab_size = 5, .d_model = 8, .layers = 1, .heads = 2, .d_ff = 16},
                                    rng);
  (void)gradients_of_a_step(model, 64);
  const std::ptrdiff_t before = high_water_mark();
  const Index length = 6144;
  EXPECT_GT(gradients_of_a_step(model, length), 0u);
  EXPECT_LT(high_water_mark() - before, length * length / 2) << "below half a byte a pair";
}

}  // namespace
}  // namespace headwise::memory_test
