#pragma once

#include <headwise/core/error.hpp>
#include <headwise/layer/initial.hpp>
#include <headwise/layer/ops.hpp>
#include <headwise/layer/weight.hpp>

namespace headwise::layer {

struct EmbeddingOptions {
  Index count = 0;  ///< rows of the table: tokens, positions or kinds
  Index width = 0;  ///< d_model
};

/// Embedding: a learned row for each of `count` ids; as an output layer, the scores of all ids.
///
///     E[ids]           embeds         E: [count, width]
///     x + E[ids]       adds, for positions and kinds of token
///     x E^T            scores, the output layer tied to the input
///
/// Paper: Press and Wolf, "Using the Output Embedding to Improve Language Models", 2017, for the tied form.
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
requires Factor<Weight_, Scalar_>
class Embedding {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;

  /// Throws ShapeError when count or width is not positive.
  Embedding(const EmbeddingOptions& options, const Initial& initial) : options_(options) {
    expect_positive("Embedding: count", options.count);
    expect_positive("Embedding: width", options.width);
    weight_ = detail::new_table<Weight>(initial, options.count, options.width);
  }

  /// ids [n] -> [n, width]. Throws ShapeError, naming the id, when one is not in [0, count).
  auto operator()(const auto& ids) const { return embed(weight_, ids); }

  /// x [n, width], ids [n] -> [n, width]. Throws ShapeError as above, or when the lengths differ.
  auto added_to(const Sequence auto& x, const auto& ids) const { return add_embedding(x, weight_, ids); }

  /// x [n, width] -> [n, count], the same bits for any executor. Throws ShapeError when x is not `width`
  /// wide.
  auto scores(const Sequence auto& x, const Executor& executor = {}) const {
    expect_equal("Embedding: columns of x", x.cols(), options_.width);
    return on_threads::multiply_transposed(executor, x, weight_);
  }

  /// Visits weight [count, width].
  void for_each_parameter(auto&& visit) { visit("weight", weight_); }
  void for_each_parameter(auto&& visit) const { visit("weight", weight_); }

  const EmbeddingOptions& options() const noexcept { return options_; }
  const Matrix<Scalar>& weight() const noexcept { return weight_.value; }

 private:
  EmbeddingOptions options_;
  Weight weight_;
};

}  // namespace headwise::layer
