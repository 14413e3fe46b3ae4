#include "report/page.hpp"

#include <gtest/gtest.h>

#include "report/balance.hpp"
#include "report/made_up_results.hpp"

#include <string>

namespace headwise::report {
namespace {

TEST(Page, ClosesEveryElement) {
  EXPECT_EQ(imbalance(page(made_up_results())), "");
  EXPECT_EQ(imbalance(page(Results{})), "") << "even when nothing was measured";
}

TEST(Page, LoadsNothingFromElsewhere) {
  const std::string html = page(made_up_results());
  for (const char* loader : {"http://", "https://", "src=", "@import", "url(", "<script", "<link", "<iframe"})
    EXPECT_EQ(html.find(loader), std::string::npos) << loader;
}

TEST(Page, EveryIdIsUniqueAndEveryReferenceHasOne) {
  const std::string html = page(made_up_results());
  std::size_t references = 0;
  for (std::size_t at = 0; (at = html.find("href=", at)) != std::string::npos; ++references) {
    const char quote = html[at + 5];
    const std::size_t begin = at + 7, end = html.find(quote, begin);
    ASSERT_EQ(html[at + 6], '#');
    const std::string id = html.substr(begin, end - begin);
    std::size_t found = 0;
    for (const char* mark : {"'", "\""}) {
      const std::string attribute = std::string(" id=") + mark + id + mark;
      for (std::size_t i = 0; (i = html.find(attribute, i)) != std::string::npos; ++i) ++found;
    }
    EXPECT_EQ(found, 1) << id;
    at = end;
  }
  EXPECT_GE(references, 6U) << "the links of the navigation";
}

TEST(Page, ShowsTextAsTextAndNeverAsMarkup) {
  const std::string html = page(made_up_results());
  EXPECT_EQ(html.find("<fast>"), std::string::npos);
  EXPECT_EQ(html.find("<hard>"), std::string::npos);
  EXPECT_NE(html.find("A &lt;fast&gt; &amp; &quot;cheap&quot; CPU"), std::string::npos);
  EXPECT_NE(html.find("It rains &lt;hard&gt;."), std::string::npos);
}

TEST(Page, SaysLoudlyThatTheModelIsMissing) {
  Results results = made_up_results();
  results.sentences = {};
  results.sentences.problem = "no model.";
  const std::string html = page(results);
  EXPECT_NE(html.find("<p class=\"warning\" role=\"note\">Not measured: no model.</p>"), std::string::npos);
  EXPECT_EQ(html.find("Cosine similarity"), std::string::npos);
}

TEST(Page, SaysHowTrainingAndARealTextAreGot) {
  Results results = made_up_results();
  results.decoder.problem = "no decoder.";
  const std::string html = page(results);
  EXPECT_NE(html.find("No training is shown. Run the examples train_char_lm --curve"), std::string::npos);
  EXPECT_NE(html.find("Not measured: no decoder."), std::string::npos);
}

TEST(Page, ShowsWhatWasTrainedAndWhatAWindowCosts) {
  Results results = made_up_results();
  results.training.curve = LossCurve{"<book>", {{1, 4, 4}, {9, 2, 2.25}}, 3, 2.5, "a <sample>"};
  results.training.extrapolation = Extrapolation{"<book>", 64, {{64, 2, 2}, {128, 2, 3}}};
  results.decoder = {"", "some.gguf", 1000, {{"dense", 3.0, 100}, {"window:64", 3.5, 101}}};
  const std::string html = page(results);
  EXPECT_EQ(imbalance(html), "");
  EXPECT_EQ(html.find("No training is shown"), std::string::npos);
  EXPECT_EQ(html.find("<book>"), std::string::npos);
  EXPECT_NE(html.find("a &lt;sample&gt;"), std::string::npos);
  EXPECT_NE(html.find("window:64"), std::string::npos);
}

TEST(Page, ServesBothColourSchemesAndPhones) {
  const std::string html = page(made_up_results());
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(html.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(html.find("<html lang=\"en\">"), std::string::npos);
}

}  // namespace
}  // namespace headwise::report
