#pragma once

#include <cstdio>
#include <string>

namespace headwise::report {

/// Says on stderr what is being done: one line that is rewritten on a terminal, a line a step elsewhere.
class Progress {
 public:
  explicit Progress(std::FILE* stream = stderr);
  /// Ends the rewritten line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step that is about to begin.
  void step(const std::string& what);
  /// A line that stays.
  void note(const std::string& what);

 private:
  std::FILE* stream_;
  bool terminal_;
  bool open_ = false;
};

}  // namespace headwise::report
