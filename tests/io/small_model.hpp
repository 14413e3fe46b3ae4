#pragma once

#include <headwise/core/parameter.hpp>
#include <headwise/io/safetensors.hpp>

#include "io/safetensors_bytes.hpp"

#include <cstring>
#include <string>
#include <vector>

/// A model small enough to check by eye, and files for it.
namespace headwise::check {

/// Two projections of 2 inputs to 4 outputs, and an embedding.
template <class Scalar>
struct Model {
  Parameter<Scalar> query{Matrix<Scalar>::Zero(4, 2)}, query_bias{Matrix<Scalar>::Zero(1, 4)};
  Parameter<Scalar> key{Matrix<Scalar>::Zero(4, 2)}, key_bias{Matrix<Scalar>::Zero(1, 4)};
  Parameter<Scalar> embedding{Matrix<Scalar>::Zero(3, 2)};

  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  static void visit_all(auto& self, auto&& visit) {
    visit("query.weight", self.query);
    visit("query.bias", self.query_bias);
    visit("key.weight", self.key);
    visit("key.bias", self.key_bias);
    visit("embedding.weight", self.embedding);
  }
};

/// Tensors of floats in memory; entry i of a tensor is first + i.
class Tensors {
 public:
  Tensors& add(const std::string& name, const std::vector<Index>& shape, float first,
               const std::string& dtype = "F32") {
    Index size = 1;
    std::string dimensions;
    for (Index n : shape) {
      size *= n;
      dimensions.append(dimensions.empty() ? "" : ",").append(std::to_string(n));
    }
    const std::size_t begin = data_.size();
    for (Index i = 0; i < size; ++i) {
      const float number = first + float(i);
      char bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      data_.append(bytes, sizeof number);
    }
    header_.append(header_.empty() ? "{\"" : ",\"").append(name).append("\":{\"dtype\":\"").append(dtype);
    header_.append("\",\"shape\":[")
        .append(dimensions)
        .append("],\"data_offsets\":[")
        .append(std::to_string(begin));
    header_.append(",").append(std::to_string(data_.size())).append("]}");
    return *this;
  }

  io::SafeTensors file() {
    bytes_ = file_of(header_ + "}", data_);
    return io::SafeTensors::view(bytes_, "file");
  }

 private:
  std::string header_, data_;
  Bytes bytes_;
};

/// One tensor for each parameter of Model, under its name.
inline Tensors whole() {
  return Tensors()
      .add("query.weight", {4, 2}, 100)
      .add("query.bias", {4}, 200)
      .add("key.weight", {4, 2}, 300)
      .add("key.bias", {4}, 400)
      .add("embedding.weight", {3, 2}, 500);
}

}  // namespace headwise::check
