#include <headwise/attention/strided_backward.hpp>
#include <headwise/mask/by_head.hpp>
#include <headwise/mask/none.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::strided_test {
namespace {

using check::near;
using check::random;

check::AnyMask merged(Index stride) {
  return [=](Index q, Index k) { return k <= q && (q - k < stride || (q - k) % stride == 0); };
}

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

TEST(AttendStrided, IsAttentionUnderTheUnionOfBothHalves) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto x = hw::normal(100, 16, 1.0, rng);
  // [docs attention/strided]
  const hw::Index stride = 10;
  const hw::Matrix<double> y = hw::attend_strided(stride, x, x, x, {.heads = 2}).output;
  // [docs end]
  const auto expected = reference::attention(x, x, x, 2, 2, [&](Index) {
    reference::Problem problem;
    problem.allows = merged(stride);
    return problem;
  });
  EXPECT_TRUE(near(y, expected, 1e-12));
}

TEST(AttendStrided, ForwardAndBackwardAreDenseAttentionForAnyLength) {
  for (const Index stride : {1, 4, 7, 64, 90}) {
    for (const Index length : {0, 1, 3, 12, 65, 70}) {
      SCOPED_TRACE(std::to_string(stride) + ", " + std::to_string(length));
      const auto query = random(length, 5, 1), key = random(length, 5, 2), value = random(length, 3, 3),
                 d = random(length, 3, 4);
      reference::Problem problem;
      problem.allows = merged(stride);
      const auto expected = reference::forward(query, key, value, problem);
      const auto got = attend_strided(stride, query, key, value, AttendOptions{}, everything());
      EXPECT_TRUE(near(got.output, expected.output, 1e-11));
      for (Index i = 0; i < length; ++i) EXPECT_NEAR(got.lse(i, 0), expected.lse[std::size_t(i)], 1e-11);
      const auto gradients =
          attend_strided_backward(stride, query, key, value, got, d, AttendOptions{}, everything());
      const auto adjoint = reference::backward(query, key, value, d, problem);
      EXPECT_TRUE(near(gradients.query, adjoint.query, 1e-11));
      EXPECT_TRUE(near(gradients.key, adjoint.key, 1e-11));
      EXPECT_TRUE(near(gradients.value, adjoint.value, 1e-11));
    }
  }
}

TEST(AttendStrided, HasThePublishedNumbers) {
  const auto q = check::waves(0, 12, 4), k = check::waves(1, 12, 4), v = check::waves(2, 12, 4);
  const auto got = attend_strided(4, q, k, v, AttendOptions{}, everything());
  EXPECT_NEAR(check::checksum(got.output), 2.082041459190, 1e-11);
  EXPECT_NEAR(got.lse(5, 0), 1.862613172026, 1e-11);
  const auto gradients =
      attend_strided_backward(4, q, k, v, got, check::checksum_weights(12, 4), AttendOptions{}, everything());
  EXPECT_NEAR(check::checksum(gradients.query), 0.454628013996, 1e-11);
  EXPECT_NEAR(check::checksum(gradients.key), 0.124636040819, 1e-11);
  EXPECT_NEAR(check::checksum(gradients.value), 16.544057129581, 1e-11);
}

/// Grouped heads, ragged sequences and another mask on top.
TEST(AttendStrided, ServesHeadsRaggedBatchesAndOtherMasks) {
  const auto query = random(30, 8, 1), key = random(30, 4, 2), value = random(30, 4, 3);
  const AttendOptions options{.heads = 2, .kv_heads = 1, .query_rows = RaggedRows::from_lengths({13, 0, 17})};
  const check::AnyMask even_keys = [](Index, Index k) { return k % 2 == 0; };
  reference::Matrix expected(30, 8);
  for (const Range& r : {Range{0, 13}, Range{13, 30}}) {
    expected.middleRows(r.begin, r.size()) = reference::attention(
        query.middleRows(r.begin, r.size()), key.middleRows(r.begin, r.size()),
        value.middleRows(r.begin, r.size()), 2, 1, [&](Index) {
          reference::Problem problem;
          problem.allows = [&](Index q, Index k) { return merged(5)(q, k) && even_keys(q, k); };
          return problem;
        });
  }
  EXPECT_TRUE(near(attend_strided(5, query, key, value, options, even_keys).output, expected, 1e-12));
}

TEST(AttendStrided, RefusesWhatItCannotServe) {
  const auto x = random(4, 4, 1), y = random(5, 4, 2);
  EXPECT_EQ(check::refusal([&] { (void)attend_strided(0, x, x, x, AttendOptions{}, everything()); }),
            "Strided: stride is 0, expected a positive number");
  EXPECT_EQ(check::refusal([&] { (void)attend_strided(2, x, y, y, AttendOptions{}, everything()); }),
            "attend_strided: key rows is 5, expected 4; a strided head is self-attention");
  EXPECT_EQ(
      check::refusal([&] { (void)attend_strided(2, x, x, x, {.query_offset = 3}, everything()); }),
      "attend_strided: query_offset, positions or key_rows are given, expected none of them; the strided "
      "classes are classes of rows");
}

}  // namespace
}  // namespace headwise::strided_test
