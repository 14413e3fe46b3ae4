#pragma once

#include <headwise/layer/block.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/model/pattern_encoder.hpp>
#include <headwise/score/repeated_blocks.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::model {

struct BigBirdOptions {
  EncoderOptions encoder{};
  Index block_size = 64;
  Index random = 3;  ///< random blocks of each block of queries
};

/// Big Bird with the head that it was trained with: an encoder for long texts whose layers see a window, the
/// first and the last block, and random blocks of their own.
///
/// The tables of random blocks come with each call, one a layer: `draw` draws them from a seed, and those
/// that a checkpoint was trained with can be handed in. Blocks that are reached in two ways count twice, as
/// in the published sparse code. Without tables every layer is full attention, which is what short texts get.
/// Ids of a tape record, and every parameter gets its gradient.
/// Paper: Zaheer et al., "Big Bird: Transformers for Longer Sequences", 2020, sections 2 and 4.
template <class Scalar_ = float>
class BigBird {
 public:
  using Scalar = Scalar_;
  using Block = layer::Block<Scalar>;

  PatternEncoder<Block> encoder;
  MaskedTokenHead<Scalar> head;

  /// Throws ShapeError when sizes do not fit each other.
  BigBird(const BigBirdOptions& options, const layer::Initial& initial)
      : encoder(options.encoder, initial,
                [&] { return Block(detail::block_options(options.encoder), initial); }),
        head(options.encoder, initial),
        options_(options) {
    expect_positive("BigBird: block_size", options.block_size);
    expect_not_negative("BigBird: random", options.random);
  }

  /// Tables for texts of up to `length` tokens, one a layer. Texts much shorter than that find most of their
  /// random blocks beyond their end, where there is nothing: draw for the length that texts have. Throws
  /// ShapeError when so few blocks leave none to draw.
  std::vector<mask::RandomBlocks> draw(Index length, std::uint64_t seed) const {
    const Index blocks = (length + options_.block_size - 1) / options_.block_size;
    expect_positive("BigBird: length", length);
    // A block does not draw the ends, itself and its neighbours; with two blocks nothing is drawn.
    if (blocks > 2 && options_.random > 0 && blocks < options_.random + 5) {
      fail_shape("BigBird: blocks of " + std::to_string(length) + " tokens", std::to_string(blocks),
                 "at least " + std::to_string(options_.random + 5) + " (random + 5)",
                 "a text so short needs no tables: give none, for full attention");
    }
    std::vector<mask::RandomBlocks> tables;
    for (Index layer = 0; layer < options_.encoder.layers; ++layer) {
      tables.push_back(mask::RandomBlocks::draw({.block_size = options_.block_size,
                                                 .blocks = blocks,
                                                 .random = options_.random,
                                                 .heads = options_.encoder.heads,
                                                 .seed = seed,
                                                 .layer = layer}));
    }
    return tables;
  }

  /// ids [n], kinds [n] or none, one table a layer or none -> [n, d_model]. options.query_rows says where
  /// texts begin, and positions start at 0 in each; `mask` hides padding. observe(i, x) as in PatternEncoder.
  /// Throws ShapeError when there are tables, but not one a layer, and as `attend` does.
  template <class Ids, class Mask = mask::None, class Observe = layer::Unobserved>
  auto states(const Ids& ids, std::span<const TokenId> kinds, const std::vector<mask::RandomBlocks>& tables,
              const AttendOptions& options = {}, const Mask& mask = {}, Observe&& observe = {}) const {
    if (!tables.empty())
      expect_equal("BigBird: tables", Index(tables.size()), options_.encoder.layers, "one a layer, or none");
    const Index tokens = Index(ids.size());
    return encoder.states(
        ids, layer::token_positions(options, tokens, tokens).query, kinds,
        [&](const Block& block, Index layer, const auto& x) {
          AttendOptions call = options;
          call.dropout.layer = options.dropout.layer + layer;
          if (tables.empty()) return block(x, call, mask);
          const mask::RandomBlocks& table = tables[std::size_t(layer)];
          return block(x, call, mask::operator&&(mask::BigBird(table), mask), score::RepeatedBlocks(table));
        },
        observe);
  }

  /// ids [n], kinds [n] or none, one table a layer or none -> logits [n, vocab_size]
  template <class Ids, class Mask = mask::None>
  auto operator()(const Ids& ids, std::span<const TokenId> kinds,
                  const std::vector<mask::RandomBlocks>& tables, const AttendOptions& options = {},
                  const Mask& mask = {}) const {
    return head(states(ids, kinds, tables, options, mask), encoder);
  }

  /// Visits encoder.*, head.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const BigBirdOptions& options() const noexcept { return options_; }

 private:
  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("encoder", self.encoder, visit);
    layer::visit_part("head", self.head, visit);
  }

  BigBirdOptions options_;
};

}  // namespace headwise::model
