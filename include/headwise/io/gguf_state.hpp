#pragma once

#include <headwise/core/parameter.hpp>
#include <headwise/io/gguf.hpp>
#include <headwise/stored/weight.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headwise::io {

/// Compares a GGUF file with all parameters of a model: name_map(our name) is the name in the file. Throws
/// one FormatError that lists every missing tensor, every one of another shape, with the byte where the
/// header describes it, and every one that nothing asks for.
template <class Model, class NameMap>
requires std::invocable<const NameMap&, std::string_view>
void expect_gguf_fits(const Model& model, const Gguf& file, const NameMap& name_map) {
  std::vector<std::string> missing, misshapen, surplus;
  std::set<std::string, std::less<>> used;
  model.for_each_parameter([&](std::string_view ours, const auto& parameter) {
    const std::string name = name_map(ours);
    const std::string wanted = std::string(ours) + " [" + std::to_string(parameter.rows()) + ", " +
                               std::to_string(parameter.cols()) + "]";
    if (!file.contains(name)) {
      missing.push_back(in_quotes(name) + " for " + wanted);
      return;
    }
    used.insert(name);
    const GgufTensor& tensor = file.info(name);
    if (tensor.rows == parameter.rows() && tensor.cols == parameter.cols()) return;
    misshapen.push_back(in_quotes(name) + " at byte " + std::to_string(tensor.entry) + " is " +
                        describe(tensor) + ", expected as " + wanted);
  });
  for (const auto& [name, tensor] : file.tensors())
    if (!used.contains(name)) surplus.push_back(in_quotes(name) + " " + describe(tensor));
  if (missing.empty() && misshapen.empty() && surplus.empty()) return;
  std::string text = "the file does not fit the model";
  const auto list = [&text](std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text.append("\n  ").append(title).append(":");
    for (const std::string& line : lines) text.append("\n    ").append(line);
  };
  list("missing", missing);
  list("wrong shape", misshapen);
  list("surplus", surplus);
  fail_format(file.file(), "", text);
}

/// Reads all parameters of a model from a file that fits it. Learned parameters become floats of their own
/// type; a stored::Weight stays as the file has it, or is rounded to `format`.
template <class Model, class NameMap>
requires std::invocable<const NameMap&, std::string_view>
void read_gguf(Model& model, const Gguf& file, const NameMap& name_map,
               std::optional<stored::Format> format = {}) {
  model.for_each_parameter([&](std::string_view ours, auto& parameter) {
    const std::string name = name_map(ours);
    if constexpr (std::same_as<std::remove_cvref_t<decltype(parameter)>, stored::Weight>) {
      const GgufTensor& tensor = file.info(name);
      parameter = format && *format != tensor.format
                      ? stored::Weight::rounded(file.matrix<float>(name), *format)
                      : stored::Weight::of(tensor.format, tensor.rows, tensor.cols, file.bytes(name));
    } else {
      parameter.value = file.matrix<typename std::remove_cvref_t<decltype(parameter)>::Scalar>(name);
    }
  });
}

}  // namespace headwise::io
