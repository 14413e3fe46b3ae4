#pragma once

#include <headwise/attention/lsh.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/layer/part.hpp>

#include <utility>

namespace headwise::layer {

struct LshAttentionOptions {
  Index d_model = 0;
  Index heads = 1;
  Index head_dim = 0;  ///< 0: d_model / heads
  LshOptions lsh{};    ///< chunks and what they see
  std::vector<Index> factors{
      2};                 ///< of the number of buckets: lsh_factors; none: lsh_factors_of_two of each text
  Index max_seq_len = 0;  ///< of the texts, where there are no factors; 0: not known
  Index rounds = 1;
  std::uint64_t seed = 0;
  Index layer = 0;  ///< layers of one seed hash differently
};

/// LSH self-attention of the Reformer: one projection for query and key, one for the value, one back.
///
///     attend_lsh(x W_qk^T, x W_v^T) W_o^T        no biases
///
/// The rotations of the hash belong to the layer and are not learned. Cost: three projections and that of
/// attend_lsh. Paper: Kitaev et al., "Reformer: The Efficient Transformer", 2020, section 2.
template <class Scalar_ = float>
class LshAttention {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when sizes do not fit each other or a factor is odd.
  LshAttention(const LshAttentionOptions& options, const Initial& initial)
      : options_(completed(options)),
        query_key_({.in = options_.d_model, .out = options_.heads * options_.head_dim, .bias = false},
                   initial),
        value_({.in = options_.d_model, .out = options_.heads * options_.head_dim, .bias = false}, initial),
        output_({.in = options_.heads * options_.head_dim, .out = options_.d_model, .bias = false}, initial),
        rotations_(by_length() ? LshRotations<Scalar>{} : lsh_rotations<Scalar>(draw())) {}

  /// The same layer under other rotations: a new hash, or a published one, of any number of rounds.
  LshAttention hashed_by(LshRotations<Scalar> rotations) const {
    expect_equal("LshAttention: heads of rotations", rotations.heads, options_.heads);
    expect_equal("LshAttention: rows of rotations", rotations.values.rows(),
                 options_.heads * options_.head_dim);
    LshAttention other = *this;
    other.rotations_ = std::move(rotations);
    return other;
  }

  /// The buckets that x falls into: what a recomputation must be given. `rows` says where texts begin, which
  /// matters where their length decides on the number of buckets.   x [n, d_model]
  LshBuckets buckets(const Sequence auto& x, const RaggedRows& rows = {}) const {
    if (!rotations_.factors.empty()) return lsh_buckets(query_key_(x), rotations_);
    return lsh_buckets(query_key_(x), LshHashByLength{draw(), options_.lsh.chunk_len, options_.max_seq_len},
                       rows);
  }

  /// x [n, d_model] -> [n, d_model]. Throws ShapeError as attend_lsh does.
  template <Sequence X, class Mask = mask::None>
  auto operator()(const X& x, const LshBuckets& buckets, const AttendOptions& options = {},
                  const Mask& mask = {}) const {
    AttendOptions call = options;
    call.heads = options_.heads;
    return output_(attend_lsh(query_key_(x), value_(x), buckets, options_.lsh, call, mask).output);
  }
  template <Sequence X, class Mask = mask::None>
  auto operator()(const X& x, const AttendOptions& options = {}, const Mask& mask = {}) const {
    return (*this)(x, buckets(x, options.query_rows), options, mask);
  }

  /// Visits query_key.*, value.*, output.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const LshAttentionOptions& options() const noexcept { return options_; }

 private:
  static LshAttentionOptions completed(LshAttentionOptions o) {
    expect_positive("LshAttention: d_model", o.d_model);
    expect_positive("LshAttention: heads", o.heads);
    if (o.head_dim == 0) {
      expect_multiple("LshAttention: d_model", o.d_model, o.heads, "heads");
      o.head_dim = o.d_model / o.heads;
    }
    expect_positive("LshAttention: head_dim", o.head_dim);
    expect_positive("LshAttention: rounds", o.rounds);
    expect_positive("LshAttention: lsh.chunk_len", o.lsh.chunk_len);
    expect_not_negative("LshAttention: max_seq_len", o.max_seq_len);
    return o;
  }

  bool by_length() const noexcept { return options_.factors.empty(); }

  LshHashOptions draw() const {
    return {.factors = options_.factors,
            .rounds = options_.rounds,
            .heads = options_.heads,
            .head_dim = options_.head_dim,
            .seed = options_.seed,
            .layer = options_.layer};
  }

  static void visit_all(auto& self, auto&& visit) {
    visit_part("query_key", self.query_key_, visit);
    visit_part("value", self.value_, visit);
    visit_part("output", self.output_, visit);
  }

  LshAttentionOptions options_;
  Linear<Scalar> query_key_, value_, output_;
  LshRotations<Scalar> rotations_;
};

}  // namespace headwise::layer
