#pragma once

#include <nlohmann/json.hpp>

#include "support/golden.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// Node tests of the ONNX suite, in the golden folder's onnx/, seen through our layouts.
namespace headwise::onnx {

/// The cases of one operator. When there are none the running test is reported as skipped, saying why.
inline std::vector<golden::Case> cases_of(const std::string& operation) {
  const std::filesystem::path folder = golden::folder() / "onnx";
  std::vector<golden::Case> result;
  if (std::filesystem::exists(folder / "manifest.json")) result = golden::cases_in(folder, "onnx");
  std::erase_if(result, [&](const golden::Case& each) { return each.entry().at("operator") != operation; });
  if (result.empty()) {
    // A function of its own: the macro returns from where it stands, and the tests go on.
    [&] { GTEST_SKIP() << "no ONNX cases of " << operation << " in " << folder.string(); }();
  }
  return result;
}

/// An attribute of the node, or the operator's default.
inline double attribute(const golden::Case& each, const std::string& name, double otherwise) {
  const auto& attributes = each.entry().at("attributes");
  return attributes.contains(name) ? attributes.at(name).get<double>() : otherwise;
}
inline std::string attribute(const golden::Case& each, const std::string& name,
                             const std::string& otherwise) {
  const auto& attributes = each.entry().at("attributes");
  return attributes.contains(name) ? attributes.at(name).get<std::string>() : otherwise;
}

/// The suite's own, except that zero is compared to 1e-6, as its README grants single precision; halves were
/// computed in halves, which ours are not.
inline golden::Tolerance tolerance_of(const golden::Case& each) {
  golden::Tolerance tolerance = each.tolerance();
  tolerance.abs = std::max(tolerance.abs, 1e-6);
  for (const auto& tensor : each.entry().at("tensors")) {
    if (tensor.at("onnx_dtype") == "float16") tolerance.abs = std::max(tolerance.abs, 1e-3);
    if (tensor.at("onnx_dtype") == "bfloat16") tolerance.abs = std::max(tolerance.abs, 1e-2);
  }
  return tolerance;
}

/// [batch, heads, length, dim], or [batch, length, heads * dim] when there are `heads`, of one batch entry as
/// our packed [length, heads * dim].
inline Matrix<float> packed(const golden::Tensor& tensor, Index batch) {
  const bool is_packed = tensor.rank() == 3;
  const Index length = tensor.dim(is_packed ? 1 : 2), heads = is_packed ? 1 : tensor.dim(1),
              dim = tensor.dim(-1);
  Matrix<float> result(length, heads * dim);
  for (Index head = 0; head < heads; ++head)
    for (Index i = 0; i < length; ++i)
      for (Index x = 0; x < dim; ++x)
        result(i, head * dim + x) = float(is_packed ? tensor.at(batch, i, x) : tensor.at(batch, head, i, x));
  return result;
}

}  // namespace headwise::onnx
