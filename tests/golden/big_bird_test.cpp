// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/key_padding.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published_patterns.hpp"

namespace headwise {
namespace {

using Tables = std::vector<mask::RandomBlocks>;

/// The drawn blocks [heads, blocks - 2, random] of each layer; the blocks at both ends draw none. With
/// `zeros`, every number drawn is 0.
Tables tables_of(const golden::Case& each, const model::BigBirdOptions& options, bool zeros) {
  Tables tables;
  for (Index layer = 0; each.has("in.rand_blocks." + std::to_string(layer)); ++layer) {
    const golden::Tensor& drawn = each.tensor("in.rand_blocks." + std::to_string(layer));
    const Index heads = drawn.dim(0), blocks = drawn.dim(1) + 2, random = drawn.dim(2);
    std::vector<Index> table;
    for (Index head = 0; head < heads; ++head)
      for (Index row = 0; row < blocks; ++row)
        for (Index i = 0; i < random; ++i)
          table.push_back(row == 0 || row == blocks - 1 ? -1 : zeros ? 0 : Index(drawn.at(head, row - 1, i)));
    tables.emplace_back(options.block_size, blocks, heads, std::move(table));
  }
  return tables;
}

/// Hidden states of every layer and logits; sparse where the case gives random blocks, else full attention.
TEST(BigBirdGolden, HiddenStatesAndLogitsAgree) {
  for (const golden::Case& each : golden::cases("bigbird")) {
    SCOPED_TRACE(each.name());
    const auto model = published::load_big_bird(golden::model_folder(each));
    const auto ids = golden::ids(each, "in.input_ids");
    const AttendOptions options{.query_rows = golden::rows_of(each, "in.input_ids")};
    const auto real = golden::flags(each, "in.attention_mask");
    const Tables tables = tables_of(each, model.options(), false);
    const auto expect_rows = [&](const Matrix<double>& x, const std::string& name) {
      Matrix<double> got = x, expected = each.rows(name);
      for (Index i = 0; i < x.rows(); ++i)  // what stands at padding means nothing
        if (!real[std::size_t(i)]) got.row(i) = expected.row(i);
      EXPECT_TRUE(golden::match(got, expected, each.tolerance())) << name;
    };
    const Matrix<double> states = model.states(
        ids, {}, tables, options, mask::KeyPadding(real),
        [&](Index layer, const auto& x) { expect_rows(x, "out.hidden_states." + std::to_string(layer)); });
    const Matrix<double> logits = model.head(states, model.encoder);
    expect_rows(logits, "out.logits");
    expect_rows(logits, golden::expected_name<double>(each, "out.logits"));
    if (!each.has("out.logits_zero_rand")) continue;
    expect_rows(model(ids, {}, tables_of(each, model.options(), true), options, mask::KeyPadding(real)),
                "out.logits_zero_rand");
  }
}

}  // namespace
}  // namespace headwise
