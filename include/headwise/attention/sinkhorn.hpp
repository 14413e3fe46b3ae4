#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/block_scores.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/product.hpp>

#include <utility>
#include <vector>

namespace headwise {

/// Who looks at the sorted blocks.
enum class SinkhornReach {
  own_blocks,  ///< block B at its own: rows B n to B n + n - 1 of the weights
  all_blocks   ///< every block at all of them: SortCut
};

namespace attention {

/// The pairs of a sequence's tokens that a mask allows, and all pairs with sorted tokens, which stand behind
/// them. Refers to the mask.
template <MaskPolicy Mask>
class SortedPairs {
 public:
  static constexpr bool reads_query = false;
  static constexpr bool reads_head = depends_on_head<Mask>();

  SortedPairs(const RaggedRows& rows, const Mask& mask) : rows_(&rows), mask_(&mask) {}

  template <class Test>
  struct Bound {
    Position length;
    Test mask;

    bool allows(Place query, Place key) const {
      return key.row >= length || headwise::allows(mask, query, key);
    }
    Coverage coverage(const PlaceTile& tile) const {
      const Range keys = tile.rows.keys;
      if (keys.begin >= length) return Coverage::full;
      if (keys.end > length) return Coverage::partial;
      const Tile rows{tile.rows.queries, keys};
      return coverage_of(mask, PlaceTile{rows, rows});
    }
  };

  void check(const Context& context) const { check_mask(*mask_, tokens(context)); }
  auto bind(const Context& context) const {
    return Bound<BoundMask<Mask>>{Position((*rows_)[context.sequence].size()),
                                  bind_mask(*mask_, tokens(context))};
  }

 private:
  Context tokens(Context context) const {
    const Range rows = (*rows_)[context.sequence];
    context.query_rows = context.key_rows = rows;
    context.relative = {1 - rows.size(), rows.size()};
    return context;
  }

  const RaggedRows* rows_;
  const Mask* mask_;
};

/// The learned block for blocks to which none is sorted: tokens, each with the keys and values of all heads.
template <class Scalar>
struct NullBlock {
  Matrix<Scalar> key, value;
};

/// One call of Sinkhorn attention: keys and values with the sorted ones behind them, then those of the null
/// block, if there is one, and a plan of one item a block.
template <class Scalar, class Mask>
class SinkhornCall {
 public:
  template <class Q, class K, class V>
  SinkhornCall(const Q& query, const K& key, const V& value, const BlockMatrices<Scalar>& weights,
               Index block_len, SinkhornReach reach, const AttendOptions& given, const Mask& mask,
               const NullBlock<Scalar>* null = nullptr)
      : weights_(weights), block_len_(block_len), reach_(reach), options_(given), mask_(mask) {
    check(query, key, value);
    if (null != nullptr) {
      expect_positive("attend_sinkhorn: rows of null_key", null->key.rows(),
                      "leave it out for no null block");
      expect_equal("attend_sinkhorn: rows of null_value", null->value.rows(), null->key.rows(),
                   "one value a key");
      expect_equal("attend_sinkhorn: columns of null_key", null->key.cols(), key.cols(), "as key");
      expect_equal("attend_sinkhorn: columns of null_value", null->value.cols(), value.cols(), "as value");
      null_len_ = null->key.rows();
    }
    std::vector<Index> lengths;
    for (Index s = 0; s < rows_.sequences(); ++s) {
      lengths.push_back(rows_[s].size() + weight(s, 0).rows() * block_len_ + null_len_);
      for (Index head = 0; head < given.heads; ++head) plans_.plans.push_back(plan(s, head));
    }
    plans_.sequences = rows_.sequences();
    plans_.heads = given.heads;
    key_rows_ = RaggedRows::from_lengths(lengths);
    options_.query_rows = rows_;
    options_.key_rows = key_rows_;
    key_ = with_sorted(key, null == nullptr ? nullptr : &null->key);
    value_ = with_sorted(value, null == nullptr ? nullptr : &null->value);
  }

  const Matrix<Scalar>& key() const noexcept { return key_; }
  const Matrix<Scalar>& value() const noexcept { return value_; }
  const Plans& plans() const noexcept { return plans_; }
  const AttendOptions& options() const noexcept { return options_; }
  SortedPairs<Mask> pairs() const { return {rows_, mask_}; }

  /// Gradients of all rows become those of the tokens; those of the weights are added.
  Matrix<Scalar> pulled_back(const ConstMatrixRef<Scalar>& x, const Matrix<Scalar>& d_all,
                             BlockMatrices<Scalar>& d_weights) const {
    Matrix<Scalar> d(x.rows(), x.cols());
    const Index dim = x.cols() / options_.heads;
    for (Index s = 0; s < rows_.sequences(); ++s) {
      d.middleRows(rows_[s].begin, rows_[s].size()) = d_all.middleRows(key_rows_[s].begin, rows_[s].size());
      for (Index head = 0; head < options_.heads; ++head) {
        const Matrix<Scalar>& w = weight(s, head);
        if (w.size() == 0) continue;
        const Matrix<Scalar> d_sorted = blocks_of(d_all, sorted_rows(s), head * dim, dim);
        d_weights[std::size_t(s * options_.heads + head)] +=
            multiply_transposed(d_sorted, blocks_of(x, rows_[s], head * dim, dim));
        pull_back(w, d_sorted, d.block(rows_[s].begin, head * dim, rows_[s].size(), dim));
      }
    }
    return d;
  }

  /// Gradients of the null block's tokens, given those of all rows.
  Matrix<Scalar> pulled_back_to_null(const Matrix<Scalar>& d_all) const {
    Matrix<Scalar> d = Matrix<Scalar>::Zero(null_len_, d_all.cols());
    for (Index s = 0; s < rows_.sequences(); ++s) d += d_all.middleRows(sorted_rows(s).end, null_len_);
    return d;
  }

 private:
  const Matrix<Scalar>& weight(Index sequence, Index head) const {
    return weights_[std::size_t(sequence * options_.heads + head)];
  }

  template <class Q, class K, class V>
  void check(const Q& query, const K& key, const V& value) {
    const AttendOptions& o = options_;
    expect_positive("attend_sinkhorn: heads", o.heads);
    if (o.kv_heads != 0)
      expect_equal("attend_sinkhorn: kv_heads", o.kv_heads, o.heads, "every head sorts for itself");
    if (o.query_offset || !o.query_positions.empty() || !o.key_rows.whole()) {
      throw ShapeError(
          "attend_sinkhorn: query_offset, positions or key_rows are given, expected none of them; tokens "
          "look "
          "at each other, and blocks are of rows");
    }
    expect_multiple("attend_sinkhorn: key columns", key.cols(), o.heads, "heads");
    expect_multiple("attend_sinkhorn: value columns", value.cols(), o.heads, "heads");
    expect_equal("attend_sinkhorn: key rows", key.rows(), query.rows(), "tokens look at each other");
    expect_equal("attend_sinkhorn: value rows", value.rows(), key.rows(), "one value a key");
    rows_ = block_rows("attend_sinkhorn", query.rows(), block_len_, o.query_rows);
    expect_equal("attend_sinkhorn: weights", Index(weights_.size()), rows_.sequences() * o.heads,
                 "one matrix a sequence and head");
    for (Index s = 0; s < rows_.sequences(); ++s) {
      const Index blocks = rows_[s].size() / block_len_;
      for (Index head = 0; head < o.heads; ++head) {
        expect_equal("attend_sinkhorn: columns of weights", weight(s, head).cols(), blocks, "one a block");
        expect_equal("attend_sinkhorn: rows of weights", weight(s, head).rows(), weight(s, 0).rows(),
                     "alike for all heads of a sequence");
        if (reach_ == SinkhornReach::own_blocks && (blocks > 0 || weight(s, head).rows() > 0))
          expect_multiple("attend_sinkhorn: rows of weights", weight(s, head).rows(), blocks, "blocks");
      }
    }
  }

  Plan plan(Index sequence, Index head) const {
    const Matrix<Scalar>& weights = weight(sequence, head);
    const Index length = rows_[sequence].size(), blocks = length / block_len_;
    const bool all = reach_ == SinkhornReach::all_blocks;
    const Index each = all || blocks == 0 ? weights.rows() : weights.rows() / blocks;
    Plan plan;
    for (Index block = 0; block < blocks; ++block) {
      std::vector<Index> keys;
      for (Index row = all ? 0 : block * each; row < (all ? each : (block + 1) * each); ++row) {
        if (weights.row(row).cwiseAbs().sum() == 0) continue;  // made of nothing
        for (Index t = 0; t < block_len_; ++t) keys.push_back(length + row * block_len_ + t);
      }
      if (keys.empty())  // nothing was sorted to it
        for (Index t = 0; t < null_len_; ++t) keys.push_back(length + weights.rows() * block_len_ + t);
      const Range own{block * block_len_, (block + 1) * block_len_};
      for (Index t = own.begin; t < own.end; ++t) keys.push_back(t);
      plan.items.push_back({RowList::contiguous(own), RowList::of(std::move(keys))});
    }
    return plan;
  }

  /// Where the sorted blocks of a sequence lie, behind its tokens.
  Range sorted_rows(Index sequence) const {
    return {key_rows_[sequence].begin + rows_[sequence].size(), key_rows_[sequence].end - null_len_};
  }

  /// One head of some rows, a block of tokens a row.   -> [rows / block_len, block_len * dim]
  Matrix<Scalar> blocks_of(const ConstMatrixRef<Scalar>& x, Range rows, Index column, Index dim) const {
    Matrix<Scalar> blocks(rows.size() / block_len_, block_len_ * dim);
    Eigen::Map<Matrix<Scalar>>(blocks.data(), rows.size(), dim) =
        x.block(rows.begin, column, rows.size(), dim);
    return blocks;
  }
  static auto as_rows(const Matrix<Scalar>& blocks, Index rows, Index dim) {
    return Eigen::Map<const Matrix<Scalar>>(blocks.data(), rows, dim);
  }

  /// True where most weights are zero, as those of best_blocks are: then blocks are copied, not multiplied.
  static bool is_sparse(const Matrix<Scalar>& weights) {
    Index used = 0;
    for (Index i = 0; i < weights.size(); ++i) used += weights.data()[i] != Scalar(0) ? 1 : 0;
    constexpr Index seldom = 16;
    return used <= weights.size() / seldom;
  }

  /// d += weights^T d_sorted, of one head of one sequence.
  void pull_back(const Matrix<Scalar>& weights, const Matrix<Scalar>& d_sorted, MatrixRef<Scalar> d) const {
    if (!is_sparse(weights)) {
      const Matrix<Scalar> tokens = multiply(Matrix<Scalar>(weights.transpose()), d_sorted);
      d += as_rows(tokens, d.rows(), d.cols());
      return;
    }
    const auto from = as_rows(d_sorted, weights.rows() * block_len_, d.cols());
    for (Index row = 0; row < weights.rows(); ++row)
      for (Index block = 0; block < weights.cols(); ++block)
        if (const Scalar& w = weights(row, block); w != Scalar(0))
          d.middleRows(block * block_len_, block_len_) += w * from.middleRows(row * block_len_, block_len_);
  }

  /// sorted = weights tokens, block by block, of one head of one sequence.
  void sort(const Matrix<Scalar>& weights, const ConstMatrixRef<Scalar>& tokens,
            MatrixRef<Scalar> sorted) const {
    if (!is_sparse(weights)) {
      const Matrix<Scalar> blocks =
          multiply(weights, blocks_of(tokens, {0, tokens.rows()}, 0, tokens.cols()));
      sorted = as_rows(blocks, sorted.rows(), sorted.cols());
      return;
    }
    for (Index row = 0; row < weights.rows(); ++row) {
      auto to = sorted.middleRows(row * block_len_, block_len_);
      bool begun = false;
      for (Index block = 0; block < weights.cols(); ++block) {
        const Scalar& w = weights(row, block);
        if (w == Scalar(0)) continue;
        const auto from = tokens.middleRows(block * block_len_, block_len_);
        if (begun) {
          to += w * from;
        } else {
          to = w * from;
        }
        begun = true;
      }
      if (!begun) to.setZero();
    }
  }

  Matrix<Scalar> with_sorted(const ConstMatrixRef<Scalar>& x, const Matrix<Scalar>* null) const {
    Matrix<Scalar> all(key_rows_.rows(), x.cols());
    const Index dim = x.cols() / options_.heads;
    for (Index s = 0; s < rows_.sequences(); ++s) {
      all.middleRows(key_rows_[s].begin, rows_[s].size()) = x.middleRows(rows_[s].begin, rows_[s].size());
      const Range to = sorted_rows(s);
      if (null != nullptr) all.middleRows(to.end, null_len_) = *null;
      for (Index head = 0; head < options_.heads; ++head) {
        auto sorted_head = all.block(to.begin, head * dim, to.size(), dim);
        if (weight(s, head).size() == 0) {
          sorted_head.setZero();
          continue;
        }
        sort(weight(s, head), x.block(rows_[s].begin, head * dim, rows_[s].size(), dim), sorted_head);
      }
    }
    return all;
  }

  const BlockMatrices<Scalar>& weights_;
  Index block_len_, null_len_ = 0;
  SinkhornReach reach_;
  AttendOptions options_;
  const Mask& mask_;
  RaggedRows rows_, key_rows_;
  Plans plans_;
  Matrix<Scalar> key_, value_;
};

}  // namespace attention

/// Sparse Sinkhorn attention: a block looks at itself, and at a block that was sorted to it.
///
///     K~_B = sum over C of S(B, C) K_C,   V~_B alike;    o = softmax over [K~_B; K_B] of the values [V~_B;
///     V_B]
///
/// query, key [n, heads * head_dim], value [n, heads * value_dim]; weights S: a matrix for each head of each
/// sequence, from sinkhorn (one row a block) or best_blocks (n rows a block). With SinkhornReach::all_blocks
/// every block looks at all sorted blocks (SortCut). Sorted tokens come as a second source of keys behind the
/// tokens, and the fused kernel runs one item a block. `mask` hides pairs within a block; sorted tokens are
/// never masked: with causal weights and Causal nothing depends on later tokens. A row of weights that are
/// all zero gives no block, so that of causal weights the first block looks at itself only. Throws ShapeError
/// when a sequence is no multiple of block_len, or the weights do not fit. Cost: 2 n block_len pairs for one
/// sorted block each, and O(n blocks head_dim) for sorting. Paper: Tay et al., "Sparse Sinkhorn Attention",
/// 2020, section 3.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask = mask::None>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_sinkhorn(
    const Q& query, const K& key, const V& value, const BlockMatrices<scalar_of<Q>>& weights, Index block_len,
    SinkhornReach reach = SinkhornReach::own_blocks, const AttendOptions& options = {},
    const Mask& mask = {}) {
  const attention::SinkhornCall<scalar_of<Q>, Mask> call(query, key, value, weights, block_len, reach,
                                                         options, mask);
  return attend_over(call.plans(), query, call.key(), call.value(), call.options(), call.pairs());
}

/// The same with a null block: tokens for the blocks to which nothing is sorted, in causal attention the
/// first.
///
///     o = softmax over [K_null; K_B] of the values [V_null; V_B]      where the rows of S for B are all zero
///
/// null_key [m, heads * head_dim], null_value [m, heads * value_dim]: matrices or parameters, of block_len
/// rows or any number m; they are never masked. Throws ShapeError as above, and when they do not fit.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask, class NullKey, class NullValue>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_sinkhorn(
    const Q& query, const K& key, const V& value, const BlockMatrices<scalar_of<Q>>& weights, Index block_len,
    SinkhornReach reach, const AttendOptions& options, const Mask& mask, const NullKey& null_key,
    const NullValue& null_value)
requires requires {
  value_of(null_key);
  value_of(null_value);
}
{
  const attention::NullBlock<scalar_of<Q>> null{value_of(null_key), value_of(null_value)};
  const attention::SinkhornCall<scalar_of<Q>, Mask> call(query, key, value, weights, block_len, reach,
                                                         options, mask, &null);
  return attend_over(call.plans(), query, call.key(), call.value(), call.options(), call.pairs());
}

}  // namespace headwise
