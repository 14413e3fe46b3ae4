#include "report/figures.hpp"

#include "report/gallery.hpp"
#include "report/palette.hpp"

#include <fstream>
#include <stdexcept>

namespace headwise::report {

void expect_writable(const std::filesystem::path& path) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  if (!std::ofstream(path, std::ios::app)) throw std::runtime_error("cannot write " + path.string());
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void write_figures(const std::filesystem::path& folder, Progress& progress) {
  std::size_t written = 0;
  for (const auto& pictures : {draw_masks(), draw_calls(), draw_scores(), draw_positions()}) {
    for (const Picture& picture : pictures) {
      progress.step("drawing", picture.name);
      write_file(folder / (picture.name + ".svg"), standalone(picture.svg));
      ++written;
    }
  }
  progress.note(std::to_string(written) + " figures in " + folder.string());
}

}  // namespace headwise::report
