#pragma once

#include <string>
#include <vector>

namespace headwise::report {

/// One table, written on the terminal and on the page from the same strings.
struct Table {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `head`; the first cell names the row
  bool words = false;  ///< cells hold words rather than numbers, and are aligned to the left
};

/// Aligned columns: the first to the left, numbers to the right.
/// Throws std::invalid_argument when a row is not as long as the head.
std::string to_text(const Table& table);

/// The same as HTML, in a frame that scrolls sideways on a narrow screen.
std::string to_html(const Table& table);

}  // namespace headwise::report
