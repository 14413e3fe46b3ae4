#pragma once

#include <headwise/layer/feed_forward.hpp>
#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/layer/norm.hpp>
#include <headwise/layer/part.hpp>

#include <optional>
#include <utility>

namespace headwise::layer {

/// Where the norms of a block stand.
enum class Wiring {
  post_norm,  ///< norm(x + f(x)): the original Transformer, BERT
  pre_norm,   ///< x + f(norm(x)): GPT-2, Llama, T5, BLOOM
  parallel    ///< x + f(norm(x)) + g(norm'(x)): GPT-J, GPT-NeoX; without cross-attention
};

struct BlockOptions {
  MultiHeadAttentionOptions attention{};
  std::optional<MultiHeadAttentionOptions>
      cross_attention{};  ///< of a decoder that looks at an encoder's output
  FeedForwardOptions feed_forward{};
  NormOptions norm{};
  Wiring wiring = Wiring::pre_norm;
};

/// One layer of a Transformer: self-attention, perhaps cross-attention, feed-forward, each with a residual
/// and a norm.
///
///     y = N1(x + A(x)),       z = N2(y + F(y))             post_norm
///     y = x + A(N1(x)),       z = y + F(N2(y))             pre_norm
///     z = x + A(N1(x)) + F(N2(x))                          parallel
///
/// Cross-attention, where there is one, stands between A and F with a norm of its own.
/// Paper: Vaswani et al., "Attention Is All You Need", 2017, section 3.1; Xiong et al., "On Layer
/// Normalization in the Transformer Architecture", 2020, table 1; Wang and Komatsuzaki, GPT-J-6B, 2021, for
/// the parallel form.
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
class Block {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;
  using Cache = KeyValueCache<Scalar>;

  /// Throws ShapeError when widths differ, or when a parallel block is given cross-attention.
  Block(const BlockOptions& options, const Initial& initial)
      : wiring_(checked(options).wiring),
        attention_(options.attention, initial),
        feed_forward_(options.feed_forward, initial),
        attention_norm_(options.norm),
        feed_forward_norm_(options.norm) {
    if (!options.cross_attention) return;
    cross_attention_.emplace(*options.cross_attention, initial);
    cross_norm_.emplace(options.norm);
  }

  /// x [n, d_model] -> [n, d_model]
  template <Sequence X, class Mask = mask::None, class Score = score::None>
  auto operator()(const X& x, const AttendOptions& options = {}, const Mask& mask = {},
                  const Score& score = {}) const {
    return wired(x, options.executor,
                 [&](const auto& seen) { return attention_(seen, options, mask, score); });
  }

  /// With cross-attention to `memory`: another matrix of rows, or what cross_attention() remembered of it.
  template <Sequence X, class Memory, class Mask, class Score, class MemoryMask>
  auto across(const X& x, const AttendOptions& options, const Mask& mask, const Score& score,
              const Memory& memory, const AttendOptions& memory_options,
              const MemoryMask& memory_mask) const {
    return wired(
        x, options.executor, [&](const auto& seen) { return attention_(seen, options, mask, score); },
        [&](const auto& seen) { return looked_up(seen, memory, memory_options, memory_mask); });
  }

  /// Self-attention goes on from a cache.   x [n, d_model] -> {output [n, d_model], cache}
  template <RealMatrix X, AttentionCache<Scalar_> C, class Mask = mask::None, class Score = score::None>
  Cached<Matrix<Scalar>, C> operator()(const X& x, C cache, const AttendOptions& options = {},
                                       const Mask& mask = {}, const Score& score = {}) const {
    Matrix<Scalar> y = wired(x, options.executor, going_on(cache, options, mask, score));
    return {std::move(y), std::move(cache)};
  }
  template <RealMatrix X, class Memory, class Mask, class Score, class MemoryMask>
  Cached<Matrix<Scalar>, Cache> across(const X& x, Cache cache, const AttendOptions& options,
                                       const Mask& mask, const Score& score, const Memory& memory,
                                       const AttendOptions& memory_options,
                                       const MemoryMask& memory_mask) const {
    Matrix<Scalar> y =
        wired(x, options.executor, going_on(cache, options, mask, score),
              [&](const auto& seen) { return looked_up(seen, memory, memory_options, memory_mask); });
    return {std::move(y), std::move(cache)};
  }

  /// Visits attention.*, attention_norm.*, cross_attention.*, cross_norm.*, feed_forward.*,
  /// feed_forward_norm.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const MultiHeadAttention<Scalar, Weight>& attention() const noexcept { return attention_; }

  /// Throws ShapeError when the block has none.
  const MultiHeadAttention<Scalar, Weight>& cross_attention() const {
    expect_cross_attention();
    return *cross_attention_;
  }

 private:
  struct Nothing {};

  auto residual(const Norm<Scalar>& norm, const Executor& executor, const auto& x, auto&& f) const {
    if (wiring_ == Wiring::post_norm) return norm(on_threads::add(executor, f(x), x), executor);
    return on_threads::add(executor, f(norm(x, executor)), x);
  }

  template <class X, class Attend, class Across = Nothing>
  auto wired(const X& x, const Executor& executor, Attend&& self, Across&& across_memory = {}) const {
    const auto feed_forward = [&](const auto& seen) { return feed_forward_(seen, executor); };
    if (wiring_ == Wiring::parallel) {
      auto both = on_threads::add(executor, self(attention_norm_(x, executor)),
                                  feed_forward(feed_forward_norm_(x, executor)));
      return on_threads::add(executor, std::move(both), x);
    }
    auto y = residual(attention_norm_, executor, x, self);
    if constexpr (!std::is_same_v<std::remove_cvref_t<Across>, Nothing>) {
      expect_cross_attention();
      y = residual(*cross_norm_, executor, y, across_memory);
    }
    return residual(feed_forward_norm_, executor, y, feed_forward);
  }

  auto going_on(auto& cache, const AttendOptions& options, const auto& mask, const auto& score) const {
    return [&](const auto& seen) {
      auto [output, longer] = attention_(seen, std::move(cache), options, mask, score);
      cache = std::move(longer);
      return std::move(output);
    };
  }

  auto looked_up(const auto& x, const auto& memory, const AttendOptions& options, const auto& mask) const {
    if constexpr (Sequence<decltype(memory)>) {
      return cross_attention_->across(x, memory, memory, options, mask);
    } else {
      return cross_attention_->across(x, memory, options, mask);
    }
  }

  void expect_cross_attention() const {
    if (cross_attention_) return;
    throw ShapeError("Block: a memory is given, expected none; this block was made without cross_attention");
  }

  static const BlockOptions& checked(const BlockOptions& o) {
    expect_equal("Block: d_model of feed_forward", o.feed_forward.d_model, o.attention.d_model);
    expect_equal("Block: width of norm", o.norm.width, o.attention.d_model);
    if (o.cross_attention) {
      expect_equal("Block: d_model of cross_attention", o.cross_attention->d_model, o.attention.d_model);
      if (o.wiring == Wiring::parallel) {
        throw ShapeError("Block: wiring is parallel with cross_attention, expected pre_norm or post_norm");
      }
    }
    return o;
  }

  static void visit_all(auto& self, auto&& visit) {
    visit_part("attention", self.attention_, visit);
    visit_part("attention_norm", self.attention_norm_, visit);
    if (self.cross_attention_) {
      visit_part("cross_attention", *self.cross_attention_, visit);
      visit_part("cross_norm", *self.cross_norm_, visit);
    }
    visit_part("feed_forward", self.feed_forward_, visit);
    visit_part("feed_forward_norm", self.feed_forward_norm_, visit);
  }

  Wiring wiring_;
  MultiHeadAttention<Scalar, Weight> attention_;
  std::optional<MultiHeadAttention<Scalar, Weight>> cross_attention_;
  FeedForward<Scalar, Weight> feed_forward_;
  Norm<Scalar> attention_norm_, feed_forward_norm_;
  std::optional<Norm<Scalar>> cross_norm_;
};

}  // namespace headwise::layer
