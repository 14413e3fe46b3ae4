#pragma once

#include <headwise/attention/plans.hpp>
#include <headwise/core/error.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// What is true of every fixed pattern that has a plan: the plan lists exactly the pairs of the predicate,
/// and attention over it is dense attention under the predicate, forward and backward.
namespace headwise::check {

/// How often a plan lists each pair that `rest` allows.
Eigen::MatrixXi listed_pairs(const Plan& plan, Index length, const AnyMask& rest = {});

/// Every pair once if the predicate allows it, else never; and then attention over the plan is dense
/// attention under the predicate, forward and backward. For every length up to 70, or those of `lengths`.
void expect_plan_lists(const std::function<Plan(Index length)>& plan_of,
                       const std::function<AnyMask(Index length)>& predicate_of, const AnyMask& rest = {},
                       std::vector<Index> lengths = {});

/// One pattern of one length, and the laws about it, in double: `plan`, of which `rest` hides pairs, is dense
/// attention under `allows`.
class PatternLaws {
 public:
  PatternLaws(Index length, Plan plan, AnyMask allows, AnyMask rest = {});
  ~PatternLaws();

  void expect_all() const;

  /// Output, log-sum-exp and gradients are those of dense attention under the predicate.
  void expect_dense_attention() const;
  void expect_order_of_items_does_not_matter() const;
  /// Weights add up to one.
  void expect_constant_values_return() const;
  void expect_one_hot_values_show_the_weights() const;
  /// A value that a query does not see may be any, and the row stays the same bit for bit; a key, too, but
  /// for rounding.
  void expect_hidden_tokens_do_not_matter() const;
  /// A loss of one row reaches the keys that it sees, and exactly nothing else.
  void expect_hidden_pairs_have_no_gradient() const;
  /// Padding in front or behind, hidden by the predicate, changes no row that is there.
  void expect_padding_does_not_matter() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The inputs of which results are known: T(t)[i, c] = sin(0.37 (t + 1) + 0.71 i + 1.93 c + 0.11 i c).
Matrix<double> waves(Index t, Index length, Index dim);

/// One number for a whole matrix: sum x[i, c] cos(0.5 i + 0.3 c).
double checksum(const Matrix<double>& x);

/// The derivative of the checksum.
Matrix<double> checksum_weights(Index rows, Index cols);

/// Attention of the waves of `length` tokens, 4 wide, under a mask.
template <class Mask>
Attended<double> attend_to_waves(const Mask& mask, Index length = 12) {
  return attend_with_lse(waves(0, length, 4), waves(1, length, 4), waves(2, length, 4), mask);
}

/// A mask's answers for one length, as the type that the kernel is compiled for already.
template <class Mask>
AnyMask answers_of(const Mask& mask, Index length, const mask::PictureOptions& options = {}) {
  return [seen = mask::to_dense(mask, length, length, options)](Index q, Index k) { return seen(q, k); };
}

/// One head of one sequence of self-attention, whose rows begin at `first_row`.
inline Context context_of(Index length, Index head = 0, Index heads = 1, Index first_row = 0) {
  Context context;
  context.head = head;
  context.heads = heads;
  context.query_rows = context.key_rows = {first_row, first_row + length};
  return context;
}

/// What a call was refused with, or "accepted".
std::string refusal(const std::function<void()>& call);

}  // namespace headwise::check
