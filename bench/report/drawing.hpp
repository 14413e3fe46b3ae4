#pragma once

#include <headwise/core/matrix.hpp>

#include <string>

/// Pictures of our own policies as small inline SVG: who sees whom, and tables of numbers.
namespace headwise::report {

/// A mask: row a query, column a key, a filled cell where the query may attend. Cells of a row that touch are
/// one rectangle, and rows that are alike are one, so that the file stays small.
std::string draw_mask(const Matrix<bool>& seen, const std::string& description);

/// What the two sides of a table of numbers are.
struct TableSides {
  std::string rows, columns;
};

/// A table as colours: blue below zero, orange above, pale near it, saturated at -limit and limit.
/// Throws ShapeError unless limit is positive.
std::string draw_numbers(const Matrix<double>& numbers, double limit, const TableSides& sides,
                         const std::string& description);

/// The colour of one number on the scale of draw_numbers, as CSS: "#rrggbb".
std::string colour_of(double number, double limit);

/// Pairs that a mask allows.
Index count_pairs(const Matrix<bool>& seen);

}  // namespace headwise::report
