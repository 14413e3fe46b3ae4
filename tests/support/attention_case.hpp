#pragma once

#include <headwise/attention/weights.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/check.hpp"
#include "support/instruction_sets.hpp"

#include <initializer_list>
#include <limits>
#include <vector>

/// Small inputs with right answers, run through every path that can compute them.
namespace headwise::check {

inline const double infinity = std::numeric_limits<double>::infinity();

/// A column of numbers: keys, values or queries of head size 1.
inline Matrix<double> column(std::initializer_list<double> numbers) {
  Matrix<double> m(Index(numbers.size()), 1);
  Index i = 0;
  for (const double number : numbers) m(i++, 0) = number;
  return m;
}

inline Matrix<double> zeros(Index rows, Index cols = 1) { return Matrix<double>::Zero(rows, cols); }

/// attend gives `expected` on every instruction set; so do the weights that are formed pair by pair, where
/// heads do not share values.
template <class Mask, class Score = score::None>
void expect_output(const Matrix<double>& query, const Matrix<double>& key, const Matrix<double>& value,
                   const Matrix<double>& expected, AttendOptions options, const Mask& mask,
                   const Score& score = {}, double tolerance = 1e-8) {
  for (const InstructionSet set : instruction_sets()) {
    options.instruction_set = set;
    EXPECT_TRUE(near(attend(query, key, value, options, mask, score), expected, tolerance)) << name(set);
  }
  if (options.heads == 1 && options.query_rows.whole() && value.allFinite()) {
    EXPECT_TRUE(
        near((attention_weights(query, key, options, mask, score) * value).eval(), expected, tolerance))
        << "pair by pair";
  }
}

}  // namespace headwise::check
