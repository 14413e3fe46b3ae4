#pragma once

#include <headwise/core/matrix.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headwise::report {

/// What the caller of headwise_report wants.
struct Choices {
  std::string model;                  ///< folder of the sentence encoder; none: no real sentences
  std::string decoder;                ///< GGUF file of a decoder; none: no real text
  std::vector<std::string> training;  ///< what the examples that train have written
  std::string figures;                ///< folder for the figures of the docs; given: nothing else is done
  std::string out = "headwise-report.html";
  Index max_length = 16384;
  bool quick = false;
};

/// Fills in `choices`; returns the exit code when the program should end here, after --help or a mistake.
std::optional<int> read_command_line(int argc, char** argv, Choices& choices);

}  // namespace headwise::report
