#pragma once

#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published.hpp"

/// What the golden tests of this model ask, in float and in double.
namespace headwise::golden {

/// In these cases 1 means hidden, the opposite of ours.
inline std::vector<bool> shown(const Case& each, const std::string& hidden) {
  std::vector<bool> result = flags(each, hidden);
  result.flip();
  return result;
}

template <class Scalar>
auto layers_agree(const Case& each, const std::string& prefix) {
  return [&each, prefix](Index layer, const Matrix<Scalar>& x) {
    if (layer == 0) return;  // the input
    EXPECT_TRUE(agrees(x, each, prefix + std::to_string(layer - 1))) << prefix << layer - 1;
  };
}

template <class Scalar>
void check_nn_transformer(const Case& each) {
  const auto model = published::load_torch_transformer<Scalar>(model_folder(each));
  const Matrix<Scalar> source = each.rows("in.src").cast<Scalar>(),
                       target = each.rows("in.tgt").cast<Scalar>();
  const AttendOptions options{.query_rows = rows_of(each, "in.tgt"), .key_rows = rows_of(each, "in.src")};
  const mask::KeyPadding real(shown(each, "in.src_key_padding_mask"));

  const Matrix<Scalar> memory = model.encode(source, {.query_rows = options.key_rows}, real,
                                             layers_agree<Scalar>(each, "out.encoder_layer."));
  EXPECT_TRUE(agrees(memory, each, "out.memory"));

  // The target's mask is any matrix: one for all sequences.
  const Tensor& hidden = each.tensor("in.tgt_mask");
  const auto allows = [&hidden](Index query, Index key) { return hidden.at(query, key) == 0; };
  const Matrix<Scalar> states =
      model.decode(target, memory, options, allows, real, layers_agree<Scalar>(each, "out.decoder_layer."));
  EXPECT_TRUE(agrees(states, each, "out.o"));
}

}  // namespace headwise::golden
