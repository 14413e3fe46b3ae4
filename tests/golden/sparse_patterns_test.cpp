#include <headwise/mask/algebra.hpp>
#include <headwise/mask/blockwise.hpp>
#include <headwise/mask/by_head.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/fixed.hpp>
#include <headwise/mask/local_block.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/strided.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/pattern_laws.hpp"

namespace headwise {
namespace {

const std::vector<std::string_view> sparse_settings{"D", "H", "L", "c", "stride"};
const std::vector<std::string_view> blockwise_settings{"B", "D", "H", "L", "blocks", "causal"};
const std::vector<std::string_view> image_settings{"D", "H", "L", "memory", "query_block"};

/// Query, key and value of a case, and one call of attention for all its heads.
struct Heads {
  const golden::Case& data;
  Index batch = data.tensor("in.q").dim(0), heads = data.tensor("in.q").dim(1),
        length = data.tensor("in.q").dim(2);

  AttendOptions options() const { return {.heads = heads, .query_rows = RaggedRows::uniform(batch, length)}; }

  /// A mask that is alike for all heads, in the type that the kernel is compiled for already.
  template <class Mask>
  void expect_output(const std::string& output, const Mask& mask) const {
    SCOPED_TRACE(output);
    const auto got = attend(data.heads("in.q"), data.heads("in.k"), data.heads("in.v"), options(),
                            check::answers_of(mask, length));
    EXPECT_TRUE(golden::match(got, data.heads(output), data.tolerance()));
  }

  template <class Mask>
  void expect_pattern(const std::string& expected, const Mask& mask, Index head = 0) const {
    const golden::Tensor& pattern = data.tensor(expected);
    const Matrix<bool> seen = mask::to_dense(mask, length, length, {.head = head, .heads = heads});
    for (Index i = 0; i < length; ++i)
      for (Index j = 0; j < length; ++j)
        ASSERT_EQ(seen(i, j), pattern.broadcast(0, head, i, j) != 0)
            << expected << ", head " << head << ": " << i << ", " << j;
  }
};

TEST(SparseMasksGolden, PatternsAndOutputsAgree) {
  using namespace mask;
  for (const golden::Case& each : golden::cases("sparse_masks")) {
    SCOPED_TRACE(each.name());
    if (const auto unknown = each.settings_besides(sparse_settings); !unknown.empty()) {
      golden::skip(each, "other settings: " + unknown);
      continue;
    }
    const Heads call{each};
    const Index stride = each.integer("stride"), c = each.integer("c");
    const auto near = SlidingWindow{.width = stride + 1};  // as the paper has it
    const auto far = Strided{stride} && Causal{};
    const auto own = LocalBlock{.query_block = stride, .memory = 0} && Causal{};
    const auto summaries = Fixed{.stride = stride, .summaries = c} && Causal{};
    call.expect_pattern("out.mask_strided_1", near);
    call.expect_pattern("out.mask_strided_1_l", SlidingWindow{.width = stride});
    call.expect_pattern("out.mask_strided_2", far);
    call.expect_pattern("out.mask_fixed_1", own);
    call.expect_pattern("out.mask_fixed_2", summaries);
    call.expect_output("out.o_strided_1", near);
    call.expect_output("out.o_strided_union", near || far);
    call.expect_output("out.o_fixed_1", own);
    call.expect_output("out.o_fixed_union", own || summaries);
    const auto by_heads = attend(each.heads("in.q"), each.heads("in.k"), each.heads("in.v"), call.options(),
                                 by_head(near, far));
    EXPECT_TRUE(golden::match(by_heads, each.heads("out.o_strided_perhead"), each.tolerance()));
  }
}

TEST(BlockwiseGolden, PatternsAndOutputsAgree) {
  for (const golden::Case& each : golden::cases("blockwise")) {
    SCOPED_TRACE(each.name());
    if (const auto unknown = each.settings_besides(blockwise_settings);
        !unknown.empty() || each.flag("causal")) {
      golden::skip(each, "causal, or other settings: " + unknown);
      continue;
    }
    const Heads call{each};
    std::vector<std::vector<Index>> permutations;
    for (Index h = 0; h < call.heads; ++h) {
      auto& permutation = permutations.emplace_back();
      for (Index b = 0; b < each.integer("blocks"); ++b)
        permutation.push_back(Index(each.tensor("in.perm").at(h, b)));
    }
    const auto mask = mask::Blockwise::per_head(permutations);
    for (Index h = 0; h < call.heads; ++h) call.expect_pattern("out.mask", mask, h);
    const auto got = attend(each.heads("in.q"), each.heads("in.k"), each.heads("in.v"), call.options(), mask);
    EXPECT_TRUE(golden::match(got, each.heads("out.o"), each.tolerance()));
  }
}

TEST(ImageLocal1dGolden, PatternsAndOutputsAgree) {
  for (const golden::Case& each : golden::cases("image_local_1d")) {
    SCOPED_TRACE(each.name());
    if (const auto unknown = each.settings_besides(image_settings); !unknown.empty()) {
      golden::skip(each, "other settings: " + unknown);
      continue;
    }
    const auto mask =
        mask::LocalBlock{.query_block = each.integer("query_block"), .memory = each.integer("memory")} &&
        mask::Causal{};
    const Heads call{each};
    call.expect_pattern("out.mask", mask);
    call.expect_output("out.o", mask);
  }
}

}  // namespace
}  // namespace headwise
