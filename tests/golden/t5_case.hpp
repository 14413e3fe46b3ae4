#pragma once

#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published.hpp"

/// What the golden tests of this model ask, in float and in double.
namespace headwise::golden {

template <class Scalar>
auto states_agree(const Case& each, const std::string& prefix, Index layers) {
  return [&each, prefix, layers](Index layer, const Matrix<Scalar>& x) {
    if (layer == layers) return;  // the expected one has been through the final norm
    EXPECT_TRUE(agrees(x, each, prefix + std::to_string(layer))) << prefix << layer;
  };
}

template <class Scalar>
void check_t5(const Case& each) {
  const published::T5<Scalar> model = published::load_t5<Scalar>(model_folder(each));
  const Index encoder_layers = model.options().encoder_layers,
              decoder_layers = model.options().decoder_layers;
  const RaggedRows source = rows_of(each, "in.input_ids");
  const mask::KeyPadding real(flags(each, "in.attention_mask"));

  const Matrix<Scalar> memory =
      model.encode(ids(each, "in.input_ids"), {.query_rows = source}, real,
                   states_agree<Scalar>(each, "out.encoder_hidden_states.", encoder_layers));
  EXPECT_TRUE(agrees(memory, each, "out.encoder_last_hidden_state"));

  const auto target_ids = ids(each, "in.decoder_input_ids");
  const AttendOptions options{.query_rows = rows_of(each, "in.decoder_input_ids"), .key_rows = source};
  const Matrix<Scalar> states =
      model.decode(target_ids, memory, options, mask::Causal{}, real,
                   states_agree<Scalar>(each, "out.decoder_hidden_states.", decoder_layers));
  EXPECT_TRUE(agrees(states, each, "out.decoder_hidden_states." + std::to_string(decoder_layers)));
  EXPECT_TRUE(agrees(Matrix<Scalar>(model.logits(states)), each, "out.logits"));
}

}  // namespace headwise::golden
