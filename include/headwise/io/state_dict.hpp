#pragma once

#include <headwise/core/parameter.hpp>
#include <headwise/io/safetensors.hpp>
#include <headwise/io/tensor_source.hpp>
#include <headwise/io/write_safetensors.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// Which tensors a file may hold without any parameter asking for them.
struct LoadOptions {
  /// Patterns of names that are passed over; a '*' stands for any text: "*.position_ids", "cls.*".
  std::vector<std::string> ignored{};
  /// Groups of names that mean one matrix, such as an output layer tied to the embedding. One name of a group
  /// is enough, whichever it is; the others are reported as duplicates when they are there.
  std::vector<std::vector<std::string>> ties{};
};

/// What a file held besides the parameters.
struct LoadReport {
  /// A tensor that repeats another one by a tie.
  struct Duplicate {
    std::string name, of;
    bool identical = false;  ///< bit for bit; when it is not, `of` was used and `name` was not
  };

  Index parameters = 0;              ///< read from the file
  std::vector<std::string> kept;     ///< our parameters that no tensor was named for
  std::vector<std::string> ignored;  ///< tensors passed over by a pattern
  std::vector<Duplicate> duplicates{};
};

/// True when text is pattern, each '*' standing for any text, also none.
inline bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  text.remove_prefix(star);
  for (std::size_t skip = 0; skip <= text.size(); ++skip)
    if (matches(pattern, text.substr(skip))) return true;
  return false;
}

namespace detail {

/// Compares a file with what a model asks for, and gathers all that does not fit.
class StateDictCheck {
 public:
  StateDictCheck(const SafeTensors& file, const LoadOptions& options) : file_(file), options_(options) {}

  /// Settles where a parameter's numbers come from: the name may give way to a tied one that is there.
  TensorSource settle(std::string_view parameter, TensorSource source, Shape expected) {
    if (source.name.empty()) {
      report_.kept.emplace_back(parameter);
      return source;
    }
    ++report_.parameters;
    if (!file_.contains(source.name)) {
      const std::string stand_in = stored_twin(source.name);
      if (stand_in.empty()) {
        missing_.push_back(in_quotes(source.name) + " for " + std::string(parameter) + " " +
                           describe(expected));
        return source;
      }
      source.name = stand_in;
    }
    used_.insert(source.name);
    check_shape(parameter, source, expected);
    return source;
  }

  /// Throws one FormatError with all that was missing, misshapen or left over.
  LoadReport finish() {
    for (const auto& [name, info] : file_.tensors())
      if (!used_.contains(name)) pass_over(name, info);
    if (missing_.empty() && misshapen_.empty() && surplus_.empty()) return std::move(report_);
    std::string text = "the file does not fit the model";
    list(text, "missing", missing_);
    list(text, "wrong shape or type", misshapen_);
    list(text, "surplus (name it in LoadOptions::ignored if it is not needed)", surplus_);
    fail_format(file_.file(), "", text);
  }

 private:
  void check_shape(std::string_view parameter, const TensorSource& source, Shape expected) {
    const TensorInfo& info = file_.info(source.name);
    const std::string got = in_quotes(source.name) + " is " + io::describe(info.dtype, info.shape);
    const std::string wanted = " for " + std::string(parameter) + " " + describe(expected);
    if (facts(info.dtype).kind != NumberKind::floating) {
      misshapen_.push_back(got + ", expected floating-point numbers" + wanted);
    } else if (const Range* range = outside(source, info)) {
      misshapen_.push_back(got + ", expected outputs " + std::to_string(range->begin) + " to " +
                           std::to_string(range->end) + wanted);
    } else if (const Shape picked = shape_of(source, info);
               source.reshaped ? picked.rows * picked.cols != expected.rows * expected.cols
                               : picked != expected) {
      const bool whole = source.outputs.empty() && !source.transposed;
      misshapen_.push_back(got + (whole ? "" : ", which gives " + describe(picked)) + ", expected " +
                           describe(expected) + " for " + std::string(parameter));
    }
  }

  /// A tied name that the file has, or nothing.
  std::string stored_twin(const std::string& name) const {
    for (const auto& group : options_.ties) {
      if (std::find(group.begin(), group.end(), name) == group.end()) continue;
      for (const std::string& twin : group)
        if (file_.contains(twin)) return twin;
    }
    return {};
  }

  void pass_over(const std::string& name, const TensorInfo& info) {
    for (const auto& group : options_.ties) {
      if (std::find(group.begin(), group.end(), name) == group.end()) continue;
      const auto of =
          std::find_if(group.begin(), group.end(), [&](const auto& twin) { return used_.contains(twin); });
      if (of == group.end()) continue;
      report_.duplicates.push_back({name, *of, identical(info, file_.info(*of), name, *of)});
      return;
    }
    const auto fits = [&](const std::string& pattern) { return matches(pattern, name); };
    if (std::any_of(options_.ignored.begin(), options_.ignored.end(), fits)) {
      report_.ignored.push_back(name);
    } else {
      surplus_.push_back(in_quotes(name) + " " + io::describe(info.dtype, info.shape));
    }
  }

  bool identical(const TensorInfo& a, const TensorInfo& b, const std::string& a_name,
                 const std::string& b_name) const {
    const auto x = file_.bytes(a_name), y = file_.bytes(b_name);
    return a.dtype == b.dtype && a.shape == b.shape && std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

  static void list(std::string& text, std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text.append("\n  ").append(title).append(":");
    for (const std::string& line : lines) text.append("\n    ").append(line);
  }

  const SafeTensors& file_;
  const LoadOptions& options_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::string> missing_, misshapen_, surplus_;
  LoadReport report_;
};

/// A name map may answer with a whole source or with only its name.
inline TensorSource as_source(TensorSource source) { return source; }
inline TensorSource as_source(std::string name) { return {.name = std::move(name)}; }

}  // namespace detail

/// Reads all parameters of a model from a file, under the names and in the layout that it was published with.
///
/// name_map(our name) is the name in the file, or a TensorSource where layouts differ; called twice a
/// parameter. The file is compared with the whole model first. Throws one FormatError that lists every
/// missing tensor, every one of wrong shape or type, and every one that nothing asks for and `options` do not
/// excuse; then the model is as it was. 16-bit floats become Scalar exactly; F64 is rounded when Scalar is
/// float.
template <class Model, class NameMap>
requires std::invocable<const NameMap&, std::string_view> LoadReport load_state_dict(
    Model& model, const SafeTensors& file, const NameMap& name_map, const LoadOptions& options = {}) {
  detail::StateDictCheck check(file, options);
  std::vector<TensorSource> sources;
  model.for_each_parameter([&](std::string_view name, auto& parameter) {
    const detail::Shape shape{parameter.rows(), parameter.cols()};
    sources.push_back(check.settle(name, detail::as_source(name_map(name)), shape));
  });
  LoadReport report = check.finish();

  std::size_t next = 0;
  model.for_each_parameter([&](std::string_view, auto& parameter) {
    const TensorSource& source = sources[next++];
    if (source.name.empty()) return;
    using Scalar = scalar_of<decltype(parameter)>;
    parameter.value = detail::read_source<Scalar>(file, source, {parameter.rows(), parameter.cols()});
  });
  return report;
}

/// Reads all parameters of a model from a file under our own names, as `save_state_dict` writes them.
template <class Model>
LoadReport load_state_dict(Model& model, const SafeTensors& file, const LoadOptions& options = {}) {
  return load_state_dict(
      model, file, [](std::string_view name) { return std::string(name); }, options);
}

/// Writes all parameters of a model under our own names, bit for bit: F32 for float, F64 for double.
/// Throws as write_safetensors does: ShapeError for two parameters of one name, FormatError for the file.
template <class Model>
void save_state_dict(Model& model, const std::string& path,
                     const std::map<std::string, std::string>& metadata = {}) {
  std::vector<TensorView> tensors;
  model.for_each_parameter([&](std::string_view name, const auto& parameter) {
    tensors.push_back(tensor_view(std::string(name), parameter.value));
  });
  write_safetensors(path, tensors, metadata);
}

}  // namespace headwise::io
