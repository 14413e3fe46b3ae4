#pragma once

#include <headwise/io/json_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// The settings of a published model: a config.json, or an object inside one.
///
/// Every question names a key and says what it expects; the answer is of that kind, or the default given, or
/// a FormatError that names file, key, what was found and what was expected. A key whose value is null counts
/// as missing, as published configurations write unset values so.
///
///     const auto config = io::Config::load("model/config.json");
///     const Index heads = config.integer("num_attention_heads");
///     const double theta = config.object("rope_parameters").number("rope_theta", 10000);
class Config {
 public:
  /// Reads a file. Throws FormatError when it cannot be read, is not a JSON object, or nests deeper than 32.
  static Config load(const std::string& path) {
    const MappedFile file(path);
    return parse(file.text(), file.path());
  }

  /// Reads text; `file` names it in errors.
  static Config parse(std::string_view text, std::string file) {
    const auto limit_depth = [&file](const JsonEvent& event) {
      if (event.depth > 32)
        fail_format(file, "text before byte " + std::to_string(event.byte), "nests deeper than 32");
      return true;
    };
    nlohmann::json object = parse_json(text, 0, file, limit_depth);
    if (!object.is_object()) fail_format(file, "", "is " + json_in_words(object) + ", expected an object");
    return {std::move(file), "", std::move(object)};
  }

  /// True when the key is there and not null.
  bool contains(std::string_view key) const { return find(key) != nullptr; }

  /// A whole number; 7.0 is none.
  Index integer(std::string_view key) const { return whole(key, require(key, "an integer")); }
  Index integer(std::string_view key, Index otherwise) const {
    const auto* const value = find(key);
    return value == nullptr ? otherwise : whole(key, *value);
  }

  /// Any number.
  double number(std::string_view key) const { return real(key, require(key, "a number")); }
  double number(std::string_view key, double otherwise) const {
    const auto* const value = find(key);
    return value == nullptr ? otherwise : real(key, *value);
  }

  bool boolean(std::string_view key) const { return truth(key, require(key, "true or false")); }
  bool boolean(std::string_view key, bool otherwise) const {
    const auto* const value = find(key);
    return value == nullptr ? otherwise : truth(key, *value);
  }

  std::string text(std::string_view key) const { return words(key, require(key, "a text")); }
  std::string text(std::string_view key, std::string otherwise) const {
    const auto* const value = find(key);
    return value == nullptr ? std::move(otherwise) : words(key, *value);
  }

  /// An object within, such as rope_parameters; errors name the path to its keys.
  Config object(std::string_view key) const {
    const nlohmann::json& value = require(key, "an object");
    if (!value.is_object()) fail(key, value, "an object");
    return {file_, path(key) + ".", value};
  }

  /// Lists of one kind.
  std::vector<Index> integers(std::string_view key) const {
    return list<Index>(key, [this](std::string_view name, const auto& value) { return whole(name, value); });
  }
  std::vector<double> numbers(std::string_view key) const {
    return list<double>(key, [this](std::string_view name, const auto& value) { return real(name, value); });
  }
  std::vector<std::string> texts(std::string_view key) const {
    return list<std::string>(key,
                             [this](std::string_view name, const auto& value) { return words(name, value); });
  }

 private:
  Config(std::string file, std::string prefix, nlohmann::json object)
      : file_(std::move(file)), prefix_(std::move(prefix)), object_(std::move(object)) {}

  std::string path(std::string_view key) const { return prefix_ + std::string(key); }

  const nlohmann::json* find(std::string_view key) const {
    const auto found = object_.find(std::string(key));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  const nlohmann::json& require(std::string_view key, std::string_view expected) const {
    const nlohmann::json* const value = find(key);
    if (value == nullptr) fail_format(file_, path(key), "is missing, expected " + std::string(expected));
    return *value;
  }

  [[noreturn]] void fail(std::string_view key, const nlohmann::json& value, std::string_view expected) const {
    fail_format(file_, path(key), "is " + json_in_words(value) + ", expected " + std::string(expected));
  }

  Index whole(std::string_view key, const nlohmann::json& value) const {
    const bool fits = value.is_number_unsigned() ? std::in_range<Index>(value.get<std::uint64_t>())
                                                 : value.is_number_integer();
    if (!fits) fail(key, value, "an integer");
    return value.get<Index>();
  }
  double real(std::string_view key, const nlohmann::json& value) const {
    if (!value.is_number()) fail(key, value, "a number");
    return value.get<double>();
  }
  bool truth(std::string_view key, const nlohmann::json& value) const {
    if (!value.is_boolean()) fail(key, value, "true or false");
    return value.get<bool>();
  }
  std::string words(std::string_view key, const nlohmann::json& value) const {
    if (!value.is_string()) fail(key, value, "a text");
    return value.get_ref<const std::string&>();
  }

  template <class Element>
  std::vector<Element> list(std::string_view key, const auto& element) const {
    const nlohmann::json& array = require(key, "a list");
    if (!array.is_array()) fail(key, array, "a list");
    std::vector<Element> result;
    for (const nlohmann::json& value : array) {
      const std::string name = std::string(key) + "[" + std::to_string(result.size()) + "]";
      result.push_back(element(name, value));
    }
    return result;
  }

  std::string file_, prefix_;  ///< the prefix ends in a dot, unless it is empty
  nlohmann::json object_;
};

}  // namespace headwise::io
