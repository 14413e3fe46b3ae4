#pragma once

#include <cstdio>
#include <string>

namespace headwise::report {

/// Says what is being done: one line that is rewritten on a terminal, a line a stage elsewhere.
class Progress {
 public:
  explicit Progress(std::FILE* stream = stderr);
  /// Ends the rewritten line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step that is about to begin; steps of one stage differ in their detail only.
  void step(const std::string& stage, const std::string& detail = {});
  /// A line that stays.
  void note(const std::string& what);

 private:
  std::FILE* stream_;
  bool terminal_;
  bool open_ = false;
  std::string stage_;
};

}  // namespace headwise::report
