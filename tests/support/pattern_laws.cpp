#include "support/pattern_laws.hpp"

#include "support/check.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headwise::check {

Eigen::MatrixXi listed_pairs(const Plan& plan, Index length, const AnyMask& rest) {
  Eigen::MatrixXi pairs = Eigen::MatrixXi::Zero(length, length);
  for (const PlanItem& item : plan.items) {
    for (Index i = 0; i < item.queries.size(); ++i) {
      for (Index j = 0; j < item.keys.size(); ++j) {
        const Index q = item.queries[i], k = item.keys[j];
        if (!rest || rest(q, k)) ++pairs(q, k);
      }
    }
  }
  return pairs;
}

struct PatternLaws::State {
  Index length;
  Plans plans;
  AnyMask allows, rest;
  reference::Problem problem{};
  Matrix<double> query = random(length, 5, 11), key = random(length, 5, 12), value = random(length, 3, 13),
                 d_output = random(length, 3, 14);

  bool sees_any(Index q) const {
    for (Index k = 0; k < length; ++k)
      if (allows(q, k)) return true;
    return false;
  }
  Attended<double> attended() const { return attend_over(plans, query, key, value, AttendOptions{}, rest); }
  Matrix<double> output_of(const Matrix<double>& keys, const Matrix<double>& values) const {
    return attend_over(plans, query, keys, values, AttendOptions{}, rest).output;
  }
  AttendGradients<double> gradients(const Matrix<double>& d) const {
    return attend_over_backward(plans, query, key, value, attended(), d, AttendOptions{}, rest);
  }
  /// First, middle and last token.
  std::vector<Index> some_tokens() const {
    if (length == 0) return {};
    return {0, length / 2, length - 1};
  }
};

PatternLaws::PatternLaws(Index length, Plan plan, AnyMask allows, AnyMask rest)
    : state_(new State{length, Plans{{std::move(plan)}}, std::move(allows),
                       rest ? std::move(rest) : AnyMask([](Index, Index) { return true; })}) {
  state_->problem.allows = state_->allows;
}

PatternLaws::~PatternLaws() = default;

void PatternLaws::expect_all() const {
  expect_dense_attention();
  expect_order_of_items_does_not_matter();
  expect_constant_values_return();
  expect_one_hot_values_show_the_weights();
  expect_hidden_tokens_do_not_matter();
  expect_hidden_pairs_have_no_gradient();
  expect_padding_does_not_matter();
}

void PatternLaws::expect_dense_attention() const {
  const State& s = *state_;
  const auto expected = reference::forward(s.query, s.key, s.value, s.problem);
  const auto got = s.attended();
  EXPECT_TRUE(near(got.output, expected.output, 1e-11));
  for (Index i = 0; i < s.length; ++i) {
    const double lse = expected.lse[std::size_t(i)];
    EXPECT_TRUE(got.lse(i, 0) == lse || std::abs(got.lse(i, 0) - lse) < 1e-11) << "row " << i;
  }
  const auto gradients = s.gradients(s.d_output);
  const auto adjoint = reference::backward(s.query, s.key, s.value, s.d_output, s.problem);
  EXPECT_TRUE(near(gradients.query, adjoint.query, 1e-11));
  EXPECT_TRUE(near(gradients.key, adjoint.key, 1e-11));
  EXPECT_TRUE(near(gradients.value, adjoint.value, 1e-11));
}

void PatternLaws::expect_order_of_items_does_not_matter() const {
  const State& s = *state_;
  Plans reversed = s.plans;
  std::reverse(reversed.plans[0].items.begin(), reversed.plans[0].items.end());
  EXPECT_TRUE(near(attend_over(reversed, s.query, s.key, s.value, AttendOptions{}, s.rest).output,
                   s.attended().output, 1e-13));
}

void PatternLaws::expect_constant_values_return() const {
  const State& s = *state_;
  const Matrix<double> got = s.output_of(s.key, Matrix<double>::Constant(s.length, 2, 3.0));
  for (Index i = 0; i < s.length; ++i)
    EXPECT_NEAR(got(i, 0), s.sees_any(i) ? 3.0 : 0.0, 1e-13) << "row " << i;
}

void PatternLaws::expect_one_hot_values_show_the_weights() const {
  const State& s = *state_;
  if (s.length == 0) return;
  const Matrix<double> got = s.output_of(s.key, Matrix<double>::Identity(s.length, s.length));
  for (Index q = 0; q < s.length; ++q)
    for (Index k = 0; k < s.length; ++k)
      EXPECT_EQ(got(q, k) > 0, s.allows(q, k)) << "query " << q << ", key " << k;
}

void PatternLaws::expect_hidden_tokens_do_not_matter() const {
  const State& s = *state_;
  const Matrix<double> before = s.attended().output;
  for (const Index changed : s.some_tokens()) {
    Matrix<double> key = s.key, value = s.value;
    value.row(changed).setConstant(-1e6);
    const Matrix<double> other_value = s.output_of(key, value);
    key.row(changed).setConstant(7.0);
    const Matrix<double> other_key = s.output_of(key, value);
    value.row(changed).setConstant(std::numeric_limits<double>::quiet_NaN());
    const Matrix<double> poisoned = s.output_of(key, value);
    for (Index q = 0; q < s.length; ++q) {
      if (s.allows(q, changed)) continue;
      EXPECT_EQ(before.row(q), other_value.row(q)) << "query " << q << ", hidden value " << changed;
      // A larger score of its neighbours may move the moment at which a block of queries is rescaled.
      EXPECT_TRUE(near(other_key.row(q), before.row(q), 1e-14))
          << "query " << q << ", hidden key " << changed;
      EXPECT_TRUE(near(poisoned.row(q), before.row(q), 1e-14)) << "query " << q << ", NaN at " << changed;
    }
  }
}

void PatternLaws::expect_hidden_pairs_have_no_gradient() const {
  const State& s = *state_;
  for (const Index q : s.some_tokens()) {
    Matrix<double> d = Matrix<double>::Zero(s.length, s.value.cols());
    d.row(q) = s.d_output.row(q);
    const auto gradients = s.gradients(d);
    for (Index k = 0; k < s.length; ++k) {
      const bool none = gradients.value.row(k).isZero(0) && gradients.key.row(k).isZero(0);
      EXPECT_EQ(none, !s.allows(q, k)) << "query " << q << ", key " << k;
    }
  }
}

void PatternLaws::expect_padding_does_not_matter() const {
  const State& s = *state_;
  constexpr Index before = 3, after = 5;
  const Index padded = before + s.length + after;
  const auto shifted = [](const RowList& rows) {
    std::vector<Index> list;
    for (Index i = 0; i < rows.size(); ++i) list.push_back(rows[i] + before);
    return RowList::of(std::move(list));
  };
  Plan plan;
  for (const PlanItem& item : s.plans.plans[0].items)
    plan.items.push_back({shifted(item.queries), shifted(item.keys)});
  const auto with_padding = [&](const Matrix<double>& x) {
    Matrix<double> y = Matrix<double>::Constant(padded, x.cols(), 9.0);
    y.middleRows(before, s.length) = x;
    return y;
  };
  const AnyMask rest = [&s](Index q, Index k) { return s.rest(q - before, k - before); };
  const auto got = attend_over(Plans{{plan}}, with_padding(s.query), with_padding(s.key),
                               with_padding(s.value), AttendOptions{}, rest);
  EXPECT_TRUE(near(got.output.middleRows(before, s.length).eval(), s.attended().output, 1e-13));
  EXPECT_TRUE(got.output.topRows(before).isZero(0) && got.output.bottomRows(after).isZero(0));
}

void expect_plan_lists(const std::function<Plan(Index length)>& plan_of,
                       const std::function<AnyMask(Index length)>& predicate_of, const AnyMask& rest,
                       std::vector<Index> lengths) {
  if (lengths.empty())
    for (Index length = 0; length <= 70; ++length) lengths.push_back(length);
  for (const Index length : lengths) {
    const Plan plan = plan_of(length);
    const Eigen::MatrixXi pairs = listed_pairs(plan, length, rest);
    const AnyMask allows = predicate_of(length);
    for (Index q = 0; q < length; ++q)
      for (Index k = 0; k < length; ++k)
        ASSERT_EQ(pairs(q, k), allows(q, k) ? 1 : 0)
            << "length " << length << ", query " << q << ", key " << k;
    SCOPED_TRACE("length " + std::to_string(length));
    PatternLaws(length, plan, allows, rest).expect_dense_attention();
  }
}

Matrix<double> waves(Index t, Index length, Index dim) {
  Matrix<double> m(length, dim);
  for (Index i = 0; i < length; ++i)
    for (Index c = 0; c < dim; ++c)
      m(i, c) = std::sin(0.37 * double(t + 1) + 0.71 * double(i) + 1.93 * double(c) + 0.11 * double(i * c));
  return m;
}

Matrix<double> checksum_weights(Index rows, Index cols) {
  Matrix<double> w(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c) w(i, c) = std::cos(0.5 * double(i) + 0.3 * double(c));
  return w;
}

double checksum(const Matrix<double>& x) {
  const Matrix<double> w = checksum_weights(x.rows(), x.cols());
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i) sum += x.data()[i] * w.data()[i];
  return sum;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace headwise::check
