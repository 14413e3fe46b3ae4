// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published.hpp"

#include <utility>
#include <vector>

namespace headwise {
namespace {

/// Token by token, with a cache, the states are those of the whole text.
Matrix<float> stepped(const published::T5<float>& model, const Matrix<float>& memory,
                      const AttendOptions& options, const std::vector<TokenId>& ids,
                      const mask::KeyPadding& real) {
  Matrix<float> states(Index(ids.size()), memory.cols());
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

TEST(T5Golden, TokenByTokenTheLogitsAgree) {
  for (const golden::Case& each : golden::cases("t5")) {
    SCOPED_TRACE(each.name());
    const published::T5<float> model = published::load_t5<float>(golden::model_folder(each));
    const RaggedRows source = golden::rows_of(each, "in.input_ids");
    const mask::KeyPadding real(golden::flags(each, "in.attention_mask"));
    const Matrix<float> memory =
        model.encode(golden::ids(each, "in.input_ids"), {.query_rows = source}, real);
    const AttendOptions options{.query_rows = golden::rows_of(each, "in.decoder_input_ids"),
                                .key_rows = source};
    const Matrix<float> states =
        stepped(model, memory, options, golden::ids(each, "in.decoder_input_ids"), real);
    EXPECT_TRUE(golden::agrees(Matrix<float>(model.logits(states)), each, "out.logits"));
  }
}

}  // namespace
}  // namespace headwise
