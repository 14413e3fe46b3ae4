#pragma once

#include <headwise/io/tensor_source.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// How one of our names is written in a published file. Names are compared part by part, parts being what
/// dots separate; a '*' stands for any one part, and is filled in again on the other side, in order:
///
///     {"layers.*.attention.output.*", "encoder.layer.*.attention.output.dense.*"}
struct NameRule {
  std::string ours, theirs;
  std::vector<Range> outputs{};    ///< of a fused tensor; all when empty
  bool transposed_weight = false;  ///< weights are stored [in, out]; biases are not affected
};

namespace detail {

inline std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  parts.push_back(name);
  return parts;
}

/// What the stars stand for; false when the name does not match.
inline bool match_parts(std::string_view pattern, std::string_view name,
                        std::vector<std::string_view>& stars) {
  const auto wanted = parts_of(pattern), given = parts_of(name);
  if (wanted.size() != given.size()) return false;
  stars.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == "*") {
      stars.push_back(given[i]);
    } else if (wanted[i] != given[i]) {
      return false;
    }
  }
  return true;
}

inline std::string filled_in(std::string_view pattern, const std::vector<std::string_view>& stars) {
  std::string name;
  std::size_t next = 0;
  for (const char c : pattern) {
    if (c == '*' && next < stars.size()) {
      name.append(stars[next++]);
    } else {
      name.push_back(c);
    }
  }
  return name;
}

}  // namespace detail

/// The name map of a family of published models, for load_state_dict. A name without a rule stands for
/// itself, so that a forgotten one is reported as missing. The first rule that fits is used.
class NameRules {
 public:
  NameRules(std::initializer_list<NameRule> rules) : rules_(rules) {}
  explicit NameRules(std::vector<NameRule> rules) : rules_(std::move(rules)) {}

  TensorSource operator()(std::string_view name) const {
    std::vector<std::string_view> stars;
    for (const NameRule& rule : rules_) {
      if (!detail::match_parts(rule.ours, name, stars)) continue;
      return {.name = detail::filled_in(rule.theirs, stars),
              .outputs = rule.outputs,
              .transposed = rule.transposed_weight && name.ends_with(".weight")};
    }
    return {.name = std::string(name)};
  }

 private:
  std::vector<NameRule> rules_;
};

}  // namespace headwise::io
