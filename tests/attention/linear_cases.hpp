#pragma once

#include <headwise/attention/linear.hpp>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/reference.hpp"

#include <cmath>
#include <string>
#include <utility>

/// Linear attention token by token, as its formula says it, and inputs of every rule.
namespace reference {

struct LinearProblem {
  Index heads = 1, kv_heads = 1;
  Matrix decay{}, beta{};  ///< empty: not given
};

struct LinearResult {
  Matrix output, state;
};

/// One sequence. state [kv_heads * head_dim, value_dim], changed as tokens come.
inline LinearResult linear_attention(const Matrix& query, const Matrix& key, const Matrix& value,
                                     const LinearProblem& p, Matrix state) {
  const Index dim = query.cols() / p.heads, value_dim = value.cols() / p.kv_heads;
  const Index group = p.heads / p.kv_heads, decays = p.decay.cols() / p.kv_heads;
  Matrix output = Matrix::Zero(query.rows(), p.heads * value_dim);
  for (Index t = 0; t < query.rows(); ++t) {
    for (Index g = 0; g < p.kv_heads; ++g) {
      const auto s = [&](Index c, Index d) -> double& { return state(g * dim + c, d); };
      for (Index c = 0; c < dim && decays > 0; ++c)
        for (Index d = 0; d < value_dim; ++d) s(c, d) *= std::exp(p.decay(t, decays == 1 ? g : g * dim + c));
      for (Index d = 0; d < value_dim; ++d) {
        double u = value(t, g * value_dim + d);
        if (p.beta.cols() > 0) {
          for (Index c = 0; c < dim; ++c) u -= s(c, d) * key(t, g * dim + c);
          u *= p.beta(t, p.beta.cols() == 1 ? 0 : g);
        }
        for (Index c = 0; c < dim; ++c) s(c, d) += key(t, g * dim + c) * u;
        for (Index h = g * group; h < (g + 1) * group; ++h)
          for (Index c = 0; c < dim; ++c)
            output(t, h * value_dim + d) += s(c, d) * query(t, h * dim + c) / std::sqrt(double(dim));
      }
    }
  }
  return {output, std::move(state)};
}

}  // namespace reference

namespace headwise::linear_test {

enum class Kind { sum, gated, gated_by_feature, delta, gated_delta, gated_delta_by_feature };
inline constexpr Kind every_kind[] = {Kind::sum,   Kind::gated,       Kind::gated_by_feature,
                                      Kind::delta, Kind::gated_delta, Kind::gated_delta_by_feature};

inline std::string name(Kind kind) {
  constexpr const char* names[] = {"sum",   "gated",       "gated by feature",
                                   "delta", "gated delta", "gated delta by feature"};
  return names[std::size_t(kind)];
}

struct LinearCase {
  Matrix<double> query, key, value, state;
  LinearRule<double> rule;
  LinearOptions options;

  /// The rule of some of the tokens.
  LinearRule<double> rule_of(Range rows) const {
    LinearRule<double> part;
    if (rule.decay.cols() > 0) part.decay = rule.decay.middleRows(rows.begin, rows.size());
    if (rule.beta.cols() > 0) part.beta = rule.beta.middleRows(rows.begin, rows.size());
    return part;
  }

  /// Of one sequence.
  reference::LinearResult expected() const {
    const Index kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
    return reference::linear_attention(query, key, value, {options.heads, kv_heads, rule.decay, rule.beta},
                                       state);
  }
};

/// Heads of 5 features and values of 3; keys short enough for a delta rule, and a beta for all heads where no
/// decay goes with it.
inline LinearCase linear_case(Kind kind, Index length, LinearOptions options, std::uint64_t seed) {
  using check::random;
  const Index dim = 5, value_dim = 3, kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  LinearCase c{random(length, options.heads * dim, seed),
               0.4 * random(length, kv_heads * dim, seed + 100),
               random(length, kv_heads * value_dim, seed + 200),
               random(options.rows.sequences() * kv_heads * dim, value_dim, seed + 300),
               {},
               options};
  const auto below_zero = [&](Index cols) -> Matrix<double> {
    return -0.3 * random(length, cols, seed + 400).cwiseAbs();
  };
  const auto beta = [&](Index cols) -> Matrix<double> {
    return (1 + (-random(length, cols, seed + 500).array()).exp()).inverse().matrix();
  };
  if (kind == Kind::gated || kind == Kind::gated_delta) c.rule.decay = below_zero(kv_heads);
  if (kind == Kind::gated_by_feature || kind == Kind::gated_delta_by_feature)
    c.rule.decay = below_zero(kv_heads * dim);
  if (kind == Kind::delta) c.rule.beta = beta(1);
  if (kind == Kind::gated_delta || kind == Kind::gated_delta_by_feature) c.rule.beta = beta(kv_heads);
  return c;
}

/// The inputs of which results are known: a decay for each feature, and beta.
inline LinearCase published_case() {
  LinearCase c{
      check::waves(0, 8, 4),       check::waves(1, 8, 4).rowwise().normalized(), check::waves(2, 8, 4),
      0.1 * check::waves(3, 4, 4), {Matrix<double>(8, 4), Matrix<double>(8, 1)}, {.scale = 0.5}};
  for (Index t = 0; t < 8; ++t) {
    for (Index f = 0; f < 4; ++f)
      c.rule.decay(t, f) = -0.2 - 0.15 * std::sin(double(t) + 0.5 + 0.8 * double(f));
    c.rule.beta(t, 0) = 1 / (1 + std::exp(-0.3 - std::cos(0.7 * double(t))));
  }
  return c;
}

}  // namespace headwise::linear_test
