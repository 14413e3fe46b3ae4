#include <headwise/autograd/ops.hpp>
#include <headwise/model/big_bird.hpp>

#include "autograd/model_laws.hpp"
#include "support/sparse_model_any_mask.hpp"
#include "support/sparse_model_case.hpp"

#include <vector>

namespace headwise::big_bird_test {
namespace {

using sparse_model_case::everything;

model::BigBird<double> made() {
  return sparse_model_case::randomised<model::BigBird<double>>(
      model::BigBirdOptions{.encoder = sparse_model_case::small_encoder(2), .block_size = 2, .random = 1});
}

const std::vector<TokenId> ids{2, 5, 5, 0, 1, 6, 3, 4, 2, 0, 6, 3};
const std::vector<TokenId> kinds{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};

TEST(ModelGradients, ABigBirdHasThoseOfAllItsParameters) {
  auto big_bird = made();
  const auto tables = big_bird.draw(12, 5);
  const auto sparse = [&](const auto& model, const auto& tokens) {
    return model(tokens, kinds, tables, {}, everything());
  };
  laws::expect_model_gradients(big_bird, sparse, ids, 3);
}

TEST(ModelGradients, ABigBirdWithoutTablesHasThemToo) {
  auto big_bird = made();
  const auto full = [](const auto& model, const auto& tokens) {
    return model(tokens, kinds, {}, {}, everything());
  };
  laws::expect_model_gradients(big_bird, full, ids, 11);
}

}  // namespace
}  // namespace headwise::big_bird_test
