#include <headwise/score/t5_bias.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"

#include <string>
#include <vector>

namespace headwise::score {
namespace {

T5Options options(const golden::Case& each, T5Direction direction) {
  return {.direction = direction, .max_distance = each.integer("max_distance")};
}

void expect_buckets(const golden::Case& each, T5Direction direction, const std::string& expected) {
  const std::vector<Index> relative = each.integers("in.relative_position"), bucket = each.integers(expected);
  ASSERT_EQ(relative.size(), bucket.size());
  for (std::size_t i = 0; i < relative.size(); ++i) {
    ASSERT_EQ(t5_bucket(relative[i], each.integer("num_buckets"), options(each, direction)), bucket[i])
        << "distance " << relative[i];
  }
}

/// expected [1, heads, q_len, k_len]; first query at first key, whatever the lengths.
void expect_bias(const golden::Case& each, T5Direction direction, const std::string& name) {
  const golden::Tensor& expected = each.tensor(name);
  const T5Bias bias(each.rows("param.relative_attention_bias.weight"), options(each, direction));
  Context context;
  context.heads = expected.dim(1);
  context.query_rows = {0, expected.dim(2)};
  context.key_rows = {0, expected.dim(3)};
  context.relative = {1 - expected.dim(2), expected.dim(3)};
  check_score(bias, context);
  for (context.head = 0; context.head < context.heads; ++context.head) {
    const auto bound = bind_score<double>(bias, context);
    for (Index q = 0; q < expected.dim(2); ++q)
      for (Index k = 0; k < expected.dim(3); ++k)
        ASSERT_EQ(bound(0.0, Position(q), Position(k)), expected.at(0, context.head, q, k))
            << "head " << context.head << ", query " << q << ", key " << k;
  }
}

TEST(T5BiasGolden, BucketsAreEqual) {
  for (const golden::Case& each : golden::cases("t5_bias")) {
    SCOPED_TRACE(each.name());
    expect_buckets(each, T5Direction::bidirectional, "out.bucket_bidirectional");
    expect_buckets(each, T5Direction::causal, "out.bucket_causal");
  }
}

TEST(T5BiasGolden, BiasesAreEqual) {
  for (const golden::Case& each : golden::cases("t5_bias")) {
    SCOPED_TRACE(each.name());
    expect_bias(each, T5Direction::bidirectional, "out.bias_bidirectional");
    expect_bias(each, T5Direction::causal, "out.bias_causal");
  }
}

}  // namespace
}  // namespace headwise::score
