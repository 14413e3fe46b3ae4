#pragma once

#include <headwise/io/mapped_file.hpp>
#include <headwise/io/safetensors.hpp>
#include <headwise/io/write_safetensors.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Damaged copies of model folders, for tests of loaders.
namespace headwise::check {

/// A folder of its own under the temporary one, removed at the end.
class ModelCopy {
 public:
  ModelCopy(const std::filesystem::path& original, const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("headwise_" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(original / file, path_ / file);
  }
  ModelCopy(const ModelCopy&) = delete;
  ModelCopy& operator=(const ModelCopy&) = delete;
  ~ModelCopy() { std::filesystem::remove_all(path_); }

  std::string path() const { return path_.string(); }
  std::string config_file() const { return (path_ / "config.json").string(); }

  /// Replaces the first occurrence of a text in config.json.
  void edit_config(const std::string& from, const std::string& to) const {
    std::string text = read(path_ / "config.json");
    const auto at = text.find(from);
    if (at == text.npos) throw std::runtime_error("config.json has no " + from);
    write(path_ / "config.json", text.replace(at, from.size(), to));
  }

  void write_file(const std::string& name, const std::string& text) const { write(path_ / name, text); }
  void remove_file(const std::string& name) const { std::filesystem::remove(path_ / name); }

  /// Rewrites the weights: keep(name) says which tensors remain, and `copies` adds {new name, name of a
  /// tensor}.
  void edit_weights(const std::function<bool(const std::string&)>& keep,
                    const std::vector<std::pair<std::string, std::string>>& copies = {}) const {
    const io::SafeTensors file((path_ / "model.safetensors").string());
    std::vector<io::TensorView> views;
    const auto add = [&](const std::string& name, const std::string& of) {
      const io::TensorInfo& info = file.info(of);
      views.push_back({name, info.dtype, info.shape, file.bytes(of)});
    };
    for (const std::string& name : file.names())
      if (keep(name)) add(name, name);
    for (const auto& [copy, of] : copies) add(copy, of);
    io::write_safetensors((path_ / "model.safetensors").string(), views);
  }

 private:
  static std::string read(const std::filesystem::path& file) {
    return std::string(io::MappedFile(file.string()).text());
  }
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }

  std::filesystem::path path_;
};

}  // namespace headwise::check
