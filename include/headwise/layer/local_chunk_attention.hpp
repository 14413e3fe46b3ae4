#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/local_chunks.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/layer/part.hpp>

namespace headwise::layer {

struct LocalChunkAttentionOptions {
  Index d_model = 0;
  Index heads = 1;
  Index head_dim = 0;    ///< 0: d_model / heads
  LocalChunks chunks{};  ///< what a chunk of neighbours sees
};

/// Local self-attention of the Reformer: every chunk sees itself and the chunks about it.
///
///     attend(x W_q^T, x W_k^T, x W_v^T) W_o^T  over LocalChunks        no biases
///
/// Cost: four projections and n chunk_len (before + 1 + after) pairs a head. Paper: Kitaev et al., "Reformer:
/// The Efficient Transformer", 2020, section 5.
template <class Scalar_ = float>
class LocalChunkAttention {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when sizes do not fit each other.
  LocalChunkAttention(const LocalChunkAttentionOptions& options, const Initial& initial)
      : options_(completed(options)),
        query_(inner(), initial),
        key_(inner(), initial),
        value_(inner(), initial),
        output_({.in = options_.heads * options_.head_dim, .out = options_.d_model, .bias = false}, initial) {
  }

  /// x [n, d_model] -> [n, d_model]. Throws ShapeError as attend_over does.
  template <Sequence X, class Mask = mask::None>
  auto operator()(const X& x, const AttendOptions& options = {}, const Mask& mask = {}) const {
    AttendOptions call = options;
    call.heads = options_.heads;
    const Plans plans = plans_of(options_.chunks, call.query_rows.over(x.rows(), "LocalChunkAttention: x"));
    return output_(attend_over(plans, query_(x), key_(x), value_(x), call, mask).output);
  }

  /// Visits query.*, key.*, value.*, output.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  static LocalChunkAttentionOptions completed(LocalChunkAttentionOptions o) {
    expect_positive("LocalChunkAttention: d_model", o.d_model);
    expect_positive("LocalChunkAttention: heads", o.heads);
    if (o.head_dim == 0) {
      expect_multiple("LocalChunkAttention: d_model", o.d_model, o.heads, "heads");
      o.head_dim = o.d_model / o.heads;
    }
    expect_positive("LocalChunkAttention: head_dim", o.head_dim);
    return o;
  }

  LinearOptions inner() const noexcept {
    return {.in = options_.d_model, .out = options_.heads * options_.head_dim, .bias = false};
  }

  static void visit_all(auto& self, auto&& visit) {
    visit_part("query", self.query_, visit);
    visit_part("key", self.key_, visit);
    visit_part("value", self.value_, visit);
    visit_part("output", self.output_, visit);
  }

  LocalChunkAttentionOptions options_;
  Linear<Scalar> query_, key_, value_, output_;
};

}  // namespace headwise::layer
