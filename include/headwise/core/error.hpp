#pragma once

#include <headwise/core/matrix.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace headwise {

/// An argument has the wrong shape, range or companion. The text names argument, value, expectation and
/// remedy. Thrown at the public border, before any work: nothing is half-written.
class ShapeError : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A file does not hold what it claims. The text names the file, the tensor or entry, and where known the
/// byte.
class FormatError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail_shape(std::string_view what, std::string_view got, std::string_view expected,
                                    std::string_view remedy = {}) {
  std::string text(what);
  text.append(" is ").append(got).append(", expected ").append(expected);
  if (!remedy.empty()) text.append("; ").append(remedy);
  throw ShapeError(text);
}

/// "Linformer: key rows is 9, expected 8", and what to do about it.
inline void expect_equal(std::string_view what, Index got, Index expected, std::string_view remedy = {}) {
  if (got != expected) fail_shape(what, std::to_string(got), std::to_string(expected), remedy);
}

inline void expect_positive(std::string_view what, Index got, std::string_view remedy = {}) {
  if (got <= 0) fail_shape(what, std::to_string(got), "a positive number", remedy);
}

inline void expect_not_negative(std::string_view what, Index got, std::string_view remedy = {}) {
  if (got < 0) fail_shape(what, std::to_string(got), "zero or more", remedy);
}

/// got must be a multiple of divisor: "heads is 6, expected a multiple of 4 (kv_heads)".
inline void expect_multiple(std::string_view what, Index got, Index divisor, std::string_view divisor_name,
                            std::string_view remedy = {}) {
  if (divisor > 0 && got % divisor == 0) return;
  std::string expected = "a multiple of " + std::to_string(divisor);
  expected.append(" (").append(divisor_name).append(")");
  fail_shape(what, std::to_string(got), expected, remedy);
}

}  // namespace headwise
