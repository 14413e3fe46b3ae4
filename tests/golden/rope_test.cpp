#include <headwise/position/rotary.hpp>

#include "support/golden.hpp"

#include <cmath>
#include <optional>

namespace headwise::position {
namespace {

std::optional<RotaryScaling> scaling_of(const golden::Case& each) {
  const std::string type = each.text_or("rope_type", "default");
  const double factor = each.number_or("factor", 1);
  const Index trained_len = Index(each.number_or("original_max_position_embeddings", 2048));
  if (type == "default") return Unscaled{};
  if (type == "linear") return LinearScaling{.factor = factor};
  if (type == "ntk") return NtkScaling{.factor = factor};
  if (type == "dynamic") {
    return DynamicNtkScaling{.factor = factor, .trained_len = each.integer("max_position_embeddings")};
  }
  if (type == "llama3") {
    return Llama3Scaling{.factor = factor,
                         .trained_len = trained_len,
                         .low_freq_factor = each.number("low_freq_factor"),
                         .high_freq_factor = each.number("high_freq_factor")};
  }
  if (type == "yarn") {
    YarnScaling yarn{.factor = factor, .trained_len = trained_len};
    yarn.beta_fast = each.number_or("beta_fast", yarn.beta_fast);
    yarn.beta_slow = each.number_or("beta_slow", yarn.beta_slow);
    yarn.truncate = !each.has_setting("truncate") || each.flag("truncate");
    // The manifest gives the factor in any case; only one that is not YaRN's own is an argument.
    const double own = 0.1 * std::log(factor) + 1, given = each.number_or("attention_factor", own);
    if (std::abs(given - own) > 1e-12) yarn.attention_factor = given;
    return yarn;
  }
  return std::nullopt;
}

std::optional<Pairing> pairing_of(const golden::Case& each) {
  if (each.text("layout") == "half") return Pairing::half_split;
  if (each.text("layout") == "interleaved") return Pairing::interleaved;
  return std::nullopt;
}

void check_case(const golden::Case& each) {
  const auto scaling = scaling_of(each);
  const auto pairing = pairing_of(each);
  if (!scaling) return golden::skip(each, "rope_type " + each.text("rope_type"));
  if (!pairing) return golden::skip(each, "layout " + each.text("layout"));

  const golden::Tensor& q = each.tensor("in.q");
  const Index batch = q.dim(0), length = q.dim(2), head_dim = q.dim(3);
  const Rotary rotary({.head_dim = head_dim,
                       .rotary_dim = Index(each.number_or("rotary_dim", double(head_dim))),
                       .theta = each.number("rope_theta"),
                       .pairing = *pairing,
                       .scaling = *scaling});
  const auto given = each.integers("in.positions");  // [length], shared by the batch
  ASSERT_EQ(Index(given.size()), length);
  std::optional<Index> seq_len;
  if (each.has_setting("seq_len")) seq_len = each.integer("seq_len");

  const std::vector<Position> once(given.begin(), given.end());
  std::vector<Position> positions;
  for (Index b = 0; b < batch; ++b) positions.insert(positions.end(), once.begin(), once.end());

  const auto tolerance = each.tolerance();
  const RotaryFrequencies frequencies = rotary.frequencies(seq_len);
  const golden::Tensor angular({Index(frequencies.angular.size())}, frequencies.angular);
  EXPECT_TRUE(golden::match(angular, each.tensor("out.inv_freq"), tolerance));
  const auto table = rotary.table<double>(once, seq_len);
  EXPECT_TRUE(golden::match(table.cosines, each.rows("out.cos"), tolerance));
  EXPECT_TRUE(golden::match(table.sines, each.rows("out.sin"), tolerance));

  const auto all = rotary.table<double>(positions, seq_len);
  EXPECT_TRUE(golden::match(rotate(each.heads("in.q"), all, q.dim(1)), each.heads("out.q_rot"), tolerance));
  EXPECT_TRUE(golden::match(rotate(each.heads("in.k"), all, each.tensor("in.k").dim(1)),
                            each.heads("out.k_rot"), tolerance));
}

TEST(RopeGolden, TablesAndRotationsAgree) {
  for (const golden::Case& each : golden::cases("rope")) {
    SCOPED_TRACE(each.name());
    check_case(each);
  }
}

/// Single precision: rounded inputs and tables, so some 1e-7 of each pair's size.
TEST(RopeGolden, FloatIsWithinItsRounding) {
  for (const golden::Case& each : golden::cases("rope")) {
    SCOPED_TRACE(each.name());
    const auto scaling = scaling_of(each);
    const auto pairing = pairing_of(each);
    if (!scaling || !pairing || each.has_setting("seq_len")) continue;
    const golden::Tensor& q = each.tensor("in.q");
    const Rotary rotary({.head_dim = q.dim(3),
                         .rotary_dim = each.integer("rotary_dim"),
                         .theta = each.number("rope_theta"),
                         .pairing = *pairing,
                         .scaling = *scaling});
    const auto first = each.integers("in.positions").front();
    const Matrix<float> one = each.heads("in.q").topRows(q.dim(2)).cast<float>();
    const Matrix<double> got = rotate(one, rotary, q.dim(1), first).cast<double>();
    EXPECT_TRUE(golden::match(got, each.heads("out.q_rot").topRows(q.dim(2)), {.abs = 1e-5, .rel = 1e-5}));
  }
}

}  // namespace
}  // namespace headwise::position
