#include "support/golden.hpp"

#include <fstream>
#include <iterator>
#include <set>

namespace headwise::golden {
namespace {

namespace fs = std::filesystem;

/// The kinds that some test asks for: every `golden::cases("...")` or `cases("...")` in the sources of the
/// tests.
std::set<std::string> kinds_read_by_tests() {
  std::set<std::string> kinds;
  for (const auto& entry : fs::recursive_directory_iterator(small_copy() / ".." / "..")) {
    const auto extension = entry.path().extension();
    const bool is_source = extension == ".cpp" || extension == ".hpp";
    if (!is_source || entry.path().parent_path().filename() == "support") continue;
    std::ifstream stream(entry.path());
    std::string text;
    for (std::string line; std::getline(stream, line);) text += line + '\n';
    const std::string call = "cases(\"";
    for (auto at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      const auto begin = at + call.size();
      kinds.insert(text.substr(begin, text.find('"', begin) - begin));
    }
  }
  return kinds;
}

TEST(GoldenKinds, EveryOperationOfTheSmallCopyIsReadByATest) {
  const std::set<std::string> read = kinds_read_by_tests();
  for (const std::string& kind : kinds_in(small_copy())) {
    if (cases_in(small_copy(), kind).front().is_model()) continue;
    EXPECT_TRUE(read.contains(kind)) << kind;
  }
}

TEST(GoldenKinds, KindsThatNoTestReadsAreSkippedByName) {
  if (!fs::exists(folder() / "manifest.json")) {
    GTEST_SKIP() << "no golden files: " << (folder() / "manifest.json").string()
                 << " is missing; name a folder in HEADWISE_GOLDEN_DIR";
  }
  const std::set<std::string> read = kinds_read_by_tests();
  std::string unread;
  for (const std::string& kind : kinds_in(folder()))
    if (!read.contains(kind)) unread += " " + kind;
  if (!unread.empty()) GTEST_SKIP() << "kinds in " << folder().string() << " that no test reads:" << unread;
}

}  // namespace
}  // namespace headwise::golden
