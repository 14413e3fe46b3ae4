#include "report/markup.hpp"

#include <gtest/gtest.h>

#include "report/balance.hpp"

namespace headwise::report {
namespace {

TEST(Markup, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(escape("a < b & c > \"d\" 'e'"), "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(escape("L × L, 1.5 µs"), "L × L, 1.5 µs");
  EXPECT_EQ(escape("50.0 % of all"), "50.0&nbsp;% of all") << "never a line that begins with the sign";
}

TEST(Markup, WrapsElements) {
  EXPECT_EQ(element("p", "class=\"x\"", "text"), "<p class=\"x\">text</p>");
  EXPECT_EQ(element("b", "", ""), "<b></b>");
  EXPECT_EQ(paragraph("1 < 2"), "<p>1 &lt; 2</p>\n");
  EXPECT_EQ(figure("<svg></svg>", "what"), "<figure><svg></svg><figcaption>what</figcaption></figure>\n");
}

TEST(Markup, RaisesPowers) {
  EXPECT_EQ(with_raised_powers("as L^1.98, not L^2"), "as L<sup>1.98</sup>, not L<sup>2</sup>");
  EXPECT_EQ(with_raised_powers("grows as L^2.00."), "grows as L<sup>2.00</sup>.");
  EXPECT_EQ(with_raised_powers("L^(1.98 ± 0.01)"), "L<sup>1.98 ± 0.01</sup>");
  EXPECT_EQ(with_raised_powers("a < b"), "a &lt; b");
  EXPECT_EQ(with_raised_powers("L^(2"), "L<sup>2</sup>");
  EXPECT_EQ(with_raised_powers(""), "");
}

// The checker that the page is judged by must itself find faults.
TEST(Balance, FindsWhatIsNotClosed) {
  EXPECT_EQ(imbalance("<!doctype html><p>x <b>y</b></p><meta charset=\"utf-8\"><path d=\"M0 0\"/>"), "");
  EXPECT_EQ(imbalance("<style>a>b{}</style>"), "");
  EXPECT_EQ(imbalance("<p><b>x</p></b>"), "</p> closes <b>");
  EXPECT_EQ(imbalance("<p>"), "<p> is never closed");
  EXPECT_EQ(imbalance("</p>"), "</p> closes <>");
  EXPECT_EQ(imbalance("1 > 2"), "a stray > at byte 2");
  EXPECT_EQ(imbalance("<p>1 < 2</p>"), "a stray <:  2</p");
}

}  // namespace
}  // namespace headwise::report
