#pragma once

#include <headwise/io/config.hpp>
#include <headwise/io/name_rules.hpp>
#include <headwise/io/state_dict.hpp>
#include <headwise/layer/activation.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// A published model as it lies on disk: config.json and model.safetensors in one folder.
class ModelFolder {
 public:
  /// Throws FormatError when a file is missing or damaged, when the weights are split over several files, or
  /// when config.json is of another model_type than `model_type` (a file without model_type passes).
  ModelFolder(const std::string& folder, std::string_view model_type)
      : config_file_(folder + "/config.json"),
        config_(Config::load(config_file_)),
        weights_(weights_file(folder)) {
    if (config_.contains("model_type")) expect_text("model_type", model_type);
    for (const auto& [name, info] : weights_.tensors()) numbers_ += info.rows * info.cols;
  }

  const Config& config() const noexcept { return config_; }
  const SafeTensors& weights() const noexcept { return weights_; }

  /// A size of something stored: a whole number above 0, and no more than there are numbers in the weights,
  /// so that nothing is allocated for a nonsense. Throws FormatError, naming file and key.
  Index size(std::string_view key) const { return positive(key, config_.integer(key)); }
  Index size(std::string_view key, Index otherwise) const {
    return positive(key, config_.integer(key, otherwise));
  }

  /// The non-linearity that a key names. Throws FormatError for one that the library does not have.
  layer::Activation activation(std::string_view key, const std::string& otherwise) const {
    return activation_called(key, config_.text(key, otherwise));
  }
  layer::Activation activation_called(std::string_view key, std::string_view name) const {
    using layer::Activation;
    if (name == "relu") return Activation::relu;
    if (name == "gelu" || name == "gelu_python") return Activation::gelu;
    if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast" ||
        name == "gelu_python_tanh")
      return Activation::gelu_tanh;
    if (name == "silu" || name == "swish") return Activation::silu;
    fail(key, in_quotes(name),
         "'relu', 'gelu', 'gelu_new', 'gelu_pytorch_tanh', 'gelu_fast', 'silu' or 'swish'");
  }

  /// Refuses settings that a loader does not know: a key that is there must say `supported`.
  void expect_flag(std::string_view key, bool supported) const {
    if (config_.boolean(key, supported) != supported) {
      fail(key, supported ? "false" : "true", supported ? "true" : "false");
    }
  }
  void expect_text(std::string_view key, std::string_view supported) const {
    const std::string given = config_.text(key, std::string(supported));
    if (given != supported) fail(key, in_quotes(given), in_quotes(supported));
  }

  [[noreturn]] void fail(std::string_view key, std::string_view got, std::string_view expected) const {
    fail_format(config_file_, key, "is " + std::string(got) + ", expected " + std::string(expected));
  }

  /// `prefix` when the file's names begin with it, else nothing: checkpoints of one model are published with
  /// and without the name of the part that they are.
  std::string prefix_of(const std::string& prefix, const std::string& first_name) const {
    return weights_.contains(prefix + first_name) ? prefix : std::string();
  }

 private:
  static std::string weights_file(const std::string& folder) {
    const std::string whole = folder + "/model.safetensors", index = whole + ".index.json";
    if (!std::filesystem::exists(whole) && std::filesystem::exists(index)) {
      fail_format(index, "",
                  "lists weights split over several files, expected one model.safetensors; join them first");
    }
    return whole;
  }

  Index positive(std::string_view key, Index value) const {
    if (value <= 0) fail(key, std::to_string(value), "a positive number");
    if (value > numbers_) {
      fail(key, std::to_string(value),
           "at most " + std::to_string(numbers_) + ", the numbers in model.safetensors");
    }
    return value;
  }

  std::string config_file_;
  Config config_;
  SafeTensors weights_;
  Index numbers_ = 0;
};

}  // namespace headwise::io
