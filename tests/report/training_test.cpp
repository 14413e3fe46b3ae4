#include "report/training.hpp"

#include <gtest/gtest.h>

#include "report/charts.hpp"
#include "report/findings.hpp"
#include "report/tables.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace headwise::report {
namespace {

/// A file of the test that is gone when the test is over.
class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_((std::filesystem::temp_directory_path() / ("headwise-training-" + name)).string()) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* curve =
    R"({"text": "some/book.txt", "ngram": 3, "ngram_entropy": 2.0, "validation": 1.5,
  "sample": "<Alice>", "curve": [{"step": 1, "train": 4.0, "validation": 4.5, "seconds": 0.1},
                                 {"step": 30, "train": 1.25, "validation": 1.5, "seconds": 3}]})";
constexpr const char* losses = R"({"text": "book.txt", "trained_on": 64, "losses": [
  {"window": 64, "alibi": 1.5, "sinusoidal": 1.6}, {"window": 256, "alibi": 1.25, "sinusoidal": 3}]})";

std::string message_of(const std::vector<std::string>& files) {
  try {
    (void)read_training(files);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Training, ReadsWhatTheExamplesWriteInAnyOrder) {
  const File one("curve.json", curve), two("losses.json", losses);
  const TrainingStudy study = read_training({two.path(), one.path()});
  ASSERT_TRUE(study.curve && study.extrapolation);
  EXPECT_EQ(study.curve->text, "book.txt");
  ASSERT_EQ(study.curve->points.size(), 2U);
  EXPECT_EQ(study.curve->points[1].step, 30);
  EXPECT_EQ(study.curve->points[1].train, 1.25);
  EXPECT_EQ(study.curve->points[1].validation, 1.5);
  EXPECT_EQ(study.curve->ngram, 3);
  EXPECT_EQ(study.curve->ngram_entropy, 2.0);
  EXPECT_EQ(study.extrapolation->trained_on, 64);
  ASSERT_EQ(study.extrapolation->losses.size(), 2U);
  EXPECT_EQ(study.extrapolation->losses[1].window, 256);
  EXPECT_EQ(study.extrapolation->losses[1].sinusoidal, 3);
}

TEST(Training, WithoutFilesThereIsNothing) {
  const TrainingStudy study = read_training({});
  EXPECT_FALSE(study.curve || study.extrapolation);
  EXPECT_EQ(loss_finding(study), "");
  EXPECT_EQ(extrapolation_finding(study), "");
  EXPECT_TRUE(extrapolation_table(study).rows.empty());
}

TEST(Training, NamesTheFileThatItCannotUse) {
  const File other("other.json", R"({"text": "book.txt"})"), broken("broken.json", "{"),
      empty("empty.json", R"({"text": "a", "trained_on": 1, "losses": []})");
  EXPECT_EQ(message_of({"/no/such/file"}), "--training /no/such/file: the file cannot be opened");
  EXPECT_EQ(message_of({other.path()}),
            "--training " + other.path() +
                ": it has neither a curve nor losses; expected what train_char_lm --curve or extrapolate "
                "--results wrote");
  EXPECT_TRUE(message_of({broken.path()}).starts_with("--training " + broken.path() + ": "));
  EXPECT_EQ(message_of({empty.path()}),
            "--training " + empty.path() + ": losses is empty, expected a window or more");
}

TEST(Training, ChartsShowTheLossesAndTheLossToBeat) {
  const File one("chart-curve.json", curve), two("chart-losses.json", losses);
  const TrainingStudy study = read_training({one.path(), two.path()});
  const Chart loss = loss_chart(*study.curve);
  ASSERT_EQ(loss.series.size(), 3U);
  EXPECT_EQ(loss.series[1].y, (std::vector<double>{4.5, 1.5}));
  EXPECT_EQ(loss.series[2].name, "3-gram model");
  EXPECT_EQ(loss.series[2].y, (std::vector<double>{2, 2}));
  const Chart reach = extrapolation_chart(*study.extrapolation);
  ASSERT_EQ(reach.series.size(), 2U);
  EXPECT_EQ(reach.series[0].y, (std::vector<double>{1.5, 1.25}));
  EXPECT_EQ(reach.series[1].x, (std::vector<double>{64, 256}));
  EXPECT_TRUE(reach.x.logarithmic);
}

TEST(Training, FindingsSayWhichIsBetter) {
  const File one("finding-curve.json", curve), two("finding-losses.json", losses);
  TrainingStudy study = read_training({one.path(), two.path()});
  EXPECT_EQ(loss_finding(study),
            "Trained from nothing for 30 steps on the characters of book.txt, a small Transformer comes to "
            "1.50 nats a character on what it has not seen, better than a 3-gram model with 2.00.");
  study.curve->ngram_entropy = 1.5;
  EXPECT_NE(loss_finding(study).find("no better than"), std::string::npos);
  EXPECT_EQ(extrapolation_finding(study),
            "Trained on windows of 64 characters and read in windows of 256, ALiBi goes from 1.50 to 1.25 "
            "nats, sinusoidal positions from 1.60 to 3.00.");
}

}  // namespace
}  // namespace headwise::report
