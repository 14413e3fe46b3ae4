#include <headwise/attention/sinkhorn_backward.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/reference.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headwise::sinkhorn_laws_test {
namespace {

using check::near;
using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}
check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

TEST(AttendSinkhorn, SortedByTheIdentityItIsBlockLocal) {
  const auto q = random(12, 4, 1), k = random(12, 4, 2), v = random(12, 3, 3);
  const auto got = attend_sinkhorn(q, k, v, {Matrix<double>::Identity(4, 4)}, 3, SinkhornReach::own_blocks,
                                   {}, everything());
  reference::Problem problem;
  problem.allows = [](Index i, Index j) { return i / 3 == j / 3; };
  EXPECT_TRUE(near(got.output, reference::attention(q, k, v, problem), 1e-12));
}

TEST(AttendSinkhorn, SortedByAPermutationItIsAMultisetOfBlocks) {
  const auto q = random(12, 4, 1), k = random(12, 4, 2), v = random(12, 3, 3);
  const std::vector<Index> order{2, 0, 1, 3};
  Matrix<double> weights = Matrix<double>::Zero(4, 4);
  for (Index b = 0; b < 4; ++b) weights(b, order[std::size_t(b)]) = 1;
  const auto got = attend_sinkhorn(q, k, v, {weights}, 3, SinkhornReach::own_blocks, {}, everything());
  reference::Problem problem;
  problem.allows = [&](Index i, Index j) { return j / 3 == i / 3 || j / 3 == order[std::size_t(i / 3)]; };
  problem.score = [&](double s, Index i, Index j) {
    return s + (j / 3 == i / 3 && j / 3 == order[std::size_t(i / 3)] ? std::log(2.0) : 0.0);
  };
  EXPECT_TRUE(near(got.output, reference::attention(q, k, v, problem), 1e-12));
}

/// Query, key and value by difference quotients through everything: scores, balancing or choice, attention.
void expect_gradients(BlockQuery kind, SinkhornReach reach, bool is_causal, Index best) {
  SCOPED_TRACE(std::to_string(int(kind)) + ", " + std::to_string(int(reach)) + ", " + std::to_string(best));
  const Index block = 3, heads = 2;
  const RaggedRows rows = RaggedRows::from_lengths({6, 0, 9});
  const AttendOptions options{.heads = heads, .query_rows = rows};
  const SinkhornOptions sinkhorn_options{.iterations = 3,
                                         .order = is_causal ? SinkhornOrder::causal : SinkhornOrder::whole};
  const check::AnyMask mask = is_causal ? causal() : everything();
  std::vector<Matrix<double>> x{random(15, 4, 1), random(15, 4, 2), random(15, 6, 3)};
  const auto d = random(15, 6, 4);
  const auto weights_of = [&](const BlockMatrices<double>& scores) {
    BlockMatrices<double> weights;
    for (const auto& each : scores)
      weights.push_back(best == 0            ? sinkhorn(each, sinkhorn_options)
                        : each.cols() < best ? Matrix<double>(0, each.cols())
                                             : best_blocks(each, best));
    return weights;
  };
  const auto output = [&] {
    const auto scores = block_scores(x[0], x[1], block, heads, kind, rows);
    return attend_sinkhorn(x[0], x[1], x[2], weights_of(scores), block, reach, options, mask);
  };
  const auto scores = block_scores(x[0], x[1], block, heads, kind, rows);
  const auto g = attend_sinkhorn_backward(x[0], x[1], x[2], weights_of(scores), block, output(), d, reach,
                                          options, mask);
  BlockMatrices<double> d_scores;
  for (std::size_t i = 0; i < scores.size(); ++i)
    d_scores.push_back(best == 0 ? sinkhorn_backward(scores[i], g.weights[i], sinkhorn_options)
                       : scores[i].cols() < best
                           ? Matrix<double>(Matrix<double>::Zero(scores[i].rows(), scores[i].cols()))
                           : best_blocks_backward(scores[i], g.weights[i], best));
  const auto more = block_scores_backward(x[0], x[1], d_scores, block, heads, kind, rows);
  const std::vector<Matrix<double>> got{g.query + more.query, g.key + more.key, g.value};
  for (std::size_t n = 0; n < 3; ++n) {
    for (Index i = 0; i < x[n].size(); ++i) {
      double& number = x[n].data()[i];
      const double kept = number, step = 1e-6;
      number = kept + step;
      const double up = output().output.cwiseProduct(d).sum();
      number = kept - step;
      const double down = output().output.cwiseProduct(d).sum();
      number = kept;
      ASSERT_NEAR(got[n].data()[i], (up - down) / (2 * step), 1e-7) << n << ", " << i;
    }
  }
}

TEST(AttendSinkhorn, GradientsReachQueriesKeysAndValuesThroughTheSorting) {
  expect_gradients(BlockQuery::mean, SinkhornReach::own_blocks, false, 0);
  expect_gradients(BlockQuery::leading, SinkhornReach::own_blocks, true, 0);
  expect_gradients(BlockQuery::mean, SinkhornReach::own_blocks, false, 2);
  expect_gradients(BlockQuery::whole, SinkhornReach::all_blocks, false, 2);
}

/// Nothing may reach a token from behind: not through the block, its descriptor or the balancing.
TEST(AttendSinkhorn, CausalOutputsKnowNoLaterToken) {
  const Index length = 20, block = 5;
  auto q = random(length, 4, 1), k = random(length, 4, 2), v = random(length, 3, 3);
  const auto run = [&] {
    const auto scores = block_scores(q, k, block, 1, BlockQuery::leading);
    return attend_sinkhorn(q, k, v, {sinkhorn(scores[0], {.order = SinkhornOrder::causal})}, block,
                           SinkhornReach::own_blocks, {}, causal())
        .output;
  };
  const Matrix<double> before = run();
  for (const Index from : {19, 13, 11, 1}) {
    for (Matrix<double>* each : {&q, &k, &v})
      each->bottomRows(length - from) = random(length - from, each->cols(), 7);
    EXPECT_TRUE(near(Matrix<double>(run().topRows(from)), Matrix<double>(before.topRows(from)), 1e-13))
        << from;
  }
}

/// A sequence for itself, by plain loops: own keys under the causal mask, and before them whatever is sorted
/// to the block, or the null block.
Matrix<double> with_null_by_loops(const Matrix<double>& q, const Matrix<double>& k, const Matrix<double>& v,
                                  const Matrix<double>& weights, Index block, const Matrix<double>& null_key,
                                  const Matrix<double>& null_value) {
  Matrix<double> output(q.rows(), v.cols());
  for (Index b = 0; b < q.rows() / block; ++b) {
    const bool none = weights.row(b).isZero(0);
    const Index before = none ? null_key.rows() : block;
    Matrix<double> keys(before + block, k.cols()), values(before + block, v.cols());
    keys.setZero();
    values.setZero();
    if (none) {
      keys.topRows(before) = null_key;
      values.topRows(before) = null_value;
    }
    for (Index c = 0; !none && c < weights.cols(); ++c) {
      keys.topRows(block) += weights(b, c) * k.middleRows(c * block, block);
      values.topRows(block) += weights(b, c) * v.middleRows(c * block, block);
    }
    keys.bottomRows(block) = k.middleRows(b * block, block);
    values.bottomRows(block) = v.middleRows(b * block, block);
    reference::Problem problem;
    problem.allows = [before](Index i, Index j) { return j < before || j - before <= i; };
    output.middleRows(b * block, block) =
        reference::attention(q.middleRows(b * block, block), keys, values, problem);
  }
  return output;
}

TEST(AttendSinkhorn, OnlyBlocksToWhichNothingIsSortedSeeTheNullBlock) {
  const RaggedRows rows = RaggedRows::from_lengths({12, 0, 3, 9});
  const auto q = random(24, 4, 1), k = random(24, 4, 2), v = random(24, 3, 3);
  for (const Index null_len : {1, 3, 5}) {
    const auto null_key = random(null_len, 4, 4), null_value = random(null_len, 3, 5);
    BlockMatrices<double> weights;
    for (const auto& scores : block_scores(q, k, 3, 1, BlockQuery::leading, rows))
      weights.push_back(sinkhorn(scores, {.order = SinkhornOrder::causal}));
    const auto got = attend_sinkhorn(q, k, v, weights, 3, SinkhornReach::own_blocks, {.query_rows = rows},
                                     causal(), null_key, null_value);
    for (Index s = 0; s < rows.sequences(); ++s) {
      const Index first = rows[s].begin, n = rows[s].size();
      EXPECT_TRUE(
          near(Matrix<double>(got.output.middleRows(first, n)),
               with_null_by_loops(q.middleRows(first, n), k.middleRows(first, n), v.middleRows(first, n),
                                  weights[std::size_t(s)], 3, null_key, null_value),
               1e-12))
          << s << ", " << null_len;
    }
  }
}

TEST(AttendSinkhorn, RefusesANullBlockThatDoesNotFit) {
  const auto x = random(12, 4, 1);
  const auto call = [&](const Matrix<double>& null_key, const Matrix<double>& null_value) {
    return check::refusal([&] {
      (void)attend_sinkhorn(x, x, x, {Matrix<double>::Identity(4, 4)}, 3, SinkhornReach::own_blocks, {},
                            everything(), null_key, null_value);
    });
  };
  EXPECT_EQ(
      call(random(0, 4, 1), random(0, 4, 1)),
      "attend_sinkhorn: rows of null_key is 0, expected a positive number; leave it out for no null block");
  EXPECT_EQ(call(random(3, 4, 1), random(2, 4, 1)),
            "attend_sinkhorn: rows of null_value is 2, expected 3; one value a key");
  EXPECT_EQ(call(random(3, 5, 1), random(3, 4, 1)),
            "attend_sinkhorn: columns of null_key is 5, expected 4; as key");
  EXPECT_EQ(call(random(3, 4, 1), random(3, 5, 1)),
            "attend_sinkhorn: columns of null_value is 5, expected 4; as value");
}

TEST(AttendSinkhorn, RefusesWhatItCannotServe) {
  const auto x = random(12, 4, 1);
  const auto call = [&](Index block, const BlockMatrices<double>& weights,
                        const AttendOptions& options = {}) {
    return check::refusal([&] {
      (void)attend_sinkhorn(x, x, x, weights, block, SinkhornReach::own_blocks, options, everything());
    });
  };
  const Matrix<double> four = Matrix<double>::Identity(4, 4);
  EXPECT_EQ(call(0, {four}), "attend_sinkhorn: block_len is 0, expected a positive number");
  EXPECT_EQ(
      call(5, {four}),
      "attend_sinkhorn: length of sequence 0 is 12, expected a multiple of 5 (block_len); this pattern cuts "
      "a sequence into equal blocks");
  EXPECT_EQ(call(3, {}), "attend_sinkhorn: weights is 0, expected 1; one matrix a sequence and head");
  EXPECT_EQ(call(4, {four}), "attend_sinkhorn: columns of weights is 4, expected 3; one a block");
  EXPECT_EQ(call(3, {Matrix<double>::Zero(6, 4)}),
            "attend_sinkhorn: rows of weights is 6, expected a multiple of 4 (blocks)");
  EXPECT_EQ(call(3, {four, four}, {.heads = 2, .kv_heads = 1}),
            "attend_sinkhorn: kv_heads is 1, expected 2; every head sorts for itself");
  EXPECT_EQ(check::refusal([&] { (void)sinkhorn(Matrix<double>(2, 3)); }),
            "sinkhorn: columns of scores is 3, expected 2; one block by one block");
  EXPECT_EQ(check::refusal([&] { (void)sinkhorn(four, {.temperature = 0}); }),
            "sinkhorn: temperature is 0.000000, expected a positive number");
  EXPECT_EQ(check::refusal([&] { (void)best_blocks(four, 5); }),
            "best_blocks: count is 5, expected at most the 4 blocks there are");
}

}  // namespace
}  // namespace headwise::sinkhorn_laws_test
