#pragma once

#include "report/progress.hpp"

#include <filesystem>

namespace headwise::report {

/// Writes folder/<mask|attention|score|position>/<name>.svg for every picture of the galleries: the figures of the
/// docs. Throws std::runtime_error when a file cannot be written.
void write_figures(const std::filesystem::path& folder, Progress& progress);

/// Throws std::runtime_error unless the file can be written; makes its folder. What it holds stays.
void expect_writable(const std::filesystem::path& path);

/// Writes a whole file, or throws std::runtime_error naming it.
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace headwise::report
