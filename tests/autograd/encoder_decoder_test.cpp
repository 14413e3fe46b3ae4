#include <headwise/autograd/ops.hpp>
#include <headwise/loss/cross_entropy.hpp>
#include <headwise/model/encoder_decoder.hpp>

#include "autograd/laws.hpp"
#include "layer/parameters.hpp"

#include <vector>

namespace headwise::encoder_decoder_test {
namespace {

using check::random;

TEST(ModelGradients, AnEncoderAndADecoderHaveThoseOfAllTheirParameters) {
  Rng rng(1);
  model::EncoderDecoder<double> model({.vocab_size = 6,
                                       .d_model = 4,
                                       .heads = 2,
                                       .encoder_layers = 1,
                                       .decoder_layers = 1,
                                       .d_ff = 6,
                                       .positions = layer::InputPositions::sinusoidal,
                                       .embedding_scale = 2,
                                       .head_scale = 0.5},
                                      rng);
  check::randomise(model, 3);
  const std::vector<TokenId> source{1, 2, 3, 4, 5}, target{0, 3, 2, 0}, wanted{3, 2, 5, 1};
  const RaggedRows source_rows = RaggedRows::from_lengths({3, 2}),
                   target_rows = RaggedRows::from_lengths({3, 1});
  const auto loss_of = [&](const auto& from, const auto& to) {
    const auto memory = model.encode(from, {.query_rows = source_rows});
    const auto states = model.decode(to, memory, {.query_rows = target_rows, .key_rows = source_rows});
    return loss::cross_entropy(model.logits(states), wanted, {.smoothing = 0.1});
  };
  autograd::Tape<double> tape;
  const auto loss = loss_of(tape.input(source), tape.input(target));
  EXPECT_EQ(loss.value()(0, 0), loss_of(source, target)) << "a tape changes no bit of the values";
  const auto gradients = backward(loss);
  model.for_each_parameter([&](std::string_view name, auto& parameter) {
    for (Index i = 0; i < parameter.value.size(); i += 3) {
      double& number = parameter.value.data()[i];
      const double before = number;
      number = before + 6e-6;
      const double above = loss_of(source, target);
      number = before - 6e-6;
      const double expected = (above - loss_of(source, target)) / 12e-6;
      number = before;
      ASSERT_NEAR(gradients.of(parameter).data()[i], expected, 1e-7 + 1e-6 * std::abs(expected))
          << name << " " << i;
    }
  });
}

}  // namespace
}  // namespace headwise::encoder_decoder_test
