#include <headwise/io/bert.hpp>
#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"

namespace headwise {
namespace {

/// Hidden states of every layer, and logits, with padded keys masked and padded rows computed all the same.
template <class Scalar>
void check_case(const golden::Case& each) {
  const auto model = io::load_bert_masked_lm<Scalar>(golden::model_folder(each));
  const auto ids = golden::ids(each, "in.input_ids"), kinds = golden::ids(each, "in.token_type_ids");
  const AttendOptions options{.query_rows = golden::rows_of(each, "in.input_ids")};
  const mask::KeyPadding real(golden::flags(each, "in.attention_mask"));

  const Matrix<Scalar> states = model.encoder.states(
      ids, kinds, options, real, score::None{}, [&](Index layer, const Matrix<Scalar>& x) {
        EXPECT_TRUE(golden::agrees(x, each, "out.hidden_states." + std::to_string(layer)))
            << "hidden " << layer;
      });
  EXPECT_TRUE(golden::agrees(Matrix<Scalar>(model.head(states, model.encoder)), each, "out.logits"));
}

TEST(BertGolden, HiddenStatesAndLogitsAgree) {
  for (const golden::Case& each : golden::cases("bert")) {
    SCOPED_TRACE(each.name());
    check_case<float>(each);
    check_case<double>(each);
  }
}

}  // namespace
}  // namespace headwise
