#pragma once

#include <headwise/core/random.hpp>
#include <headwise/model/encoder.hpp>

#include "layer/parameters.hpp"
#include "support/any_mask.hpp"

/// What the tests of the sparse models' gradients share: a model so small that every number can be shifted.
namespace headwise::sparse_model_case {

inline check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

inline model::EncoderOptions small_encoder(Index kinds) {
  return {.vocab_size = 7,
          .kinds = kinds,
          .d_model = 4,
          .layers = 2,
          .heads = 2,
          .d_ff = 6,
          .max_positions = 16,
          .norm_eps = 1e-5};
}

/// A model whose numbers are all drawn.
template <class Model, class Options>
Model randomised(const Options& options) {
  Rng rng(1);
  Model model(options, rng);
  check::randomise(model, 3);
  return model;
}

}  // namespace headwise::sparse_model_case
