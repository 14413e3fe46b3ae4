#pragma once

#include <headwise/attention/sinkhorn_sort.hpp>
#include <headwise/core/product.hpp>

namespace headwise {

/// What stands for the queries of a block when blocks are compared.
enum class BlockQuery {
  mean,     ///< of the block
  leading,  ///< the mean of all queries up to the block's first: knows no later token
  whole     ///< the mean of the sequence, one row for all blocks
};

namespace attention {

/// The number of tokens whose mean a row of descriptors is.
inline Index tokens_of(Index row, Index length, Index block_len, BlockQuery kind) noexcept {
  return kind == BlockQuery::whole ? length : kind == BlockQuery::leading ? row * block_len + 1 : block_len;
}

/// The means that stand for the blocks of one head of one sequence.   x [n, dim] -> [rows, dim]
template <class X>
Matrix<scalar_of<X>> descriptors(const X& x, Index block_len, BlockQuery kind) {
  using Real = math::real_of<scalar_of<X>>;
  const Index blocks = x.rows() / block_len;
  Matrix<scalar_of<X>> means = Matrix<scalar_of<X>>::Zero(kind == BlockQuery::whole ? 1 : blocks, x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Index block = i / block_len, row = kind == BlockQuery::whole ? 0 : block;
    if (kind != BlockQuery::leading) {
      means.row(row) += x.row(i);
    } else if (i % block_len == 0) {
      means.row(block) += x.row(i);
    } else if (block + 1 < blocks) {
      means.row(block + 1) += x.row(i);
    }
  }
  if (kind == BlockQuery::leading)
    for (Index row = 1; row < means.rows(); ++row) means.row(row) += means.row(row - 1);
  for (Index row = 0; row < means.rows(); ++row)
    if (const Index tokens = tokens_of(row, x.rows(), block_len, kind); tokens > 0)
      means.row(row) /= scalar_of<X>(Real(tokens));
  return means;
}

/// The gradient of x, given that of descriptors(x, ...).   d [rows, dim] -> [n, dim]
template <class Scalar>
Matrix<Scalar> descriptors_backward(const Matrix<Scalar>& d, Index length, Index block_len, BlockQuery kind) {
  using Real = math::real_of<Scalar>;
  Matrix<Scalar> share = d, result(length, d.cols());
  for (Index row = 0; row < share.rows(); ++row)
    if (const Index tokens = tokens_of(row, length, block_len, kind); tokens > 0)
      share.row(row) /= Scalar(Real(tokens));
  if (kind == BlockQuery::leading)  // a token is in its own block's mean if it is the first, and in all later
    for (Index row = share.rows() - 1; row > 0; --row) share.row(row - 1) += share.row(row);
  for (Index i = 0; i < length; ++i) {
    const Index block = i / block_len, later = i % block_len == 0 ? block : block + 1;
    const Index row = kind == BlockQuery::whole ? 0 : kind == BlockQuery::mean ? block : later;
    if (row < share.rows()) {
      result.row(i) = share.row(row);
    } else {
      result.row(i).setZero();
    }
  }
  return result;
}

/// The sequences of a call, each a multiple of the block's length.
inline RaggedRows block_rows(const char* what, Index rows, Index block_len, const RaggedRows& batch) {
  const std::string name(what);
  expect_positive(name + ": block_len", block_len);
  const RaggedRows result = batch.over(rows, name + ": query");
  for (Index s = 0; s < result.sequences(); ++s)
    expect_multiple(name + ": length of sequence " + std::to_string(s), result[s].size(), block_len,
                    "block_len", "this pattern cuts a sequence into equal blocks");
  return result;
}

template <class Q, class K>
void check_block_scores(const Q& query, const K& key, Index heads) {
  expect_positive("block_scores: heads", heads);
  expect_multiple("block_scores: query columns", query.cols(), heads, "heads");
  expect_equal("block_scores: key columns", key.cols(), query.cols());
  expect_equal("block_scores: key rows", key.rows(), query.rows(), "tokens look at each other");
}

}  // namespace attention

/// How much each block of queries has in common with each block of keys.
///
///     R(B, C) = q_B . mean of keys in C / sqrt(head_dim)
///
/// query, key [n, heads * head_dim] -> one matrix [blocks, blocks] for each head of each sequence, or [1,
/// blocks] for BlockQuery::whole. Throws ShapeError when a sequence is no multiple of block_len.
/// Cost: O((n + blocks^2) head_dim) a head.
template <RealMatrix Q, RealMatrix K>
requires SameScalar<Q, K> BlockMatrices<scalar_of<Q>> block_scores(const Q& query, const K& key,
                                                                   Index block_len, Index heads = 1,
                                                                   BlockQuery kind = BlockQuery::mean,
                                                                   const RaggedRows& batch = {}) {
  using Scalar = scalar_of<Q>;
  attention::check_block_scores(query, key, heads);
  const RaggedRows rows = attention::block_rows("block_scores", query.rows(), block_len, batch);
  const Index dim = query.cols() / heads;
  const Scalar scale = Scalar(1) / Scalar(std::sqrt(math::real_of<Scalar>(dim)));
  BlockMatrices<Scalar> scores;
  for (Index s = 0; s < rows.sequences(); ++s) {
    const Range r = rows[s];
    for (Index head = 0; head < heads; ++head) {
      const Matrix<Scalar> q =
          attention::descriptors(query.block(r.begin, head * dim, r.size(), dim), block_len, kind);
      const Matrix<Scalar> k =
          attention::descriptors(key.block(r.begin, head * dim, r.size(), dim), block_len, BlockQuery::mean);
      scores.push_back(scale * multiply_transposed(q, k));
    }
  }
  return scores;
}

/// The gradients of query and key, given those of block_scores(query, key, ...).
template <class Scalar>
struct BlockScoreGradients {
  Matrix<Scalar> query, key;
};

template <RealMatrix Q, RealMatrix K>
requires SameScalar<Q, K> BlockScoreGradients<scalar_of<Q>> block_scores_backward(
    const Q& query, const K& key, const BlockMatrices<scalar_of<Q>>& d_scores, Index block_len,
    Index heads = 1, BlockQuery kind = BlockQuery::mean, const RaggedRows& batch = {}) {
  using Scalar = scalar_of<Q>;
  attention::check_block_scores(query, key, heads);
  const RaggedRows rows = attention::block_rows("block_scores", query.rows(), block_len, batch);
  expect_equal("block_scores_backward: d_scores", Index(d_scores.size()), rows.sequences() * heads,
               "one matrix a sequence and head");
  const Index dim = query.cols() / heads;
  const Scalar scale = Scalar(1) / Scalar(std::sqrt(math::real_of<Scalar>(dim)));
  BlockScoreGradients<Scalar> g{Matrix<Scalar>::Zero(query.rows(), query.cols()),
                                Matrix<Scalar>::Zero(key.rows(), key.cols())};
  for (Index s = 0; s < rows.sequences(); ++s) {
    const Range r = rows[s];
    for (Index head = 0; head < heads; ++head) {
      const Matrix<Scalar> d = scale * d_scores[std::size_t(s * heads + head)];
      const Matrix<Scalar> q =
          attention::descriptors(query.block(r.begin, head * dim, r.size(), dim), block_len, kind);
      const Matrix<Scalar> k =
          attention::descriptors(key.block(r.begin, head * dim, r.size(), dim), block_len, BlockQuery::mean);
      g.query.block(r.begin, head * dim, r.size(), dim) =
          attention::descriptors_backward(multiply(d, k), r.size(), block_len, kind);
      g.key.block(r.begin, head * dim, r.size(), dim) = attention::descriptors_backward(
          multiply(Matrix<Scalar>(d.transpose()), q), r.size(), block_len, BlockQuery::mean);
    }
  }
  return g;
}

}  // namespace headwise
