#include <headwise/core/error.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace headwise::error_test {
namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

TEST(Error, NamesArgumentValueAndExpectation) {
  EXPECT_EQ(message_of([] { expect_equal("Linformer: key rows", 9, 8); }),
            "Linformer: key rows is 9, expected 8");
  EXPECT_EQ(message_of([] { expect_positive("attend: heads", 0); }),
            "attend: heads is 0, expected a positive number");
  EXPECT_EQ(message_of([] { expect_not_negative("window", -1); }), "window is -1, expected zero or more");
  EXPECT_EQ(message_of([] { expect_multiple("heads", 6, 4, "kv_heads"); }),
            "heads is 6, expected a multiple of 4 (kv_heads)");
  EXPECT_EQ(message_of([] { fail_shape("mask", "float", "bool"); }), "mask is float, expected bool");
}

TEST(Error, AddsTheRemedyWhenThereIsOne) {
  EXPECT_EQ(message_of([] { expect_equal("k_len", 9, 8, "say query_offset"); }),
            "k_len is 9, expected 8; say query_offset");
  EXPECT_EQ(message_of([] { expect_positive("n", -3, "leave it out"); }),
            "n is -3, expected a positive number; leave it out");
  EXPECT_EQ(message_of([] { expect_not_negative("n", -3, "leave it out"); }),
            "n is -3, expected zero or more; leave it out");
  EXPECT_EQ(message_of([] { expect_multiple("heads", 5, 2, "kv_heads", "drop one"); }),
            "heads is 5, expected a multiple of 2 (kv_heads); drop one");
}

TEST(Error, LetsWhatFitsPass) {
  EXPECT_EQ(message_of([] { expect_equal("n", 8, 8); }), "accepted");
  EXPECT_EQ(message_of([] { expect_positive("n", 1); }), "accepted");
  EXPECT_EQ(message_of([] { expect_not_negative("n", 0); }), "accepted");
  EXPECT_EQ(message_of([] { expect_multiple("n", 8, 4, "m"); }), "accepted");
  EXPECT_EQ(message_of([] { expect_multiple("n", 0, 4, "m"); }), "accepted");
}

TEST(Error, RefusesADivisorThatIsNotPositive) {
  EXPECT_EQ(message_of([] { expect_multiple("heads", 8, 0, "kv_heads"); }),
            "heads is 8, expected a multiple of 0 (kv_heads)");
  EXPECT_EQ(message_of([] { expect_multiple("heads", 8, -4, "kv_heads"); }),
            "heads is 8, expected a multiple of -4 (kv_heads)");
}

TEST(Error, IsCaughtAsTheStandardsErrors) {
  static_assert(std::is_base_of_v<std::invalid_argument, ShapeError>);
  static_assert(std::is_base_of_v<std::runtime_error, FormatError>);
  EXPECT_THROW(expect_equal("n", 1, 2), std::invalid_argument);
  EXPECT_THROW(throw FormatError("weights.bin: tensor x ends at byte 9 of 8"), std::runtime_error);
}

}  // namespace
}  // namespace headwise::error_test
