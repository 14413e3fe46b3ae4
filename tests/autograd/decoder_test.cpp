#include <headwise/autograd/ops.hpp>
#include <headwise/model/decoder.hpp>
#include <headwise/score/t5_bias.hpp>

#include "autograd/laws.hpp"
#include "layer/parameters.hpp"

#include <vector>

namespace headwise::decoder_test {
namespace {

using check::near;
using check::random;

using Biased = model::Decoder<double, score::T5Bias<Parameter<double>>>;

/// Tied embedding, learned positions, and a learned bias that all layers share.
Biased made() {
  Rng rng(1);
  Biased decoder({.vocab_size = 7,
                  .d_model = 4,
                  .layers = 2,
                  .heads = 2,
                  .d_ff = 6,
                  .positions = layer::InputPositions::learned,
                  .max_positions = 9},
                 rng, score::T5Bias(Parameter<double>{random(8, 2, 5)}));
  check::randomise(decoder, 3);
  return decoder;
}

autograd::Gradients<double> gradients_of(const Biased& decoder, const std::vector<TokenId>& ids,
                                         const Matrix<double>& d, const AttendOptions& options = {}) {
  autograd::Tape<double> tape;
  const auto logits = decoder(tape.input(ids), options);
  EXPECT_EQ(logits.value(), decoder(ids, options)) << "a tape changes no bit of the values";
  return backward(logits, d);
}

TEST(ModelGradients, ADecoderHasThoseOfAllItsParameters) {
  auto decoder = made();
  const std::vector<TokenId> ids{1, 5, 5, 0, 2, 6};
  const Matrix<double> d = random(6, 7, 9);
  const auto gradients = gradients_of(decoder, ids, d);
  Index parameters = 0;
  decoder.for_each_parameter([&](std::string_view name, auto& parameter) {
    ++parameters;
    for (Index i = 0; i < parameter.value.size(); i += 3) {
      double& number = parameter.value.data()[i];
      const double before = number;
      number = before + 6e-6;
      const double above = laws::inner(d, decoder(ids));
      number = before - 6e-6;
      const double expected = (above - laws::inner(d, decoder(ids))) / 12e-6;
      number = before;
      ASSERT_NEAR(gradients.of(parameter).data()[i], expected, 1e-7 + 1e-6 * std::abs(expected))
          << name << " " << i;
    }
  });
  EXPECT_EQ(std::size_t(parameters), gradients.size());
}

TEST(ModelGradients, ThoseOfABatchAreTheSumOfThoseOfItsTexts) {
  const auto decoder = made();
  const std::vector<TokenId> ids{1, 5, 5, 0, 2, 6, 3};
  const Matrix<double> d = random(7, 7, 9);
  const auto batch = gradients_of(decoder, ids, d, {.query_rows = RaggedRows::from_lengths({4, 3})});
  auto singles = gradients_of(decoder, {1, 5, 5, 0}, d.topRows(4));
  singles += gradients_of(decoder, {2, 6, 3}, d.bottomRows(3));
  decoder.for_each_parameter([&](std::string_view name, const auto& parameter) {
    EXPECT_TRUE(near(batch.of(parameter), singles.of(parameter), 1e-12, 1e-12)) << name;
  });
}

}  // namespace
}  // namespace headwise::decoder_test
