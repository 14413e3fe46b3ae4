#pragma once

#include <headwise/layer/block.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headwise::layer {

struct StackOptions {
  Index layers = 1;
  BlockOptions block{};
  bool final_norm = false;  ///< a norm after the last block, as pre-norm models need
};

/// Observes nothing. An observer is called as observe(i, x): x is the input for i = 0, else what block i - 1
/// returned.
struct Unobserved {
  void operator()(Index, const auto&) const noexcept {}
};

/// Blocks of one shape, one after another: the depth driver of ordinary Transformers.
///
///     x -> B_1 -> ... -> B_n [-> norm]
///
/// Attention dropout of block i is drawn for layer options.dropout.layer + i.
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
class Stack {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;
  using Cache = KeyValueCache<Scalar>;

  /// One cache a block; empty at the start of a text.
  using Caches = std::vector<Cache>;

  template <class C>
  struct GoneOn {
    Matrix<Scalar> output;
    std::vector<C> caches;
  };

  /// Throws ShapeError when layers is negative or the block's sizes do not fit each other.
  Stack(const StackOptions& options, const Initial& initial) {
    expect_not_negative("Stack: layers", options.layers);
    blocks_.reserve(std::size_t(options.layers));
    for (Index i = 0; i < options.layers; ++i) blocks_.emplace_back(options.block, initial);
    if (options.final_norm) norm_.emplace(options.block.norm);
  }

  /// x [n, d_model] -> [n, d_model]
  template <Sequence X, class Mask = mask::None, class Score = score::None, class Observe = Unobserved>
  auto operator()(const X& x, const AttendOptions& options = {}, const Mask& mask = {},
                  const Score& score = {}, Observe&& observe = {}) const {
    AttendOptions call = options;
    return driven(x, options.executor, observe,
                  [&](const Block<Scalar, Weight>& block, std::size_t i, const auto& h) {
                    call.dropout.layer = options.dropout.layer + Index(i);
                    return block(h, call, mask, score);
                  });
  }

  /// With cross-attention of every block to `memory`.   x [n, d_model], memory [k, width] -> [n, d_model]
  template <Sequence X, Sequence Memory, class Mask, class Score, class MemoryMask,
            class Observe = Unobserved>
  auto across(const X& x, const AttendOptions& options, const Mask& mask, const Score& score,
              const Memory& memory, const AttendOptions& memory_options, const MemoryMask& memory_mask,
              Observe&& observe = {}) const {
    AttendOptions call = options, memory_call = memory_options;
    return driven(x, options.executor, observe,
                  [&](const Block<Scalar, Weight>& block, std::size_t i, const auto& h) {
                    call.dropout.layer = options.dropout.layer + Index(i);
                    memory_call.dropout.layer = memory_options.dropout.layer + Index(i);
                    return block.across(h, call, mask, score, memory, memory_call, memory_mask);
                  });
  }

  /// Every block's self-attention goes on from its cache.   x [n, d_model] -> {output [n, d_model], caches}
  /// Throws ShapeError when there are caches, but not one a block.
  template <RealMatrix X, class Mask = mask::None, class Score = score::None,
            AttentionCache<Scalar_> C = KeyValueCache<Scalar_>>
  GoneOn<C> operator()(const X& x, std::vector<C> caches, const AttendOptions& options = {},
                       const Mask& mask = {}, const Score& score = {}) const {
    adopt(caches);
    Matrix<Scalar> y = driven(x, options.executor, Unobserved{},
                              [&](const Block<Scalar, Weight>& block, std::size_t i, const auto& h) {
                                auto [output, cache] = block(h, std::move(caches[i]), options, mask, score);
                                caches[i] = std::move(cache);
                                return std::move(output);
                              });
    return {std::move(y), std::move(caches)};
  }

  /// The same with cross-attention to what `remembered` returned.
  template <RealMatrix X, class Mask, class Score, class MemoryMask>
  GoneOn<Cache> across(const X& x, Caches caches, const AttendOptions& options, const Mask& mask,
                       const Score& score, const Caches& memory, const AttendOptions& memory_options,
                       const MemoryMask& memory_mask) const {
    adopt(caches);
    expect_equal("Stack: memories", Index(memory.size()), layers(),
                 "one a block, as `remembered` makes them");
    Matrix<Scalar> y = driven(x, options.executor, Unobserved{},
                              [&](const Block<Scalar, Weight>& block, std::size_t i, const auto& h) {
                                auto [output, cache] =
                                    block.across(h, std::move(caches[i]), options, mask, score, memory[i],
                                                 memory_options, memory_mask);
                                caches[i] = std::move(cache);
                                return std::move(output);
                              });
    return {std::move(y), std::move(caches)};
  }

  /// The keys and values of `memory` for every block's cross-attention, made once.   memory [k, width]
  template <RealMatrix X>
  Caches remembered(const X& memory, const RaggedRows& rows = {}, const Executor& executor = {}) const {
    Caches result;
    for (const Block<Scalar, Weight>& block : blocks_)
      result.push_back(block.cross_attention().remembered(memory, rows, executor));
    return result;
  }

  /// Visits 0.*, 1.*, ... and, if there is one, norm.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  Index layers() const noexcept { return Index(blocks_.size()); }

 private:
  template <Sequence X, class Observe, class Step>
  auto driven(const X& x, const Executor& executor, Observe&& observe, Step&& step) const {
    using State = decltype(step(blocks_.front(), 0, x));
    State h(x);
    observe(0, h);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      h = step(blocks_[i], i, h);
      observe(Index(i) + 1, h);
    }
    return norm_ ? (*norm_)(h, executor) : h;
  }

  void adopt(auto& caches) const {
    if (caches.empty()) caches.resize(blocks_.size());
    expect_equal("Stack: caches", Index(caches.size()), layers(),
                 "one a block, or none at the start of a text");
  }

  static void visit_all(auto& self, auto&& visit) {
    for (std::size_t i = 0; i < self.blocks_.size(); ++i)
      visit_part(std::to_string(i), self.blocks_[i], visit);
    if (self.norm_) visit_part("norm", *self.norm_, visit);
  }

  std::vector<Block<Scalar, Weight>> blocks_;
  std::optional<Norm<Scalar>> norm_;
};

}  // namespace headwise::layer
