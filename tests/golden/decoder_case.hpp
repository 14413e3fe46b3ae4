#pragma once

#include <headwise/model/decoder.hpp>

#include "golden/model_case.hpp"

#include <string>

/// What the golden tests of all decoders ask.
namespace headwise::golden {

/// Hidden states of every layer, the last through the final norm, and logits.
template <class Scalar, class Score, class Weight>
void check_states(const model::Decoder<Scalar, Score, Weight>& decoder, const Case& each) {
  const AttendOptions options{.query_rows = rows_of(each, "in.input_ids")};
  const Index layers = decoder.options().layers;
  const Matrix<Scalar> states = decoder.states(
      ids(each, "in.input_ids"), options, mask::Causal{}, decoder.score(),
      [&](Index layer, const Matrix<Scalar>& x) {
        if (layer == layers) return;
        EXPECT_TRUE(agrees(x, each, "out.hidden_states." + std::to_string(layer))) << "hidden " << layer;
      });
  EXPECT_TRUE(agrees(states, each, "out.hidden_states." + std::to_string(layers)));
  EXPECT_TRUE(agrees(Matrix<Scalar>(decoder.logits(states)), each, "out.logits"));
}

}  // namespace headwise::golden
