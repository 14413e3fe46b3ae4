#include <headwise/interop/tokens_view.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <limits>
#include <string>
#include <vector>

namespace headwise::tokens_view_test {
namespace {

using check::random;

/// A view of stacked rows [batch * tokens, heads * head_dim].
TokensView<const double> view_of(const Matrix<double>& rows, Index batch, Index heads) {
  const Index tokens = rows.rows() / batch, head_dim = rows.cols() / heads;
  return {rows.data(), batch, tokens, heads, head_dim, tokens * rows.cols(), rows.cols(), head_dim, 1};
}

TokensView<double> writable_view_of(Matrix<double>& rows, Index batch, Index heads) {
  const Index tokens = rows.rows() / batch, head_dim = rows.cols() / heads;
  return {rows.data(), batch, tokens, heads, head_dim, tokens * rows.cols(), rows.cols(), head_dim, 1};
}

TEST(TokensView, HasEveryFormOfTheVerb) {
  const Matrix<double> q = random(6, 8, 1), k = random(6, 8, 2), v = random(6, 8, 3);
  const AttendOptions options{.heads = 2}, scaled{.heads = 2, .scale = 0.25};
  const auto expected = attend_with_lse(q, k, v, {.heads = 2, .query_rows = RaggedRows::uniform(2, 3)});
  const auto expected_scaled =
      attend_with_lse(q, k, v, {.heads = 2, .scale = 0.25, .query_rows = RaggedRows::uniform(2, 3)});
  const auto query = view_of(q, 2, 2), key = view_of(k, 2, 2), value = view_of(v, 2, 2);
  const mask::None all;
  const score::None same;

  Matrix<double> rows(6, 8);
  const auto out = writable_view_of(rows, 2, 2);
  const auto expect = [&](const Matrix<double>& lse, const Attended<double>& wanted) {
    EXPECT_EQ(rows, wanted.output);
    EXPECT_EQ(lse, wanted.lse);
    rows.setConstant(std::numeric_limits<double>::quiet_NaN());
  };
  expect(attend_into(query, key, value, out), expected);
  expect(attend_into(query, key, value, all, out), expected);
  expect(attend_into(query, key, value, all, same, out), expected);
  expect(attend_into(query, key, value, {.heads = 2, .scale = 0.25}, out), expected_scaled);
  expect(attend_into(query, key, value, scaled, all, out), expected_scaled);
  expect(attend_into(query, key, value, scaled, all, same, out), expected_scaled);
  expect(attend_into(query, key, value, options, out), expected);
}

// [tokens, 3, heads, head_dim]: the three parts of one projection, read where they are.
TEST(TokensView, B124_ReadsQueryKeyAndValueOutOfOneFusedBuffer) {
  const Index batch = 2, tokens = 5, heads = 2, head_dim = 3, width = heads * head_dim;
  const Matrix<double> fused = random(batch * tokens, 3 * width, 4);
  const auto part = [&](Index i) {
    return TokensView<const double>{fused.data() + i * width, batch,     tokens,   heads, head_dim,
                                    tokens * 3 * width,       3 * width, head_dim, 1};
  };
  Matrix<double> rows(batch * tokens, width);
  (void)attend_into(part(0), part(1), part(2), writable_view_of(rows, batch, heads));

  const Matrix<double> q = fused.leftCols(width), k = fused.middleCols(width, width),
                       v = fused.rightCols(width);
  EXPECT_EQ(rows, attend(q, k, v, {.heads = heads, .query_rows = RaggedRows::uniform(batch, tokens)}));
  EXPECT_EQ(to_matrix(part(1)), k);
}

TEST(TokensView, B116_ReadsATransposedBufferAsItsContiguousCopy) {
  const Matrix<double> buffer = random(2, 4, 5);  // [head_dim, tokens]
  const TokensView<const double> transposed{buffer.data(), 1, 4, 1, 2, 8, 1, 0, 4};
  const Matrix<double> copy = buffer.transpose(), k = random(3, 2, 6), v = random(3, 2, 7);

  Matrix<double> rows(4, 2);
  (void)attend_into(transposed, view_of(k, 1, 1), view_of(v, 1, 1), writable_view_of(rows, 1, 1));

  EXPECT_EQ(rows, attend(copy, k, v));
  EXPECT_EQ(matrix_view(transposed), copy);
}

TEST(TokensView, IsAMatrixWhereRowsAndColumnsFollowEachOtherAtOneStride) {
  const Matrix<double> x = random(6, 8, 8);
  EXPECT_EQ(matrix_view(view_of(x, 2, 2)), x);
  EXPECT_EQ(matrix_view(view_of(x, 6, 8)), x) << "one token a sequence, one column a head";

  Matrix<double> written(6, 8);
  matrix_view(writable_view_of(written, 2, 2)) = x;
  EXPECT_EQ(written, x);

  auto view = view_of(x, 2, 2);
  view.batch_stride = 8;  // sequences that overlap in memory
  EXPECT_EQ(to_matrix(view).row(3), x.row(1));
}

// One token at position 0 with two heads of two numbers: a column block a head, so nothing is rotated along
// heads.
TEST(TokensView, B59_KeepsHeadsAsColumnBlocksOfARow) {
  const std::vector<double> memory{1, 0, 1, 0};
  const TokensView<const double> heads_first{memory.data(), 1, 1, 2, 2, 4, 2, 2, 1};
  const Matrix<double> row{{1, 0, 1, 0}};
  EXPECT_EQ(to_matrix(heads_first), row);
  EXPECT_EQ(matrix_view(heads_first), row);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

class TokensViewErrors : public testing::Test {
 protected:
  /// The message of a call in which one view was changed; out keeps its numbers.
  std::string attend(const TokensView<const double>& query, const TokensView<const double>& key,
                     const TokensView<const double>& value, const AttendOptions& options = {}) {
    rows_.setConstant(7);
    const std::string message = message_of([&] { (void)attend_into(query, key, value, options, out_); });
    EXPECT_EQ(rows_, (Matrix<double>::Constant(6, 8, 7))) << "nothing is half-written";
    return message;
  }
  std::string attend_to(const TokensView<double>& out) {
    return message_of([&] { (void)attend_into(query_, key_, value_, out); });
  }

  const Matrix<double> q_ = random(6, 8, 1), k_ = random(6, 8, 2), v_ = random(6, 8, 3);
  const TokensView<const double> query_ = view_of(q_, 2, 2), key_ = view_of(k_, 2, 2),
                                 value_ = view_of(v_, 2, 2);
  Matrix<double> rows_{6, 8};
  TokensView<double> out_ = writable_view_of(rows_, 2, 2);
};

TEST_F(TokensViewErrors, NameTheViewThatDoesNotFit) {
  EXPECT_EQ(attend(query_, view_of(k_, 3, 2), value_),
            "attend: batch of key is 3, expected 2; query, key and value have one batch");
  EXPECT_EQ(attend(query_, key_, view_of(v_, 1, 2)),
            "attend: batch of value is 1, expected 2; query, key and value have one batch");
  const Matrix<double> longer = random(8, 8, 4);
  EXPECT_EQ(attend(query_, key_, view_of(longer, 2, 2)),
            "attend: tokens of value is 4, expected 3; one value a key");
  EXPECT_EQ(attend(query_, key_, view_of(v_, 2, 1)),
            "attend: heads of value is 1, expected 2; as many as of key");
  EXPECT_EQ(attend(query_, view_of(k_, 2, 1), view_of(v_, 2, 1)),
            "attend: head_dim of key is 8, expected 4; query and key have heads of one size; set .heads and "
            ".kv_heads");
  EXPECT_EQ(attend(view_of(q_, 2, 1), key_, value_),
            "attend: heads is 1, expected a multiple of 2 (kv_heads)");
}

TEST_F(TokensViewErrors, NameOptionsThatContradictAShape) {
  EXPECT_EQ(attend(query_, key_, value_, {.heads = 4}),
            "attend: options.heads is 4, expected 2; the shape of the tensor says so; leave the option out");
  EXPECT_EQ(
      attend(query_, key_, value_, {.kv_heads = 1}),
      "attend: options.kv_heads is 1, expected 2; the shape of the tensor says so; leave the option out");
  EXPECT_EQ(attend(query_, key_, value_, {.query_rows = RaggedRows::uniform(2, 3)}),
            "attend: query_rows or key_rows is given for tensors, expected neither; their batch says where "
            "sequences "
            "end (mask::KeyLengths hides padding)");
}

TEST_F(TokensViewErrors, NameTheOutputThatDoesNotFit) {
  auto out = out_;
  out.batch = 1;
  EXPECT_EQ(attend_to(out), "attend: batch of out is 1, expected 2; as many sequences as of queries");
  out = out_;
  out.tokens = 2;
  EXPECT_EQ(attend_to(out), "attend: tokens of out is 2, expected 3; one a query");
  out = out_;
  out.heads = 1;
  EXPECT_EQ(attend_to(out), "attend: heads of out is 1, expected 2; as many as of queries");
  out = out_;
  out.head_dim = 3;
  EXPECT_EQ(attend_to(out), "attend: head_dim of out is 3, expected 4; as wide as the values");
  out = out_;
  out.heads = 0;
  EXPECT_EQ(attend_to(out), "attend: features of out is 4, expected 8; heads * value_dim");
}

TEST_F(TokensViewErrors, NameSizesAndStridesThatCannotBe) {
  auto query = query_;
  query.tokens = -1;
  EXPECT_EQ(attend(query, key_, value_), "attend: tokens of query is -1, expected zero or more");
  auto key = key_;
  key.batch_stride = -24;
  EXPECT_EQ(attend(query_, key, value_), "attend: batch_stride of key is -24, expected zero or more");
}

TEST_F(TokensViewErrors, NameStridesThatNoMatrixHas) {
  const TokensView<const double> heads_first{q_.data(), 2, 3, 2, 4, 24, 4, 12, 1};
  EXPECT_EQ(message_of([&] { (void)matrix_view(heads_first); }),
            "matrix_view: batch_stride is 24, expected 12; that is tokens * row_stride; copy with to_matrix");
  const TokensView<const double> one_sequence{q_.data(), 1, 3, 2, 4, 24, 4, 12, 1};
  EXPECT_EQ(
      message_of([&] { (void)matrix_view(one_sequence); }),
      "matrix_view: head_stride is 12, expected 4; that is head_dim * column_stride; copy with to_matrix");
}

TEST_F(TokensViewErrors, NameRowsThatDoNotFitWhereTheyAreWritten) {
  EXPECT_EQ(message_of([&] { write_matrix(random(5, 8, 9), out_); }),
            "write_matrix: rows is 5, expected 6; batch * tokens of them");
  EXPECT_EQ(message_of([&] { write_matrix(random(6, 7, 9), out_); }),
            "write_matrix: columns is 7, expected 8; one a feature");
}

}  // namespace
}  // namespace headwise::tokens_view_test
