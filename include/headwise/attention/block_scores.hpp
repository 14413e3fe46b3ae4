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

/// weights [rows, n]: how each row of descriptors is made of tokens, so that both directions are one product.
template <class Scalar>
Matrix<Scalar> descriptor_weights(Index length, Index block_len, BlockQuery kind) {
  using Real = math::real_of<Scalar>;
  const Index blocks = length / block_len;
  Matrix<Scalar> weights = Matrix<Scalar>::Zero(kind == BlockQuery::whole ? 1 : blocks, length);
  for (Index row = 0; row < weights.rows(); ++row) {
    const Range tokens = kind == BlockQuery::whole     ? Range{0, length}
                         : kind == BlockQuery::leading ? Range{0, row * block_len + 1}
                                                       : Range{row * block_len, (row + 1) * block_len};
    for (Index i = tokens.begin; i < tokens.end; ++i) weights(row, i) = Scalar(Real(1) / Real(tokens.size()));
  }
  return weights;
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
/// Cost: O(n blocks head_dim) a head.
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
    const auto of_query = attention::descriptor_weights<Scalar>(r.size(), block_len, kind);
    const auto of_key = attention::descriptor_weights<Scalar>(r.size(), block_len, BlockQuery::mean);
    for (Index head = 0; head < heads; ++head) {
      const Matrix<Scalar> q = multiply(of_query, query.block(r.begin, head * dim, r.size(), dim));
      const Matrix<Scalar> k = multiply(of_key, key.block(r.begin, head * dim, r.size(), dim));
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
    const auto of_query = attention::descriptor_weights<Scalar>(r.size(), block_len, kind);
    const auto of_key = attention::descriptor_weights<Scalar>(r.size(), block_len, BlockQuery::mean);
    for (Index head = 0; head < heads; ++head) {
      const Matrix<Scalar> d = scale * d_scores[std::size_t(s * heads + head)];
      const Matrix<Scalar> q = multiply(of_query, query.block(r.begin, head * dim, r.size(), dim));
      const Matrix<Scalar> k = multiply(of_key, key.block(r.begin, head * dim, r.size(), dim));
      g.query.block(r.begin, head * dim, r.size(), dim) =
          multiply(Matrix<Scalar>(of_query.transpose()), multiply(d, k));
      g.key.block(r.begin, head * dim, r.size(), dim) =
          multiply(Matrix<Scalar>(of_key.transpose()), multiply(Matrix<Scalar>(d.transpose()), q));
    }
  }
  return g;
}

}  // namespace headwise
