#include "report/progress.hpp"

#include <unistd.h>

namespace headwise::report {

namespace {

/// Rewrites a line of a terminal: back to its start, and clear what is there.
constexpr const char* rewind_line = "\r\033[K";

}  // namespace

Progress::Progress(std::FILE* stream) : stream_(stream), terminal_(isatty(fileno(stream)) == 1) {}

Progress::~Progress() {
  if (open_) std::fputs(rewind_line, stream_);
}

void Progress::step(const std::string& stage, const std::string& detail) {
  if (terminal_) {
    std::fprintf(stream_, "%s%s%s%s ...", rewind_line, stage.c_str(), detail.empty() ? "" : ": ",
                 detail.c_str());
    open_ = true;
  } else if (stage != stage_) {
    std::fprintf(stream_, "%s ...\n", stage.c_str());
  }
  std::fflush(stream_);
  stage_ = stage;
}

void Progress::note(const std::string& what) {
  std::fprintf(stream_, "%s%s\n", open_ ? rewind_line : "", what.c_str());
  std::fflush(stream_);
  open_ = false;
}

}  // namespace headwise::report
