#include "report/table.hpp"

#include <gtest/gtest.h>

#include "report/balance.hpp"

#include <stdexcept>

namespace headwise::report {
namespace {

TEST(Table, AlignsNumbersToTheRight) {
  const Table table{"Time", {"tokens", "dense"}, {{"256", "1.20 ms"}, {"16,384", "5.10 s"}}};
  EXPECT_EQ(to_text(table),
            "Time\n"
            "  tokens    dense\n"
            "  ------  -------\n"
            "  256     1.20 ms\n"
            "  16,384   5.10 s\n");
}

TEST(Table, AlignsWordsToTheLeft) {
  const Table table{"", {"what", "value"}, {{"processor", "some"}}, true};
  EXPECT_EQ(to_text(table),
            "  what       value\n"
            "  ---------  -----\n"
            "  processor  some\n");
}

TEST(Table, CountsLettersNotBytes) {
  const Table table{"", {"a", "b"}, {{"x", "5 µs"}, {"y", "10 s"}}};
  EXPECT_EQ(to_text(table),
            "  a     b\n"
            "  -  ----\n"
            "  x  5 µs\n"
            "  y  10 s\n");
}

TEST(Table, EscapesItsCells) {
  const Table table{"a < b", {"<", "&"}, {{"\"", "1 > 0"}}};
  const std::string html = to_html(table);
  EXPECT_EQ(imbalance(html), "");
  EXPECT_NE(html.find("<td>1 &gt; 0</td>"), std::string::npos);
  EXPECT_NE(html.find("<caption>a &lt; b</caption>"), std::string::npos);
}

TEST(Table, RefusesRowsOfAnotherLength) {
  const Table table{"T", {"a", "b"}, {{"only one"}}};
  EXPECT_THROW((void)to_text(table), std::invalid_argument);
  try {
    (void)to_html(table);
    FAIL() << "wrote a table with a hole";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Table: \"T\" has a row of 1 cells, expected 2");
  }
}

}  // namespace
}  // namespace headwise::report
