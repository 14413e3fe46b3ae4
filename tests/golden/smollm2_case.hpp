#pragma once

#include <headwise/core/matrix.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// What the golden tests of the real decoder share: SmolLM2-135M-Instruct, whose weights are not stored with
/// them.
namespace headwise::golden {

/// The GGUF file in the folder that HEADWISE_SMOLLM2_DIR names, else in the cache that run.sh fills; empty
/// when there is none.
inline std::filesystem::path smollm2_file() {
  namespace fs = std::filesystem;
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  fs::path folder = variable("HEADWISE_SMOLLM2_DIR");
  if (folder.empty()) {
    const std::string cache = variable("XDG_CACHE_HOME");
    folder = (cache.empty() ? fs::path(variable("HOME")) / ".cache" : fs::path(cache)) / "headwise" /
             "smollm2-135m-instruct";
  }
  const fs::path file = folder / "SmolLM2-135M-Instruct.Q4_1.gguf";
  return fs::exists(file) ? file : fs::path();
}

inline std::filesystem::path smollm2_golden() { return folder() / "smollm2"; }

/// Why a test of the real decoder cannot run, or nothing.
inline std::string smollm2_missing() {
  if (smollm2_file().empty()) {
    return "the real decoder is not checked: HEADWISE_SMOLLM2_DIR does not name the folder of "
           "SmolLM2-135M-Instruct.Q4_1.gguf, and the cache has none";
  }
  if (!std::filesystem::exists(smollm2_golden() / "info.json")) {
    return "the real decoder is not checked: no golden files in " + smollm2_golden().string();
  }
  return {};
}

using Tensors = std::map<std::string, Tensor>;

inline Tensors smollm2_tensors(const std::string& name) {
  return read_safetensors(smollm2_golden() / (name + ".safetensors"));
}

inline std::vector<TokenId> tokens_of(const Tensor& tensor) {
  std::vector<TokenId> ids;
  for (const double each : tensor.values()) ids.push_back(TokenId(each));
  return ids;
}

/// |x - e| <= tolerance max |e| in each row: residuals of the first token are hundreds of times those of the
/// others.
inline testing::AssertionResult rows_agree(const Matrix<float>& got, const Tensor& expected,
                                           double tolerance) {
  const Matrix<double> wanted = as_rows(expected);
  if (got.rows() != wanted.rows() || got.cols() != wanted.cols())
    return testing::AssertionFailure() << "other shape";
  for (Index row = 0; row < got.rows(); ++row) {
    const double limit = tolerance * wanted.row(row).cwiseAbs().maxCoeff();
    const double worst = (got.row(row).cast<double>() - wanted.row(row)).cwiseAbs().maxCoeff();
    if (!(worst <= limit)) {
      return testing::AssertionFailure()
             << "row " << row << " differs by " << worst << ", tolerance " << limit;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace headwise::golden
