#pragma once

#include <headwise/attention/linear_chunk.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace headwise {

/// Plain numbers that describe one call of `attend_linear`; names as in AttendOptions.
struct LinearOptions {
  Index heads = 1;                ///< query heads; a head is a block of query columns
  Index kv_heads = 0;             ///< key and value heads; 0 means as many as `heads`; divides `heads`
  std::optional<double> scale{};  ///< of the output; 1 / sqrt(head_dim) when not given
  RaggedRows rows{};              ///< sequences; the whole matrix when not given
  Executor executor{};            ///< serial when not given; its tasks are key-value heads of sequences
};

/// How a state forgets and corrects itself. Each part may be left empty, which makes four rules: sum, gated,
/// delta and gated delta.
template <class Scalar>
struct LinearRule {
  /// The logarithm of what a token leaves of the state, at most 0 unless it shall grow; -inf forgets all.
  /// [rows, kv_heads], or a number for each key feature [rows, kv_heads * head_dim].
  Matrix<Scalar> decay{};
  /// The part of its error that a token corrects, 0 to 1: [rows, kv_heads], or [rows, 1] for all heads.
  Matrix<Scalar> beta{};
};

namespace attention {

/// One call of linear attention, checked: where each head of each sequence finds its rows. Refers to its
/// arguments' memory.
template <class Scalar>
class LinearCall {
 public:
  /// Throws ShapeError that names argument, value, expectation and remedy.
  LinearCall(const ConstMatrixRef<Scalar>& query, const ConstMatrixRef<Scalar>& key,
             const ConstMatrixRef<Scalar>& value, const LinearOptions& options,
             const LinearRule<Scalar>& rule, const Matrix<Scalar>& state)
      : query_(query), key_(key), value_(value), options_(options), rule_(rule), state_(state) {
    check_heads();
    expect_equal("attend_linear: key rows", key.rows(), query.rows(),
                 "a token has a query, a key and a value");
    expect_equal("attend_linear: value rows", value.rows(), key.rows(), "one value a key");
    rows_ = options.rows.over(query.rows(), "attend_linear: query");
    check_rule();
    if (options.scale && !std::isfinite(*options.scale))
      fail_shape("attend_linear: scale", std::to_string(*options.scale), "a finite number");
    check_state("attend_linear: state", state);
  }

  Index heads() const noexcept { return options_.heads; }
  Index kv_heads() const noexcept { return options_.kv_heads == 0 ? options_.heads : options_.kv_heads; }
  Index group() const noexcept { return heads() / kv_heads(); }
  Index head_dim() const noexcept { return query_.cols() / heads(); }
  Index value_dim() const noexcept { return value_.cols() / kv_heads(); }
  Index state_rows() const noexcept { return rows_.sequences() * kv_heads() * head_dim(); }
  Scalar scale() const {
    return options_.scale ? Scalar(*options_.scale)
                          : Scalar(1) / Scalar(std::sqrt(math::real_of<Scalar>(head_dim())));
  }

  /// A state, or the gradient of one, has the shape that this call needs; an empty one means zeros.
  void check_state(const std::string& what, const Matrix<Scalar>& state) const {
    if (state.rows() == 0 && state.cols() == 0) return;
    expect_equal(what + " rows", state.rows(), state_rows(), "sequences * kv_heads * head_dim");
    expect_equal(what + " columns", state.cols(), value_dim(), "value_dim");
  }

  /// One key-value head of one sequence.
  struct Task {
    Index kv_head;
    Range rows;       ///< of the caller's matrices
    Index state_row;  ///< the first of head_dim
  };

  /// body(task) for each, by the executor.
  template <class Body>
  void for_each_task(Body&& body) const {
    options_.executor(rows_.sequences() * kv_heads(), [&](Index i) {
      body(Task{i % kv_heads(), rows_[i / kv_heads()], i * head_dim()});
    });
  }

  static Index chunks(const Task& task) noexcept {
    return (task.rows.size() + linear_chunk_len - 1) / linear_chunk_len;
  }
  static Range chunk_rows(const Task& task, Index chunk) noexcept {
    const Index begin = task.rows.begin + chunk * linear_chunk_len;
    return {begin, std::min(begin + linear_chunk_len, task.rows.end)};
  }

  LinearChunk<Scalar> chunk(const Task& task, Range rows) const {
    LinearChunk<Scalar> chunk{of_head(key_, rows, task.kv_head, head_dim()),
                              of_head(value_, rows, task.kv_head, value_dim()),
                              {},
                              {}};
    if (const Index width = rule_.decay.cols() / kv_heads(); width > 0)
      chunk.gates = LinearGates<Scalar>(of_head<Matrix<Scalar>>(rule_.decay, rows, task.kv_head, width));
    if (rule_.beta.cols() > 0)
      chunk.beta = rule_.beta.block(rows.begin, beta_is_shared() ? 0 : task.kv_head, rows.size(), 1);
    return chunk;
  }
  bool beta_is_shared() const noexcept { return rule_.beta.cols() == 1; }

  HeadRows<Scalar> query(Range rows, Index head) const { return of_head(query_, rows, head, head_dim()); }

  Matrix<Scalar> first_state(const Task& task) const {
    if (state_.size() == 0) return Matrix<Scalar>::Zero(head_dim(), value_dim());
    return state_.middleRows(task.state_row, head_dim());
  }

 private:
  template <class X>
  static HeadRows<Scalar> of_head(const X& x, Range rows, Index head, Index dim) {
    return {x.data() + rows.begin * x.outerStride() + head * dim, rows.size(), dim,
            Eigen::OuterStride<>(x.outerStride())};
  }

  void check_heads() const {
    expect_positive("attend_linear: heads", heads());
    expect_not_negative("attend_linear: kv_heads", options_.kv_heads, "0 means as many as heads");
    expect_multiple("attend_linear: heads", heads(), kv_heads(), "kv_heads");
    expect_positive("attend_linear: query columns", query_.cols(), "a row holds heads * head_dim numbers");
    expect_multiple("attend_linear: query columns", query_.cols(), heads(), "heads");
    expect_multiple("attend_linear: key columns", key_.cols(), kv_heads(), "kv_heads",
                    "set .kv_heads for grouped keys");
    expect_equal("attend_linear: head_dim of key", key_.cols() / kv_heads(), head_dim(),
                 "query and key have heads of one size; set .heads and .kv_heads");
    expect_multiple("attend_linear: value columns", value_.cols(), kv_heads(), "kv_heads");
  }

  void check_rule() const {
    const Index decays = rule_.decay.cols(), features = kv_heads() * head_dim(), betas = rule_.beta.cols();
    if (decays > 0) {
      expect_equal("attend_linear: decay rows", rule_.decay.rows(), key_.rows(), "one a token");
      if (decays != kv_heads() && decays != features) {
        fail_shape("attend_linear: decay columns", std::to_string(decays),
                   std::to_string(kv_heads()) + " or " + std::to_string(features),
                   "kv_heads, or a number for each key feature");
      }
    }
    if (betas > 0) {
      expect_equal("attend_linear: beta rows", rule_.beta.rows(), key_.rows(), "one a token");
      if (betas != 1 && betas != kv_heads())
        fail_shape("attend_linear: beta columns", std::to_string(betas), "1 or " + std::to_string(kv_heads()),
                   "one for all heads, or kv_heads");
    }
  }

  const ConstMatrixRef<Scalar>&query_, &key_, &value_;
  const LinearOptions& options_;
  const LinearRule<Scalar>& rule_;
  const Matrix<Scalar>& state_;
  RaggedRows rows_;
};

}  // namespace attention

}  // namespace headwise
