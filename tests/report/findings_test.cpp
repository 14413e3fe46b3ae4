#include "report/findings.hpp"

#include <gtest/gtest.h>

#include "report/made_up_results.hpp"
#include "report/tables.hpp"

#include <cmath>
#include <string>

namespace headwise::report {
namespace {

TEST(Growth, SweepsTwoLengthsAnOctave) {
  EXPECT_EQ(lengths_up_to(1024), (std::vector<Index>{256, 384, 512, 768, 1024}));
  EXPECT_EQ(lengths_up_to(1500), (std::vector<Index>{256, 384, 512, 768, 1024}));
  EXPECT_EQ(lengths_up_to(100), std::vector<Index>{});
}

TEST(Growth, FitsLongLengthsOnly) {
  Curve curve{Pattern::dense, Direction::forward, {}, {}, {}, {}, {}};
  for (const Index length : {256, 512}) curve.samples.push_back({length, {5.0, 5.0, 1}, 1});
  for (const Index length : {1024, 2048, 4096})
    curve.samples.push_back(
        {length, {1e-9 * double(length * length), 1e-12 * std::pow(double(length), 3), 1}, 1});
  fit(curve);
  ASSERT_TRUE(curve.time_law.has_value());
  EXPECT_NEAR(curve.time_law->exponent, 2, 1e-12);
  EXPECT_NEAR(curve.fastest_law->exponent, 3, 1e-12);
  EXPECT_NEAR(curve.work_law->exponent, 2, 1e-12);
  EXPECT_EQ(curve.time_law->points, 3);
}

TEST(Growth, DrawsNoLawThroughTwoPoints) {
  Curve curve{Pattern::dense, Direction::forward, {}, {}, {}, {}, {}};
  for (const Index length : {1024, 2048}) curve.samples.push_back({length, {1.0, 1.0, 1}, 1});
  fit(curve);
  EXPECT_FALSE(curve.time_law.has_value());
  EXPECT_FALSE(curve.work_law.has_value());
}

// Times are proportional to work in these results: 4096 tokens are 16777216 pairs dense, 1015936 with the
// window.
TEST(Findings, CompareAtTheLongestLengthOfBoth) {
  const std::string text = growth_finding(made_up_results(), Direction::forward);
  EXPECT_NE(text.find("dense attention grows as L^2.00, that of a window of 256 tokens as L^1.0"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "windowed attention takes 6.06 % of dense attention's time over 4,096 tokens (6.06 % of its work)"),
      std::string::npos)
      << text;
}

TEST(Findings, NameTheBestShareOfThePeak) {
  const std::string text = throughput_finding(made_up_results(), Direction::backward);
  EXPECT_NE(text.find("Backward reaches 100 GFLOP/s on one core, 50.0 % of"), std::string::npos) << text;
}

TEST(Findings, CompareMemoryWithTheMatrixThatIsNotFormed) {
  const std::string text = memory_finding(made_up_results());
  EXPECT_NE(text.find("takes 20.0 MiB forward and 50.0 MiB with backward"), std::string::npos) << text;
  EXPECT_NE(text.find("would fill 512 MiB"), std::string::npos) << text;
}

TEST(Findings, CountSentencesWhoseNeighbourSharesTheTopic) {
  Results results = made_up_results();
  EXPECT_EQ(nearest(results.sentences, 0), 1U);
  EXPECT_EQ(nearest(results.sentences, 3), 2U);
  EXPECT_NE(sentence_finding(results.sentences).find("For 4 of 4 sentences"), std::string::npos);
  results.sentences.topics[3] = "music";
  EXPECT_NE(sentence_finding(results.sentences).find("For 2 of 4 sentences"), std::string::npos);
}

TEST(Findings, StaySilentWithoutData) {
  Results nothing;
  nothing.sentences.problem = "none";
  EXPECT_TRUE(findings(nothing).empty());
  EXPECT_TRUE(exponent_table(nothing).rows.empty());
}

TEST(Tables, SayWhichLengthsWereLeftOut) {
  Results results = made_up_results(512);
  results.curves[0].skipped.push_back(768);
  const Table table = time_table(results, Direction::forward);
  EXPECT_EQ(table.rows.back(),
            (std::vector<std::string>{"768", "too long", "too long", "too long", "too long"}));
}

TEST(Tables, RecoverExactPairsFromTheWork) {
  const Table table = pair_table(made_up_results());
  EXPECT_EQ(table.rows.back(),
            (std::vector<std::string>{"4,096", "16,777,216", "8,390,656", "1,015,936", "8,390,656"}));
}

}  // namespace
}  // namespace headwise::report
