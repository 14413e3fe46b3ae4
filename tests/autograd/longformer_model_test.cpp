#include <headwise/autograd/ops.hpp>
#include <headwise/model/longformer.hpp>

#include "autograd/model_laws.hpp"
#include "support/sparse_model_any_mask.hpp"
#include "support/sparse_model_case.hpp"

#include <vector>

namespace headwise::longformer_model_test {
namespace {

using check::near;
using check::random;

using sparse_model_case::everything;

model::Longformer<double> made() {
  return sparse_model_case::randomised<model::Longformer<double>>(
      model::LongformerOptions{.encoder = sparse_model_case::small_encoder(1), .reach = {1, 2}});
}

/// Two texts, of 6 and 3 tokens, each with a global one.
const std::vector<TokenId> ids{2, 5, 5, 0, 1, 6, 3, 4, 2};
const std::vector<bool> global{true, false, false, false, false, false, false, true, false};

TEST(ModelGradients, ALongformerHasThoseOfAllItsParameters) {
  auto longformer = made();
  const auto call = [](const auto& model, const auto& tokens) {
    return model(tokens, global, {.query_rows = RaggedRows::from_lengths({6, 3})}, everything());
  };
  laws::expect_model_gradients(longformer, call, ids, 3);
}

TEST(ModelGradients, ThoseOfABatchOfALongformerAreTheSumOfThoseOfItsTexts) {
  const auto longformer = made();
  const Matrix<double> d = random(9, 7, 9);
  const auto gradients_of = [&](Index begin, Index end, const AttendOptions& options) {
    const std::vector<bool> flags(global.begin() + begin, global.begin() + end);
    const std::vector<TokenId> text(ids.begin() + begin, ids.begin() + end);
    const auto call = [&](const auto& model, const auto& tokens) {
      return model(tokens, flags, options, everything());
    };
    return laws::model_gradients(longformer, call, text, d.middleRows(begin, end - begin));
  };
  const auto batch = gradients_of(0, 9, {.query_rows = RaggedRows::from_lengths({6, 3})});
  auto singles = gradients_of(0, 6, {});
  singles += gradients_of(6, 9, {});
  longformer.for_each_parameter([&](std::string_view name, const auto& parameter) {
    EXPECT_TRUE(near(batch.of(parameter), singles.of(parameter), 1e-12, 1e-12)) << name;
  });
}

}  // namespace
}  // namespace headwise::longformer_model_test
