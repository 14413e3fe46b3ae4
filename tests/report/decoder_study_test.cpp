#include "report/decoder_study.hpp"

#include <gtest/gtest.h>

#include "report/findings.hpp"
#include "report/tables.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace headwise::report {
namespace {

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

DecoderStudy study_of(const std::string& file) {
  const Stream nowhere(std::tmpfile(), std::fclose);
  Progress progress(nowhere.get());
  return study_decoder(file, 1, progress);
}

TEST(DecoderStudy, ItsTextIsPartOfTheBookOfTheExamples) {
  std::ifstream file(HEADWISE_SOURCE_DIR "/examples/data/alice.txt", std::ios::binary);
  std::ostringstream book;
  book << file.rdbuf();
  EXPECT_NE(book.str().find(excerpt()), std::string::npos);
  EXPECT_GT(excerpt().size(), 3000U);
  EXPECT_LE(excerpt().size(), 10240U);
}

TEST(DecoderStudy, SaysWhatIsMissing) {
  EXPECT_EQ(study_of("").problem,
            "no decoder was given. Pass --decoder FILE, SmolLM2-135M-Instruct.Q4_1.gguf for instance; the "
            "likelihood of a real text is left out.");
  EXPECT_EQ(study_of("/no/such.gguf").problem,
            "there is no file /no/such.gguf; the likelihood of a real text is left out.");
}

TEST(DecoderStudy, SaysThatAFileIsNoModel) {
  const auto path = std::filesystem::temp_directory_path() / "headwise-no-model.gguf";
  std::ofstream(path) << "this is no model at all";
  const DecoderStudy study = study_of(path.string());
  std::filesystem::remove(path);
  EXPECT_TRUE(study.problem.starts_with("the decoder could not be read: ")) << study.problem;
  EXPECT_NE(study.problem.find("headwise-no-model.gguf"), std::string::npos) << study.problem;
  EXPECT_TRUE(study.rows.empty());
}

TEST(DecoderStudy, TableAndFindingShowPerplexities) {
  DecoderStudy study;
  study.model = "some.gguf";
  study.tokens = 1000;
  study.rows = {{"dense", std::log(20.0), 150}, {"window:64", std::log(32.0), 151}};
  const Table table = decoder_table(study);
  EXPECT_EQ(table.caption, "some.gguf reads 1,000 tokens of a book, one core");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"window:64", "3.466", "32.0", "151"}));
  EXPECT_EQ(decoder_finding(study),
            "Over 1,000 tokens of a book, some.gguf has a perplexity of 20.0 (dense), 32.0 (window:64).");
  study.problem = "none";
  EXPECT_EQ(decoder_finding(study), "");
}

}  // namespace
}  // namespace headwise::report
