#pragma once

#include <headwise/attention/longformer.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/layer/part.hpp>
#include <headwise/layer/rows.hpp>

#include <span>
#include <vector>

namespace headwise::layer {

struct LongformerAttentionOptions {
  Index d_model = 0;
  Index heads = 1;
  bool bias = true;  ///< of all projections
};

/// Longformer's self-attention: a window for most tokens, and global tokens with projections of their own.
///
///     rows that are not global:  attend(x Wq, x Wk, x Wv)   within the window and to global tokens
///     global rows:               attend(x Wqg, x Wkg, x Wvg)   to all tokens
///
/// then the output projection. Query projections of global tokens are made for those rows only. Cost: five
/// projections of all rows and those of attend_longformer. Paper: Beltagy et al., "Longformer: The
/// Long-Document Transformer", 2020, section 3.1, "Linear Projections for Global Attention".
template <class Scalar_ = float>
class LongformerAttention {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError unless heads divides d_model.
  LongformerAttention(const LongformerAttentionOptions& options, const Initial& initial)
      : options_(checked(options)),
        query_(linear(), initial),
        key_(linear(), initial),
        value_(linear(), initial),
        global_query_(linear(), initial),
        global_key_(linear(), initial),
        global_value_(linear(), initial),
        output_(linear(), initial) {}

  /// x [n, d_model] -> [n, d_model]. Throws ShapeError as attend_longformer does.
  template <Sequence X, class Mask = mask::None, class Score = score::None>
  auto operator()(const X& x, const LongformerPattern& pattern, const AttendOptions& options = {},
                  const Mask& mask = {}, const Score& score = {}) const {
    if (options.heads != 1)
      expect_equal("LongformerAttention: heads of the call", options.heads, options_.heads);
    AttendOptions call = options;
    call.heads = options_.heads;
    attention::check_longformer(pattern, call, x.rows(), x.rows());
    const attention::LongformerPlans plans(pattern, call.query_rows.over(x.rows(), "Longformer: x"));
    const attention::LongformerWindow window(pattern);
    const Executor& executor = call.executor;
    const auto local = attend_over(plans.local, query_(x, executor), key_(x, executor), value_(x, executor),
                                   call, mask::operator&&(window, mask), score)
                           .output;
    const std::vector<Index> rows = global_rows(pattern);
    if (rows.empty()) return output_(local, executor);
    const auto global = attend_over(plans.global, global_queries(x, rows, executor), global_key_(x, executor),
                                    global_value_(x, executor), call, mask, score)
                            .output;
    // Each is zero where the other is not.
    return output_(on_threads::add(executor, local, global), executor);
  }

  /// Visits query.*, key.*, value.*, global_query.*, global_key.*, global_value.*, output.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const LongformerAttentionOptions& options() const noexcept { return options_; }

 private:
  static std::vector<Index> global_rows(const LongformerPattern& pattern) {
    std::vector<Index> rows;
    for (Index row = 0; row < Index(pattern.global.size()); ++row)
      if (pattern.is_global(row)) rows.push_back(row);
    return rows;
  }

  /// The projections of the listed rows in their places, zeros in all others.
  auto global_queries(const Sequence auto& x, const std::vector<Index>& rows,
                      const Executor& executor) const {
    std::vector<Index> source(std::size_t(x.rows()), Index(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) source[std::size_t(rows[i])] = Index(i);
    const auto projected = global_query_(gather_rows(x, std::span<const Index>(rows)), executor);
    const Matrix<Scalar> zero = Matrix<Scalar>::Zero(1, options_.d_model);
    return gather_rows(concatenate_rows(projected, zero), std::span<const Index>(source));
  }

  static const LongformerAttentionOptions& checked(const LongformerAttentionOptions& o) {
    expect_positive("LongformerAttention: d_model", o.d_model);
    expect_positive("LongformerAttention: heads", o.heads);
    expect_multiple("LongformerAttention: d_model", o.d_model, o.heads, "heads");
    return o;
  }

  LinearOptions linear() const noexcept {
    return {.in = options_.d_model, .out = options_.d_model, .bias = options_.bias};
  }

  static void visit_all(auto& self, auto&& visit) {
    visit_part("query", self.query_, visit);
    visit_part("key", self.key_, visit);
    visit_part("value", self.value_, visit);
    visit_part("global_query", self.global_query_, visit);
    visit_part("global_key", self.global_key_, visit);
    visit_part("global_value", self.global_value_, visit);
    visit_part("output", self.output_, visit);
  }

  LongformerAttentionOptions options_;
  Linear<Scalar> query_, key_, value_, global_query_, global_key_, global_value_, output_;
};

}  // namespace headwise::layer
