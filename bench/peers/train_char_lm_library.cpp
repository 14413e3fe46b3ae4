// What train_char_lm.py calls: the model of examples/train_char_lm.cpp, one training step at a time.
#include <headwise/autograd/ops.hpp>
#include <headwise/loss/cross_entropy.hpp>
#include <headwise/model/decoder.hpp>
#include <headwise/optimizer/adam.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

namespace hw = headwise;

struct Training {
  hw::model::Decoder<float> model;
  hw::optimizer::Adam<float> adam;

  Training(const hw::model::DecoderOptions& options, hw::Rng& rng)
      : model(options, rng), adam(model, {.beta2 = 0.99, .weight_decay = 0.1}) {}
};

std::unique_ptr<Training> training;

}  // namespace

extern "C" void headwise_make(long vocab, long width, long layers, long heads) {
  hw::Rng rng(1);
  training = std::make_unique<Training>(
      hw::model::DecoderOptions{.vocab_size = vocab,
                                .d_model = width,
                                .layers = layers,
                                .heads = heads,
                                .rotary = hw::position::Rotary({.head_dim = width / heads})},
      rng);
}

/// Where the numbers of a parameter lie, or null; their count goes to `size`.
extern "C" float* headwise_parameter(const char* name, long* size) {
  float* found = nullptr;
  training->model.for_each_parameter([&](std::string_view each, hw::Parameter<float>& parameter) {
    if (each != name) return;
    found = parameter.value.data();
    *size = parameter.value.size();
  });
  return found;
}

/// One step over `batch` windows; returns the loss before it.
extern "C" float headwise_step(const int* ids, const int* next, long batch, long length, double rate) {
  const std::vector<hw::TokenId> tokens(ids, ids + batch * length), targets(next, next + batch * length);
  hw::autograd::Tape<float> tape;
  const auto logits =
      training->model(tape.input(tokens), {.query_rows = hw::RaggedRows::uniform(batch, length)});
  const auto loss = hw::loss::cross_entropy(logits, targets);
  training->adam.step(training->model, backward(loss), rate);
  return loss.value()(0, 0);
}
