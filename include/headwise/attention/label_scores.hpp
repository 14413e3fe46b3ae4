#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace headwise {

/// ETC's labels of the distances -reach ... reach, of which those beyond `most` share one.
///
///     j - i >= 0:  min(j - i, most),        j - i < 0:  most + min(i - j, most)
///
/// -> 2 reach + 1 rows of a table of 2 most + 1 labels. Throws ShapeError when reach or most is negative.
/// Paper: Ainslie et al., "ETC: Encoding Long and Structured Inputs in Transformers", 2020, section 3.2.
inline std::vector<Index> distance_labels(Index reach, Index most) {
  expect_not_negative("distance_labels: reach", reach);
  expect_not_negative("distance_labels: most", most);
  std::vector<Index> labels;
  for (Index distance = -reach; distance <= reach; ++distance)
    labels.push_back((distance < 0 ? most : 0) + std::min(std::abs(distance), most));
  return labels;
}

namespace attention {

template <class Q, class T>
void check_label_scores(const Q& query, const T& table, std::span<const Index> labels, Index heads) {
  expect_positive("label_scores: heads", heads);
  expect_multiple("label_scores: query columns", query.cols(), heads, "heads");
  expect_equal("label_scores: table columns", table.cols(), query.cols(), "one vector a label and head");
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= table.rows())
      fail_shape("label_scores: labels[" + std::to_string(i) + "]", std::to_string(labels[i]),
                 "a row of the table, 0 to " + std::to_string(table.rows() - 1));
}

template <class Scalar>
Scalar label_scale(Index head_dim) {
  return Scalar(1) / Scalar(std::sqrt(math::real_of<Scalar>(head_dim)));
}

}  // namespace attention

/// How much each query has in common with each of the listed labels: the table of score::QueryDistance and
/// score::QueryChoice.
///
///     c(i, h W + w) = query_i,h . table_labels[w],h / sqrt(head_dim)
///
/// query [n, heads * head_dim], table [count, heads * head_dim], labels [W] rows of the table
/// -> [n, heads * W]. Throws ShapeError when the shapes do not fit, or a label is not a row of the table.
/// Cost: 2 n count head_dim FLOPs a head. Paper: Shaw et al., "Self-Attention with Relative Position
/// Representations", 2018, section 3.3.
template <RealMatrix Q, RealMatrix T>
requires SameScalar<Q, T> Matrix<scalar_of<Q>> label_scores(const Q& query, const T& table,
                                                            std::span<const Index> labels, Index heads = 1) {
  using Scalar = scalar_of<Q>;
  attention::check_label_scores(query, table, labels, heads);
  const Index dim = query.cols() / heads, width = Index(labels.size());
  const Scalar scale = attention::label_scale<Scalar>(dim);
  Matrix<Scalar> scores(query.rows(), heads * width);
  for (Index head = 0; head < heads; ++head) {
    const Matrix<Scalar> of_all =
        multiply_transposed(query.middleCols(head * dim, dim), table.middleCols(head * dim, dim));
    for (Index row = 0; row < query.rows(); ++row)
      for (Index w = 0; w < width; ++w)
        scores(row, head * width + w) = scale * of_all(row, labels[std::size_t(w)]);
  }
  return scores;
}

/// The gradients of label_scores.
template <class Scalar>
struct LabelScoreGradients {
  Matrix<Scalar> query, table;
};

/// The gradients of query and table, given that of label_scores(query, table, labels, heads): first those of
/// labels listed several times are summed, then both are products.
template <RealMatrix Q, RealMatrix T>
requires SameScalar<Q, T> LabelScoreGradients<scalar_of<Q>> label_scores_backward(
    const Q& query, const T& table, std::span<const Index> labels, const Matrix<scalar_of<Q>>& d_scores,
    Index heads = 1) {
  using Scalar = scalar_of<Q>;
  attention::check_label_scores(query, table, labels, heads);
  const Index dim = query.cols() / heads, width = Index(labels.size());
  expect_equal("label_scores_backward: rows of d_scores", d_scores.rows(), query.rows());
  expect_equal("label_scores_backward: columns of d_scores", d_scores.cols(), heads * width);
  const Scalar scale = attention::label_scale<Scalar>(dim);
  LabelScoreGradients<Scalar> g{Matrix<Scalar>(query.rows(), query.cols()),
                                Matrix<Scalar>(table.rows(), table.cols())};
  for (Index head = 0; head < heads; ++head) {
    Matrix<Scalar> d = Matrix<Scalar>::Zero(query.rows(), table.rows());
    for (Index row = 0; row < query.rows(); ++row)
      for (Index w = 0; w < width; ++w)
        d(row, labels[std::size_t(w)]) += scale * d_scores(row, head * width + w);
    g.query.middleCols(head * dim, dim) = multiply(d, table.middleCols(head * dim, dim));
    g.table.middleCols(head * dim, dim) =
        multiply(Matrix<Scalar>(d.transpose()), query.middleCols(head * dim, dim));
  }
  return g;
}

}  // namespace headwise
