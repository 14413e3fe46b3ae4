#pragma once

#include <headwise/core/ragged_rows.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"

#include <concepts>
#include <string>
#include <vector>

/// What the golden tests of whole models share.
namespace headwise::golden {

/// The folder that holds config.json and model.safetensors of a case.
inline std::string model_folder(const Case& which) { return which.config_file().parent_path().string(); }

inline std::vector<TokenId> ids(const Case& which, const std::string& tensor) {
  std::vector<TokenId> result;
  for (const Index id : which.integers(tensor)) result.push_back(TokenId(id));
  return result;
}

/// A padded batch [batch, length] as a ragged one of equal lengths.
inline RaggedRows rows_of(const Case& which, const std::string& tensor) {
  return RaggedRows::uniform(which.tensor(tensor).dim(0), which.tensor(tensor).dim(1));
}

/// Nonzero means true.
inline std::vector<bool> flags(const Case& which, const std::string& tensor) {
  std::vector<bool> result;
  for (const double x : which.tensor(tensor).values()) result.push_back(x != 0);
  return result;
}

/// The tensor that a model computing in Scalar is held against: `name_f64` in double where there is one.
template <class Scalar>
std::string expected_name(const Case& which, const std::string& name) {
  return std::same_as<Scalar, double> && which.has(name + "_f64") ? name + "_f64" : name;
}

/// Within the case's tolerance.
template <class Scalar>
testing::AssertionResult agrees(const Matrix<Scalar>& got, const Case& which, const std::string& name) {
  return match(got.template cast<double>(), which.rows(expected_name<Scalar>(which, name)),
               which.tolerance());
}

}  // namespace headwise::golden
