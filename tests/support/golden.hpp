#pragma once

#include <headwise/core/matrix.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Golden files: inputs and outputs of independent implementations, in a folder with a manifest.json.
///
/// Two folders are read: the small copy in tests/data/golden, always there, and the folder that the
/// environment variable HEADWISE_GOLDEN_DIR names (else ../shared/golden beside the project). All sizes,
/// settings and tolerances come from the files: any folder of the format serves, whatever cases it holds.
///
///     TEST(SdpaGolden, OutputAgrees) {
///       for (const golden::Case& each : golden::cases("sdpa")) {
///         SCOPED_TRACE(each.name());
///         EXPECT_TRUE(golden::match(output, each.heads("out.o"), each.tolerance()));
///       }
///     }
namespace headwise::golden {

/// |x - e| <= abs + rel |e|, as the manifest gives it.
struct Tolerance {
  double abs = 0, rel = 0;
};

/// A dense row-major array of any rank. I64 and U8 are exact in double up to 2^53.
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::vector<Index> shape, std::vector<double> values);

  const std::vector<Index>& shape() const noexcept { return shape_; }
  Index rank() const noexcept { return Index(shape_.size()); }
  /// The size of one axis; negative counts from the last. Throws std::out_of_range for an axis that is not
  /// there.
  Index dim(Index axis) const;
  Index size() const noexcept { return Index(values_.size()); }
  std::span<const double> values() const noexcept { return values_; }

  /// The element at one index an axis. Throws std::out_of_range.
  template <class... Is>
  double at(Is... is) const {
    return at_index({Index(is)...});
  }
  double at_index(std::initializer_list<Index> index) const;

  /// The element when this tensor is broadcast from the right to [batch, heads, q_len, k_len].
  double broadcast(Index batch, Index head, Index query, Index key) const;

 private:
  std::vector<Index> shape_;
  std::vector<double> values_;
};

/// All leading axes become rows, the last one columns: [2, 5, 12] -> [10, 12]; a vector is one row.
Matrix<double> as_rows(const Tensor& tensor);
/// [batch, heads, length, dim] -> [batch * length, heads * dim], the library's packed heads.
Matrix<double> as_heads(const Tensor& tensor);
/// [batch, heads, length] -> [batch * length, heads], the library's log-sum-exp.
Matrix<double> as_lse(const Tensor& tensor);
/// [batch * length, heads * dim] -> [batch, heads, length, dim].
Tensor from_heads(const Matrix<double>& packed, Index batch, Index heads);

/// The tensors of a safetensors file (F64, F32, I64, U8), read without the library.
/// Throws std::runtime_error, naming file and tensor.
std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& file);

/// One entry of a manifest with its tensors.
class Case {
 public:
  Case(std::filesystem::path folder, const nlohmann::json& entry);

  const std::string& name() const noexcept { return name_; }
  const std::string& kind() const noexcept { return kind_; }
  Tolerance tolerance() const noexcept { return tolerance_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }

  /// Sizes and settings. Include <nlohmann/json.hpp> to read this; the typed questions below do not need it.
  const nlohmann::json& config() const;
  /// The whole manifest entry.
  const nlohmann::json& entry() const noexcept { return *entry_; }

  /// True when config has the setting and it is not null.
  bool has_setting(const std::string& key) const;
  Index integer(const std::string& key) const;
  double number(const std::string& key) const;
  bool flag(const std::string& key) const;
  std::string text(const std::string& key) const;
  double number_or(const std::string& key, double otherwise) const;
  std::string text_or(const std::string& key, const std::string& otherwise) const;

  /// The settings of config that are not null and not among `known`, comma by comma: a case that has some
  /// asks for more than the test does, and is to be skipped.
  std::string settings_besides(const std::vector<std::string_view>& known) const;

  bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
  /// Throws std::out_of_range, naming case and tensor.
  const Tensor& tensor(const std::string& name) const;
  std::vector<std::string> tensor_names() const;
  /// "F64", "F32", "I64" or "U8" (booleans), as the manifest says. Throws when it does not name the tensor.
  std::string dtype(const std::string& tensor) const;
  Matrix<double> rows(const std::string& name) const { return as_rows(tensor(name)); }
  Matrix<double> heads(const std::string& name) const { return as_heads(tensor(name)); }
  Matrix<double> lse(const std::string& name) const { return as_lse(tensor(name)); }
  std::vector<Index> integers(const std::string& name) const;

  /// A model case has weights and a config.json of its own.
  bool is_model() const;
  std::filesystem::path weights_file() const;
  std::filesystem::path config_file() const;

 private:
  std::filesystem::path folder_;
  std::shared_ptr<const nlohmann::json> entry_;
  std::string name_, kind_;
  Tolerance tolerance_;
  std::map<std::string, Tensor> tensors_;
};

/// tests/data/golden.
std::filesystem::path small_copy();
/// What HEADWISE_GOLDEN_DIR names, else ../shared/golden beside the project. May be missing.
std::filesystem::path folder();

/// All cases of one kind, the small copy's first. When the folder is missing or has none of this kind, the
/// running test is reported as skipped, saying so, though it still checks the small copy's cases.
std::vector<Case> cases(const std::string& kind);
/// All cases of one kind in one folder. Throws std::runtime_error when it has no manifest.json.
std::vector<Case> cases_in(const std::filesystem::path& folder, const std::string& kind);
/// The kinds in a folder's manifest, sorted, each once.
std::vector<std::string> kinds_in(const std::filesystem::path& folder);

/// Reports the running test as skipped for a case with a setting that it does not know; the test goes on.
void skip(const Case& which, const std::string& why);

/// Equal shape, and every |x - e| <= abs + rel |e|; infinities must be equal, a NaN never passes.
testing::AssertionResult match(const Matrix<double>& got, const Matrix<double>& expected,
                               Tolerance tolerance);
testing::AssertionResult match(const Tensor& got, const Tensor& expected, Tolerance tolerance);

}  // namespace headwise::golden
