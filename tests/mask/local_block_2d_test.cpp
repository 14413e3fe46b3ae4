#include <headwise/attention/explain.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/local_block_2d.hpp>
#include <headwise/mask/none.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

#include <tuple>

namespace headwise::mask {
namespace {

constexpr ImageBlocks six_by_four{.height = 4, .width = 6, .block_height = 2, .block_width = 3};
constexpr ImageBlocks awkward{.height = 7, .width = 10, .block_height = 3, .block_width = 4};

struct Images {
  static std::vector<Context> contexts() { return {check::context_of(70)}; }
  static Tile domain(const Context&) { return {{0, 63}, {0, 63}}; }  // the laws' tests move queries on by 7
};
struct LocalImages : Images {
  static auto masks() {
    return std::array{LocalBlock2d{.image = awkward, .memory_height = 1, .memory_width = 2},
                      LocalBlock2d{.image = awkward, .memory_height = 0, .memory_width = 0},
                      LocalBlock2d{.image = awkward, .memory_height = 9, .memory_width = 1},
                      LocalBlock2d{.image = {.height = 70, .width = 1, .block_height = 64, .block_width = 2},
                                   .memory_height = 3,
                                   .memory_width = 3}};
  }
};
struct Orders : Images {
  static auto masks() {
    return std::array{BlockRasterOrder{awkward}, BlockRasterOrder{{1, 70, 1, 8}},
                      BlockRasterOrder{{70, 1, 9, 5}}};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(LocalBlock2d, MaskLaws, LocalImages);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockRasterOrder, MaskLaws, Orders);

/// The definitions, with quotients written out.
check::AnyMask region(const ImageBlocks& image, Index memory_height, Index memory_width) {
  return [=](Index q, Index k) {
    const Index y = q / image.width, x = q % image.width, key_y = k / image.width, key_x = k % image.width;
    const Index top = y / image.block_height * image.block_height;
    const Index left = x / image.block_width * image.block_width;
    return top - memory_height <= key_y && key_y < top + image.block_height + memory_height &&
           left - memory_width <= key_x && key_x < left + image.block_width + memory_width;
  };
}

auto order_key(const ImageBlocks& image, Index token) {
  const Index y = token / image.width, x = token % image.width;
  return std::tuple(y / image.block_height, x / image.block_width, y % image.block_height,
                    x % image.block_width);
}

check::AnyMask written_before(const ImageBlocks& image) {
  return [=](Index q, Index k) { return order_key(image, k) <= order_key(image, q); };
}

TEST(LocalBlock2d, SeesTheBlockAndItsSurroundings) {
  namespace hw = headwise;
  // [docs mask/local_block_2d]
  const hw::mask::ImageBlocks image{.height = 4, .width = 6, .block_height = 2, .block_width = 3};
  const auto local = hw::mask::LocalBlock2d{image, /*memory_height=*/1, /*memory_width=*/2} &&
                     hw::mask::BlockRasterOrder{image};
  const std::string pictures = hw::mask::to_string(local, 24, 24);  // a line is a pixel
  const std::string of_pixel_15 = pictures.substr(15 * 25, 24);
  // of_pixel_15 == "......" ".#####" ".###.." ".##..."
  // [docs end]
  EXPECT_EQ(of_pixel_15,
            "......"
            ".#####"
            ".###.."
            ".##...");
}

TEST(LocalBlock2d, IsWrittenBlockByBlock) {
  const std::vector<Index> expected{0,  1,  2,  6,  7,  8,  3,  4,  5,  9,  10, 11,
                                    12, 13, 14, 18, 19, 20, 15, 16, 17, 21, 22, 23};
  EXPECT_EQ(BlockRasterOrder{six_by_four}.order(), expected);
  for (const ImageBlocks& image : {awkward, ImageBlocks{5, 13, 5, 5}, ImageBlocks{9, 4, 2, 7}}) {
    const std::vector<Index> order = BlockRasterOrder{image}.order();
    for (std::size_t i = 1; i < order.size(); ++i)
      ASSERT_LT(order_key(image, order[i - 1]), order_key(image, order[i])) << i;
  }
}

TEST(LocalBlock2d, ListsExactlyItsPairs) {
  for (Index height = 1; height <= 9; ++height) {
    for (Index width = 1; width <= 7; ++width) {
      for (const auto& [h, w] : {std::pair<Index, Index>{1, 1}, {2, 3}, {4, 5}, {9, 9}}) {
        const ImageBlocks image{height, width, h, w};
        const LocalBlock2d local{.image = image, .memory_height = 1, .memory_width = 2};
        check::expect_plan_lists([&](Index n) { return local.plan(n); },
                                 [&](Index) { return region(image, 1, 2); }, {}, {height * width});
        const auto seen = to_dense(local && BlockRasterOrder{image}, height * width, height * width);
        const auto in_region = region(image, 1, 2), before = written_before(image);
        for (Index q = 0; q < height * width; ++q)
          for (Index k = 0; k < height * width; ++k)
            ASSERT_EQ(seen(q, k), in_region(q, k) && before(q, k)) << q << ", " << k;
      }
    }
  }
}

TEST(LocalBlock2d, OverItsPlanIsDenseAttention) {
  const LocalBlock2d local{.image = awkward, .memory_height = 1, .memory_width = 2};
  const auto in_region = region(awkward, 1, 2), before = written_before(awkward);
  check::PatternLaws(70, local.plan(70), in_region).expect_all();
  check::PatternLaws(
      70, local.plan(70), [&](Index q, Index k) { return in_region(q, k) && before(q, k); }, before)
      .expect_all();
}

TEST(LocalBlock2d, HasThePublishedNumbers) {
  const auto causal = LocalBlock2d{six_by_four, 1, 2} && BlockRasterOrder{six_by_four};
  const auto direct = check::attend_to_waves(causal, 24);
  EXPECT_NEAR(check::checksum(direct.output), -0.149502871474, 1e-11);
  Matrix<double> row(1, 4);
  row << -0.355957912815, 0.500945779094, -0.555795725175, 0.471491109226;
  EXPECT_TRUE(check::near(direct.output.row(15), row, 1e-11));
  EXPECT_EQ(explain({.q_len = 24, .k_len = 24}, {}, causal).pairs, 192);
  const Matrix<bool> seen = to_dense(causal, 24, 24);
  for (const auto& [pixel, keys] :
       {std::pair<Index, std::vector<Index>>{15, {7, 8, 9, 10, 11, 13, 14, 15, 19, 20}},
        {22, {7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 19, 20, 21, 22}}}) {
    std::vector<Index> got;
    for (Index k = 0; k < 24; ++k)
      if (seen(pixel, k)) got.push_back(k);
    EXPECT_EQ(got, keys) << "pixel " << pixel;
  }
}

/// Ranks as positions turn the order into plain Causal.
TEST(LocalBlock2d, OverItsPlanRanksAsPositionsMakeTheOrderCausal) {
  const std::vector<Position> ranks = BlockRasterOrder{six_by_four}.ranks();
  const AttendOptions options{.query_positions = ranks, .key_positions = ranks};
  const Plans plans = plans_of(LocalBlock2d{six_by_four, 1, 2}, 24);
  const check::AnyMask causal = [](Index q, Index k) { return k <= q; };
  const auto got = attend_over(plans, check::waves(0, 24, 4), check::waves(1, 24, 4), check::waves(2, 24, 4),
                               options, causal);
  EXPECT_NEAR(check::checksum(got.output), -0.149502871474, 1e-11);
  EXPECT_EQ(explain({.q_len = 24, .k_len = 24}, options, Causal{}, &plans).pairs, 192);
}

/// Inside the image a block sees (h + 2 m_h)(w + 2 m_w) keys; the flange is cut at the edges.
TEST(LocalBlock2d, CostsWhatTheFormulaSays) {
  const ImageBlocks image{.height = 32, .width = 48, .block_height = 8, .block_width = 16};
  const Plans plans = plans_of(LocalBlock2d{.image = image, .memory_height = 4, .memory_width = 5}, 32 * 48);
  const Index down = 32 * (8 + 2 * 4) - 2 * 8 * 4, along = 48 * (16 + 2 * 5) - 2 * 16 * 5;
  EXPECT_EQ(explain({.q_len = 32 * 48, .k_len = 32 * 48}, {}, None{}, &plans).pairs, down * along);
}

TEST(LocalBlock2d, RefusesImagesThatDoNotFit) {
  EXPECT_EQ(check::refusal([] { (void)to_dense(LocalBlock2d{.image = six_by_four}, 25, 25); }),
            "LocalBlock2d: length is 25, expected at most 24 (height * width)");
  EXPECT_EQ(check::refusal([] { (void)LocalBlock2d{.image = six_by_four}.plan(23); }),
            "LocalBlock2d: length is 23, expected 24; a plan serves a whole image");
  EXPECT_EQ(check::refusal([] { (void)to_dense(LocalBlock2d{}, 1, 1); }),
            "LocalBlock2d: height is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] {
              (void)BlockRasterOrder{{2, 2, 0, 1}}.order();
            }),
            "BlockRasterOrder: block_height is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] {
              (void)LocalBlock2d{.image = six_by_four, .memory_height = 1, .memory_width = -1}.plan(24);
            }),
            "LocalBlock2d: memory_width is -1, expected zero or more");
}

}  // namespace
}  // namespace headwise::mask
