#include <headwise/attention/explain.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/strided.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask {
namespace {

struct Strides {
  static auto masks() {
    return std::array{Strided{.stride = 1}, Strided{.stride = 2}, Strided{.stride = 5}, Strided{.stride = 64},
                      Strided{.stride = 200}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Strided, MaskLaws, Strides);

bool is_multiple(Index distance, Index stride) { return distance % stride == 0; }

TEST(Strided, SeesEveryStrideThToken) {
  namespace hw = headwise;
  // [docs mask/strided]
  const hw::Index stride = 3;
  const auto near = hw::mask::SlidingWindow{.width = stride};
  const auto far = hw::mask::Strided{stride} && hw::mask::Causal{};
  const std::string picture = hw::mask::to_string(near || far, 8, 8);  // both in one head
  // "#.......\n"
  // "##......\n"
  // "###.....\n"
  // "####....\n"
  // ".####...\n"
  // "..####..\n"
  // "#..####.\n"
  // ".#..####\n"
  // [docs end]
  EXPECT_EQ(picture, "#.......\n##......\n###.....\n####....\n.####...\n..####..\n#..####.\n.#..####\n");
}

TEST(Strided, ListsExactlyItsPairsForEveryLength) {
  for (const Index stride : {1, 2, 3, 8, 13, 69, 70, 200}) {
    SCOPED_TRACE(stride);
    check::expect_plan_lists(
        [&](Index length) { return Strided{stride}.plan(length); },
        [&](Index) { return [=](Index q, Index k) { return is_multiple(std::abs(q - k), stride); }; });
  }
}

TEST(Strided, OverItsPlanIsDenseAttention) {
  const check::AnyMask causal = [](Index q, Index k) { return k <= q; };
  for (const Index length : {1, 5, 12, 65}) {
    const auto both = [](Index q, Index k) { return is_multiple(std::abs(q - k), 4); };
    const auto past = [](Index q, Index k) { return k <= q && is_multiple(q - k, 4); };
    check::PatternLaws(length, Strided{4}.plan(length), both).expect_all();
    check::PatternLaws(length, Strided{4}.plan(length), past, causal).expect_all();
  }
}

/// The predicate itself, skipped tile by tile, without the plan.
TEST(Strided, HasThePublishedNumbers) {
  const auto far = check::attend_to_waves(Strided{4} && Causal{});
  EXPECT_NEAR(check::checksum(far.output), 1.395068926151, 1e-11);
  EXPECT_NEAR(far.lse(5, 0), 0.901978525564, 1e-11);
  const auto sums = [](const auto& mask) {
    return check::checksum(check::attend_to_waves(check::answers_of(mask, 12)).output);
  };
  EXPECT_NEAR(sums(SlidingWindow{.width = 5}), 2.053450528872, 1e-11);  // the paper's l + 1 keys
  EXPECT_NEAR(sums(SlidingWindow{.width = 4}), 2.203761113662, 1e-11);  // the released code's l
  const auto merged =
      check::attend_to_waves(check::answers_of(SlidingWindow{.width = 4} || (Strided{4} && Causal{}), 12));
  EXPECT_NEAR(check::checksum(merged.output), 2.082041459190, 1e-11);
  EXPECT_NEAR(merged.lse(5, 0), 1.862613172026, 1e-11);
  Matrix<double> row(1, 4);
  row << -0.492115588651, 0.006629778684, 0.377967118447, -0.506119324525;
  EXPECT_TRUE(check::near(merged.output.row(5), row, 1e-11));
}

TEST(Strided, HasThePublishedGradients) {
  const auto q = check::waves(0, 12, 4), k = check::waves(1, 12, 4), v = check::waves(2, 12, 4);
  const auto merged = check::answers_of(SlidingWindow{.width = 4} || (Strided{4} && Causal{}), 12);
  const auto attended = attend_with_lse(q, k, v, merged);
  const auto gradients = attend_backward(q, k, v, attended, check::checksum_weights(12, 4), merged);
  EXPECT_NEAR(check::checksum(gradients.query), 0.454628013996, 1e-11);
  EXPECT_NEAR(check::checksum(gradients.key), 0.124636040819, 1e-11);
  EXPECT_NEAR(check::checksum(gradients.value), 16.544057129581, 1e-11);
  Matrix<double> rows(3, 4);
  rows << -0.130491983731, 0.063177649233, 0.059071609318, -0.140953583266,  //
      -0.098177348176, 0.074070878370, -0.031679252962, -0.013738358689,     //
      -0.753766785042, -0.724173909798, -0.629892735965, -0.479345120006;
  EXPECT_TRUE(check::near(gradients.query.row(5), rows.row(0), 1e-11));
  EXPECT_TRUE(check::near(gradients.key.row(5), rows.row(1), 1e-11));
  EXPECT_TRUE(check::near(gradients.value.row(5), rows.row(2), 1e-11));
}

TEST(Strided, CostsWhatTheFormulaSays) {
  const Index length = 1024;
  for (const Index stride : {32, 100}) {
    const Plans plans = plans_of(Strided{stride}, length);
    Index pairs = 0;
    for (Index r = 0; r < stride; ++r) {
      const Index n = (length - r + stride - 1) / stride;
      pairs += n * (n + 1) / 2;
    }
    EXPECT_EQ(explain({.q_len = length, .k_len = length}, {}, Causal{}, &plans).pairs, pairs);
  }
  const Plans plans = plans_of(Strided{32}, length);
  EXPECT_EQ(explain({.q_len = length, .k_len = length}, {}, Causal{}, &plans).pairs, 16896);
  EXPECT_EQ(to_dense(Strided{32} && Causal{}, length, length).cast<Index>().sum(), 16896);
}

/// Two layers of the two patterns, in either order, connect every token with all before it.
TEST(Strided, TwoLayersReachEverything) {
  for (const Index length : {16, 20, 64, 67}) {
    for (const Index stride : {4, 6, 8}) {
      const Eigen::MatrixXi a = to_dense(SlidingWindow{.width = stride}, length, length).cast<int>();
      const Eigen::MatrixXi b = to_dense(Strided{stride} && Causal{}, length, length).cast<int>();
      for (const Eigen::MatrixXi& paths : {Eigen::MatrixXi(b * a), Eigen::MatrixXi(a * b)})
        for (Index q = 0; q < length; ++q)
          for (Index k = 0; k <= q; ++k) ASSERT_GT(paths(q, k), 0) << length << ", " << stride;
    }
  }
}

TEST(Strided, RefusesAStrideThatIsNone) {
  EXPECT_EQ(check::refusal([] { (void)to_dense(Strided{0}, 3, 3); }),
            "Strided: stride is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] { (void)Strided{-2}.plan(3); }),
            "Strided: stride is -2, expected a positive number");
}

}  // namespace
}  // namespace headwise::mask
