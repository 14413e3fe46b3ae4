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

/// Settings that this test does not know; a factor on sine and cosine belongs to YaRN alone.
std::string unknown_settings(const golden::Case& each) {
  std::string unknown = each.settings_besides(
      {"B", "H", "L", "attention_factor", "beta_fast", "beta_slow", "factor", "head_dim", "high_freq_factor",
       "layout", "low_freq_factor", "max_position_embeddings", "offset", "original_max_position_embeddings",
       "rope_theta", "rope_type", "rotary_dim", "seq_len", "truncate"});
  const bool yarn = each.text_or("rope_type", "default") == "yarn";
  if (!yarn && each.number_or("attention_factor", 1) != 1) unknown += " attention_factor";
  return unknown;
}

/// One position a row: those of the file are shared by the batch, or there is one for each of its rows.
std::vector<Position> positions_of(const golden::Case& each, Index batch) {
  const auto given = each.integers("in.positions");
  std::vector<Position> positions;
  const Index repeats = each.tensor("in.positions").rank() == 1 ? batch : 1;
  for (Index b = 0; b < repeats; ++b) positions.insert(positions.end(), given.begin(), given.end());
  return positions;
}

void check_case(const golden::Case& each) {
  const auto unknown = unknown_settings(each);
  const auto scaling = scaling_of(each);
  const auto pairing = pairing_of(each);
  if (!unknown.empty()) return golden::skip(each, "other settings: " + unknown);
  if (!scaling) return golden::skip(each, "rope_type " + each.text("rope_type"));
  if (!pairing) return golden::skip(each, "layout " + each.text("layout"));

  const golden::Tensor& q = each.tensor("in.q");
  const Index batch = q.dim(0), head_dim = q.dim(3);
  const Rotary rotary({.head_dim = head_dim,
                       .rotary_dim = Index(each.number_or("rotary_dim", double(head_dim))),
                       .theta = each.number("rope_theta"),
                       .pairing = *pairing,
                       .scaling = *scaling});
  std::optional<Index> seq_len;
  if (each.has_setting("seq_len")) seq_len = each.integer("seq_len");

  const auto tolerance = each.tolerance();
  const RotaryFrequencies frequencies = rotary.frequencies(seq_len);
  const golden::Tensor angular({Index(frequencies.angular.size())}, frequencies.angular);
  EXPECT_TRUE(golden::match(angular, each.tensor("out.inv_freq"), tolerance));
  const auto table = rotary.table<double>(positions_of(each, batch), seq_len);
  const auto expected_cosines = each.rows("out.cos"), expected_sines = each.rows("out.sin");
  const Index tables = expected_cosines.rows();  // those of one text, or of the batch
  EXPECT_TRUE(golden::match(Matrix<double>(table.cosines.topRows(tables)), expected_cosines, tolerance));
  EXPECT_TRUE(golden::match(Matrix<double>(table.sines.topRows(tables)), expected_sines, tolerance));
  EXPECT_TRUE(golden::match(rotate(each.heads("in.q"), table, q.dim(1)), each.heads("out.q_rot"), tolerance));
  EXPECT_TRUE(golden::match(rotate(each.heads("in.k"), table, each.tensor("in.k").dim(1)),
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
    if (!unknown_settings(each).empty() || !scaling || !pairing) continue;  // skipped by name above
    std::optional<Index> seq_len;
    if (each.has_setting("seq_len")) seq_len = each.integer("seq_len");
    const golden::Tensor& q = each.tensor("in.q");
    const Rotary rotary({.head_dim = q.dim(3),
                         .rotary_dim = Index(each.number_or("rotary_dim", double(q.dim(3)))),
                         .theta = each.number("rope_theta"),
                         .pairing = *pairing,
                         .scaling = *scaling});
    const Matrix<float> single = each.heads("in.q").cast<float>();
    const auto table = rotary.table<float>(positions_of(each, q.dim(0)), seq_len);
    const Matrix<double> got = rotate(single, table, q.dim(1)).cast<double>();
    EXPECT_TRUE(golden::match(got, each.heads("out.q_rot"), {.abs = 1e-6, .rel = 1e-6}));
  }
}

}  // namespace
}  // namespace headwise::position
