#include <headwise/attention/lsh_backward.hpp>

#include <gtest/gtest.h>

#include "attention/lsh_reference.hpp"
#include "support/check.hpp"
#include "support/lsh_any_mask.hpp"
#include "support/pattern_laws.hpp"

#include <cmath>
#include <string>

namespace headwise::lsh_laws_test {
namespace {

using check::near;
using check::random;

constexpr LshWrap wraps[] = {LshWrap::none, LshWrap::round, LshWrap::global};

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}
check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

LshBuckets buckets_of(Index rows, Index rounds, Index count, std::uint64_t seed, Index heads = 1) {
  Rng rng(seed);
  LshBuckets buckets{rows, heads, rounds, {}};
  for (Index i = 0; i < rows * rounds * heads; ++i) buckets.numbers.push_back(std::int32_t(rng.below(count)));
  return buckets;
}

reference::Lsh plain(const LshOptions& options, const LshBuckets& buckets, Index head = 0,
                     check::AnyMask rest = {}) {
  reference::Lsh lsh{options, {}, std::move(rest)};
  for (Index round = 0; round < buckets.rounds; ++round) {
    const auto numbers = buckets.of(head, round);
    lsh.buckets.emplace_back(numbers.begin(), numbers.end());
  }
  return lsh;
}

void expect_agreement(Index length, const LshOptions& options, const LshBuckets& buckets,
                      const check::AnyMask& rest) {
  SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(buckets.rounds) + " rounds, wrap " +
               std::to_string(int(options.wrap)) + ", repeats " + std::to_string(int(options.repeats)) +
               ", reach " + std::to_string(int(options.reach)) + ", before " +
               std::to_string(options.chunks_before) + ", after " + std::to_string(options.chunks_after));
  const auto query = random(length, 5, 1), value = random(length, 3, 2), d = random(length, 3, 3);
  const auto lsh = plain(options, buckets, 0, rest);
  const auto expected = reference::lsh_attention(query, value, lsh);
  const auto got = attend_lsh(query, value, buckets, options, {}, rest);
  EXPECT_TRUE(near(got.output, expected.output, 1e-11));
  for (Index i = 0; i < length; ++i) {
    const double lse = expected.lse[std::size_t(i)];
    if (lse < -9e4) {
      EXPECT_TRUE(std::isinf(got.lse(i, 0)));
    } else {
      EXPECT_NEAR(got.lse(i, 0), lse, 1e-11);
    }
  }
  const auto gradients = attend_lsh_backward(query, value, buckets, options, got, d, {}, rest);
  const auto adjoint = reference::lsh_backward(query, value, d, lsh);
  EXPECT_TRUE(near(gradients.query, adjoint.query, 1e-10));
  EXPECT_TRUE(near(gradients.value, adjoint.value, 1e-11));
}

TEST(AttendLsh, IsAttentionOverTheGatheredChunksForAnyLength) {
  for (const Index length : {0, 1, 3, 4, 5, 8, 12, 63, 64, 65, 70})
    expect_agreement(length, {.chunk_len = 4}, buckets_of(length, 2, 4, 7), causal());
}

TEST(AttendLsh, ForwardAndBackwardAgreeWithPlainLoopsInEveryMode) {
  for (const LshWrap wrap : wraps) {
    for (const LshRepeats repeats : {LshRepeats::once, LshRepeats::counted}) {
      for (const LshReach reach : {LshReach::chunk, LshReach::bucket}) {
        for (const Index rounds : {1, 3}) {
          for (const Index after : {0, 1}) {
            const LshOptions options{
                .chunk_len = 4, .chunks_after = after, .wrap = wrap, .repeats = repeats, .reach = reach};
            expect_agreement(24, options, buckets_of(24, rounds, 6, 5), after == 0 ? causal() : everything());
            expect_agreement(7, options, buckets_of(7, rounds, 2, 6), everything());
          }
        }
      }
    }
  }
}

/// Neighbours than go round more than once, and a hash with an epsilon in the norm of its keys.
TEST(AttendLsh, MeetsAKeyAgainWhenTheNeighboursGoRound) {
  for (const LshWrap wrap : wraps)
    for (const LshReach reach : {LshReach::chunk, LshReach::bucket})
      for (const LshRepeats repeats : {LshRepeats::once, LshRepeats::counted})
        expect_agreement(8,
                         {.chunk_len = 4,
                          .chunks_before = 5,
                          .chunks_after = 1,
                          .wrap = wrap,
                          .repeats = repeats,
                          .reach = reach,
                          .epsilon = 0.1},
                         buckets_of(8, 2, 4, 3), everything());
}

TEST(AttendLsh, ServesHeadsRaggedBatchesAndAnyScale) {
  const auto query = random(100, 16, 1), value = random(100, 8, 2);
  const LshBuckets buckets = buckets_of(100, 2, 12, 3, 2);
  const AttendOptions options{.heads = 2, .scale = 0.3, .query_rows = RaggedRows::from_lengths({37, 0, 63})};
  const auto ragged =
      attend_lsh(query, value, buckets, {.chunk_len = 16, .wrap = LshWrap::round}, options, everything());
  for (const Range& r : {Range{0, 37}, Range{37, 100}}) {
    for (Index head = 0; head < 2; ++head) {
      auto lsh = plain({.chunk_len = 16, .wrap = LshWrap::round}, buckets, head);
      for (auto& numbers : lsh.buckets)
        numbers = std::vector<int>(numbers.begin() + r.begin, numbers.begin() + r.end);
      lsh.scale = 0.3;
      const auto expected = reference::lsh_attention(query.block(r.begin, head * 8, r.size(), 8),
                                                     value.block(r.begin, head * 4, r.size(), 4), lsh);
      EXPECT_TRUE(near(ragged.output.block(r.begin, head * 4, r.size(), 4), expected.output, 1e-11));
    }
  }
}

/// The numbers of R[f, b] = cos(0.9 f + 2.1 b + 0.3) and cos(1.7 f + 0.8 b + 1.1), four buckets each.
LshBuckets wave_buckets(std::initializer_list<int> rounds) {
  const Matrix<double> qk = check::waves(0, 8, 4);
  LshRotations<double> rotations{1, Index(rounds.size()), {4}, Matrix<double>(4, 2 * Index(rounds.size()))};
  Index at = 0;
  for (const int round : rounds) {
    for (Index f = 0; f < 4; ++f)
      for (Index b = 0; b < 2; ++b)
        rotations.values(f, at + b) = round == 0 ? std::cos(0.9 * double(f) + 2.1 * double(b) + 0.3)
                                                 : std::cos(1.7 * double(f) + 0.8 * double(b) + 1.1);
    at += 2;
  }
  return lsh_buckets(qk, rotations);
}

Attended<double> of_waves(std::initializer_list<int> rounds, const LshOptions& lsh,
                          const check::AnyMask& rest, double scale = 0.5) {
  return attend_lsh(check::waves(0, 8, 4), check::waves(2, 8, 4), wave_buckets(rounds), lsh, {.scale = scale},
                    rest);
}

TEST(AttendLsh, HasThePublishedBuckets) {
  const LshBuckets buckets = wave_buckets({0, 1});
  EXPECT_EQ(buckets.numbers, (std::vector<std::int32_t>{0, 0, 1, 2, 3, 3, 2, 2, 3, 0, 0, 0, 1, 2, 2, 3}));
}

TEST(AttendLsh, HasThePublishedNumbers) {
  const auto sum = [](const Attended<double>& a) { return check::checksum(a.output); };
  const LshOptions whole{.chunk_len = 8, .chunks_before = 0}, two{.chunk_len = 2};
  EXPECT_NEAR(sum(of_waves({0}, whole, everything(), 1)), 0.354406377672, 1e-11);
  EXPECT_NEAR(sum(of_waves({0}, whole, causal(), 1)), 1.257358075859, 1e-11);
  EXPECT_NEAR(sum(of_waves({0}, whole, everything())), -0.128278490604, 1e-11);
  EXPECT_NEAR(sum(of_waves({0}, {.chunk_len = 4, .wrap = LshWrap::round}, everything())), -0.128278490604,
              1e-11);
  for (const auto& rounds : {std::initializer_list<int>{0}, {0, 1}, {0, 1, 0}})
    EXPECT_NEAR(sum(of_waves(rounds, {.chunk_len = 4, .wrap = LshWrap::round}, causal())), 0.999929938729,
                1e-11);
  EXPECT_NEAR(sum(of_waves({0}, {.chunk_len = 2, .wrap = LshWrap::round}, everything())), 0.262524212580,
              1e-11);
  for (const LshWrap wrap : wraps) {
    LshOptions lsh = two;
    lsh.wrap = wrap;
    EXPECT_NEAR(sum(of_waves({0}, lsh, causal())), 2.627091356469, 1e-11);
    EXPECT_NEAR(sum(of_waves({0, 1}, lsh, causal())), 1.994300909301, 1e-11);
    lsh.repeats = LshRepeats::counted;
    EXPECT_NEAR(sum(of_waves({0, 1}, lsh, causal())),
                wrap == LshWrap::round ? 2.081122833245 : 2.037955746244, 1e-11);
  }
  Matrix<double> once(1, 4), counted(1, 4);
  once << 0.763502348850, -0.672760326182, -0.059000593545, 0.639658164515;
  counted << 0.748962944013, -0.757907102343, 0.040864435597, 0.646391173343;
  EXPECT_TRUE(near(of_waves({0, 1}, two, causal()).output.row(3), once, 1e-11));
  EXPECT_TRUE(near(of_waves({0, 1}, {.chunk_len = 2, .repeats = LshRepeats::counted}, causal()).output.row(3),
                   counted, 1e-11));
  EXPECT_NEAR(of_waves({0}, two, causal()).lse(3, 0), 1.150563952428, 1e-11);
  EXPECT_NEAR(of_waves({1}, two, causal()).lse(3, 0), 0.929703693051, 1e-11);
}

TEST(AttendLsh, TheFirstTokenOfCausalAttentionSeesItself) {
  const auto value = check::waves(2, 8, 4);
  EXPECT_TRUE(near(of_waves({0, 1}, {.chunk_len = 2}, causal()).output.topRows(1), value.topRows(1), 0));
}

TEST(AttendLsh, RefusesWhatItCannotServe) {
  const auto x = random(8, 4, 1);
  const auto call = [&](const LshOptions& lsh, const LshBuckets& buckets, const AttendOptions& options = {}) {
    return check::refusal([&] { (void)attend_lsh(x, x, buckets, lsh, options, everything()); });
  };
  const LshBuckets good = buckets_of(8, 1, 2, 1);
  EXPECT_EQ(call({.chunk_len = 0}, good), "attend_lsh: chunk_len is 0, expected a positive number");
  EXPECT_EQ(call({.chunks_before = -1}, good), "attend_lsh: chunks_before is -1, expected zero or more");
  EXPECT_EQ(call({.chunks_after = -1}, good), "attend_lsh: chunks_after is -1, expected zero or more");
  EXPECT_EQ(call({.epsilon = -1}, good), "attend_lsh: epsilon is -1.000000, expected zero or more");
  EXPECT_EQ(call({}, buckets_of(7, 1, 2, 1)),
            "attend_lsh: rows of buckets is 7, expected 8; one bucket a row, head and round");
  EXPECT_EQ(call({}, good, {.heads = 2}),
            "attend_lsh: heads of buckets is 1, expected 2; every head hashes for itself");
  EXPECT_EQ(call({}, buckets_of(8, 1, 2, 1, 2), {.heads = 2, .kv_heads = 1}),
            "attend_lsh: kv_heads is 1, expected 2; query and key are one projection");
  EXPECT_EQ(
      call({}, good, {.query_offset = 1}),
      "attend_lsh: query_offset, positions or key_rows are given, expected none of them; tokens look at "
      "each other, and are sorted by their rows");
  EXPECT_EQ(check::refusal([] {
              (void)lsh_rotations<double>({.factors = {4, 3}});
            }),
            "lsh_rotations: factors[1] is 3, expected a multiple of 2 (an axis and its opposite)");
  EXPECT_EQ(check::refusal([] { (void)lsh_rotations<double>({.factors = {}}); }),
            "lsh_rotations: factors is empty, expected one even number of buckets or more");
  EXPECT_EQ(check::refusal([] { (void)lsh_rotations<double>({.factors = {-2}}); }),
            "lsh_rotations: factors[0] is -2, expected a positive number");
  EXPECT_EQ(check::refusal([&] { (void)lsh_buckets(x, lsh_rotations<double>({.head_dim = 3})); }),
            "lsh_buckets: columns of x is 4, expected 3; a row of rotations each");
}

}  // namespace
}  // namespace headwise::lsh_laws_test
