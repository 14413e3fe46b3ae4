#pragma once

#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published.hpp"

/// What the golden tests of this model ask, in float and in double.
namespace headwise::golden {

/// Hidden states of every layer, and logits, with padded keys masked and padded rows computed all the same.
template <class Scalar>
void check_bert(const Case& each) {
  const auto model = published::load_bert_masked_lm<Scalar>(model_folder(each));
  const auto tokens = ids(each, "in.input_ids"), kinds = ids(each, "in.token_type_ids");
  const AttendOptions options{.query_rows = rows_of(each, "in.input_ids")};
  const mask::KeyPadding real(flags(each, "in.attention_mask"));

  const Matrix<Scalar> states = model.encoder.states(
      tokens, kinds, options, real, score::None{}, [&](Index layer, const Matrix<Scalar>& x) {
        EXPECT_TRUE(agrees(x, each, "out.hidden_states." + std::to_string(layer))) << "hidden " << layer;
      });
  EXPECT_TRUE(agrees(Matrix<Scalar>(model.head(states, model.encoder)), each, "out.logits"));
}

}  // namespace headwise::golden
