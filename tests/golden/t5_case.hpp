#pragma once

#include <headwise/io/t5.hpp>
#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"

#include <utility>

/// What the golden tests of this model ask, in float and in double.
namespace headwise::golden {

template <class Scalar>
auto states_agree(const Case& each, const std::string& prefix, Index layers) {
  return [&each, prefix, layers](Index layer, const Matrix<Scalar>& x) {
    if (layer == layers) return;  // the expected one has been through the final norm
    EXPECT_TRUE(agrees(x, each, prefix + std::to_string(layer))) << prefix << layer;
  };
}

/// Token by token, with a cache, the states are those of the whole text.
template <class Scalar>
Matrix<Scalar> stepped(const io::T5<Scalar>& model, const Matrix<Scalar>& memory,
                       const AttendOptions& options, const std::vector<TokenId>& ids,
                       const mask::KeyPadding& real) {
  Matrix<Scalar> states(Index(ids.size()), memory.cols());
  auto decoding = model.begun(memory, options.key_rows);
  const Index sequences = options.query_rows.sequences(), length = options.query_rows[0].size();
  for (Index t = 0; t < length; ++t) {
    std::vector<TokenId> tokens;
    for (Index s = 0; s < sequences; ++s) tokens.push_back(ids[std::size_t(s * length + t)]);
    auto [output, longer] =
        model.step(tokens, std::move(decoding),
                   {.query_rows = RaggedRows::uniform(sequences, 1), .key_rows = options.key_rows},
                   mask::Causal{}, real);
    decoding = std::move(longer);
    for (Index s = 0; s < sequences; ++s) states.row(s * length + t) = output.row(s);
  }
  return states;
}

template <class Scalar>
void check_t5(const Case& each) {
  const io::T5<Scalar> model = io::load_t5<Scalar>(model_folder(each));
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
  const Matrix<Scalar> step_logits = model.logits(stepped(model, memory, options, target_ids, real));
  EXPECT_TRUE(agrees(step_logits, each, "out.logits"));
}

}  // namespace headwise::golden
