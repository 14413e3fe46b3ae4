#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/mask/blockwise.hpp>
#include <headwise/mask/by_head.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/dense.hpp>
#include <headwise/mask/dilated_window.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/mask/fixed.hpp>
#include <headwise/mask/global_tokens.hpp>
#include <headwise/mask/key_lengths.hpp>
#include <headwise/mask/key_padding.hpp>
#include <headwise/mask/local_block.hpp>
#include <headwise/mask/local_block_2d.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/mask/picture.hpp>
#include <headwise/mask/prefix.hpp>
#include <headwise/mask/random_blocks.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/strided.hpp>
#include <headwise/mask/where.hpp>

#include "report/drawing.hpp"
#include "report/gallery.hpp"
#include "report/numbers.hpp"

#include <string>
#include <utility>

namespace headwise::report {

namespace {

class Gallery {
 public:
  template <MaskPolicy M>
  void add(const std::string& name, const std::string& title, const std::string& meaning, const M& mask,
           const mask::PictureOptions& options = {}) {
    const Matrix<bool> seen = mask::to_dense(mask, drawn_length, drawn_length, options);
    const Index count = count_pairs(seen);
    const std::string caption = meaning + " " + grouped(count) + " of " + grouped(seen.size()) + " pairs, " +
                                percent(double(count) / double(seen.size())) + ".";
    pictures_.push_back({"mask/" + name, title, caption, draw_mask(seen, title + ": " + caption)});
  }

  std::vector<Picture> take() { return std::move(pictures_); }

 private:
  std::vector<Picture> pictures_;
};

/// Three documents of 12, 20 and 16 tokens.
std::vector<TokenId> three_documents() {
  std::vector<TokenId> ids(std::size_t(drawn_length), 1);
  for (Index i = 0; i < drawn_length; ++i) ids[std::size_t(i)] = i < 12 ? 1 : i < 32 ? 2 : 3;
  return ids;
}

/// Padding in front, and a hole.
std::vector<bool> real_keys() {
  std::vector<bool> real(std::size_t(drawn_length), true);
  for (Index i = 0; i < drawn_length; ++i) real[std::size_t(i)] = i >= 8 && (i < 28 || i >= 34);
  return real;
}

/// A pattern of one's own: two diagonals that cross.
Matrix<bool> two_diagonals() {
  Matrix<bool> allowed(drawn_length, drawn_length);
  for (Index i = 0; i < drawn_length; ++i)
    for (Index j = 0; j < drawn_length; ++j)
      allowed(i, j) = std::abs(i - j) < 4 || std::abs(i + j - drawn_length) < 4;
  return allowed;
}

void add_elementary(Gallery& gallery) {
  gallery.add("none", "None", "Every query sees every key.", mask::None{});
  gallery.add("causal", "Causal", "A token sees itself and all tokens before it.", mask::Causal{});
  gallery.add("sliding_window", "SlidingWindow",
              "A token sees itself and the 11 tokens before it (width 12).",
              mask::SlidingWindow{.width = 12});
  gallery.add("band", "Band", "A token sees 8 tokens to the left, itself, and 4 to the right.",
              mask::Band{.left = 8, .right = 4});
  gallery.add("prefix", "Prefix, or causal", "The first 16 keys are seen by all; the rest is causal.",
              mask::Prefix{.length = 16} || mask::Causal{});
}

void add_batches(Gallery& gallery) {
  gallery.add("documents", "Documents, and causal",
              "Three documents of 12, 20 and 16 tokens packed into one row.",
              mask::Documents(three_documents()) && mask::Causal{});
  gallery.add("key_lengths", "KeyLengths", "Only the first 34 keys are real, the rest is padding.",
              mask::KeyLengths{{34}});
  gallery.add("key_padding", "KeyPadding, and causal",
              "Padding in front (8 keys) and a hole of 6; the first queries see nothing and return zeros.",
              mask::KeyPadding(real_keys()) && mask::Causal{});
  gallery.add("dense", "Dense", "Any matrix of booleans: here two diagonals.", mask::Dense(two_diagonals()));
}

void add_composed(Gallery& gallery) {
  gallery.add("where", "where(a callable)", "Any rule: here every fourth token back, as in a dilated window.",
              mask::where([](Index query, Index key) { return key <= query && (query - key) % 4 == 0; }));
  gallery.add(
      "algebra", "Algebra of masks", "Causal without a window of 16, together with the first 4 keys.",
      (mask::Causal{} - mask::SlidingWindow{.width = 16}) || (mask::Causal{} && mask::Prefix{.length = 4}));
}

void add_local(Gallery& gallery) {
  gallery.add("local_block", "LocalBlock, and causal",
              "Blocks of 8 see the 12 tokens before them, and themselves as far as they are written.",
              mask::LocalBlock{.query_block = 8, .memory = 12} && mask::Causal{});
  const mask::ImageBlocks image{.height = 6, .width = 8, .block_height = 2, .block_width = 4};
  gallery.add("local_block_2d", "LocalBlock2d, and BlockRasterOrder",
              "An image of 6 x 8 pixels in blocks of 2 x 4 that see 1 row above and 2 columns beside them.",
              mask::LocalBlock2d{.image = image, .memory_height = 1, .memory_width = 2} &&
                  mask::BlockRasterOrder{image});
  gallery.add("dilated_window", "DilatedWindow", "Five tokens on each side, three apart.",
              mask::DilatedWindow{.reach = 5, .dilation = 3});
  gallery.add("blockwise", "Blockwise", "Four blocks, of which each sees the next.",
              mask::Blockwise::shifted(4, {1}));
}

void add_sparse(Gallery& gallery) {
  const auto near = mask::SlidingWindow{.width = 7};
  const auto far = mask::Strided{7} && mask::Causal{};
  gallery.add("strided", "SlidingWindow, or Strided and causal",
              "The last 7 tokens, and every seventh before them.", near || far);
  gallery.add("fixed", "LocalBlock, or Fixed; and causal",
              "Blocks of 8: the own block, and the last 2 tokens of those before it.",
              (mask::LocalBlock{.query_block = 8, .memory = 0} || mask::Fixed{.stride = 8, .summaries = 2}) &&
                  mask::Causal{});
  gallery.add("by_head", "ByHead", "An odd head of by_head(SlidingWindow, Strided and causal).",
              mask::by_head(near, far), {.head = 1, .heads = 2});
  gallery.add("global_tokens", "Band, or GlobalTokens", "A window of 3 on each side, and 3 global tokens.",
              mask::Band{.left = 3, .right = 3} || mask::GlobalTokens({0, 17, 30}));
  const auto random = mask::RandomBlocks::draw({.block_size = 4, .blocks = 12, .random = 2});
  gallery.add("random_blocks", "RandomBlocks",
              "Two random blocks of 4 for each block but the first and last.", random);
  gallery.add("big_bird", "BigBird",
              "Blocks of 4: a window of three, the first and the last, and 2 random ones.",
              mask::BigBird(random));
}

}  // namespace

std::vector<Picture> draw_masks() {
  Gallery gallery;
  add_elementary(gallery);
  add_batches(gallery);
  add_composed(gallery);
  add_local(gallery);
  add_sparse(gallery);
  return gallery.take();
}

}  // namespace headwise::report
