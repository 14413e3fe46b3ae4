// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published_patterns.hpp"

#include <algorithm>

namespace headwise {
namespace {

/// The rows of real tokens: what stands at padding means nothing.
Matrix<double> real_rows(const Matrix<double>& x, const std::vector<bool>& real) {
  Matrix<double> rows(std::count(real.begin(), real.end(), true), x.cols());
  for (Index i = 0, to = 0; i < x.rows(); ++i)
    if (real[std::size_t(i)]) rows.row(to++) = x.row(i);
  return rows;
}

/// Hidden states of every layer and logits, in double against the results in double where they are given.
TEST(LongformerGolden, HiddenStatesAndLogitsAgree) {
  for (const golden::Case& each : golden::cases("longformer")) {
    SCOPED_TRACE(each.name());
    const auto model = published::load_longformer(golden::model_folder(each));
    const auto ids = golden::ids(each, "in.input_ids");
    const auto real = golden::flags(each, "in.attention_mask");
    const AttendOptions options{.query_rows = golden::rows_of(each, "in.input_ids")};
    const auto expect_rows = [&](const Matrix<double>& x, const std::string& name) {
      EXPECT_TRUE(golden::match(real_rows(x, real), real_rows(each.rows(name), real), each.tolerance()))
          << name;
    };
    const Matrix<double> states =
        model.states(ids, golden::flags(each, "in.global_attention_mask"), options, mask::KeyPadding(real),
                     score::None{}, [&](Index layer, const Matrix<double>& x) {
                       expect_rows(x, "out.hidden_states." + std::to_string(layer));
                     });
    const Matrix<double> logits = model.head(states, model.encoder);
    expect_rows(logits, "out.logits");
    expect_rows(logits, golden::expected_name<double>(each, "out.logits"));
  }
}

}  // namespace
}  // namespace headwise
