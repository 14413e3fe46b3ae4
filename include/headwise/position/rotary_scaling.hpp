#pragma once

#include <headwise/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Ways to stretch rotary positions over texts longer than a model was trained on. Each replaces the
/// frequencies w_t = theta^(-2t / rotary_dim); `magnitude` g multiplies sine and cosine, hence every score by
/// g^2.
namespace headwise::position {

/// Angles a token turns by per position, one for each pair of channels, and the factor on sine and cosine.
struct RotaryFrequencies {
  std::vector<double> angular;
  double magnitude = 1;
};

/// The frequencies as trained.
struct Unscaled {};

/// Position interpolation: w_t / factor.
/// Paper: Chen et al., "Extending Context Window of Large Language Models via Position Interpolation", 2023.
struct LinearScaling {
  double factor = 1;
};

/// NTK-aware: theta factor^(r / (r - 2)) for theta; the fastest pair is unchanged, the slowest divided by
/// factor.
struct NtkScaling {
  double factor = 1;
};

/// NTK-aware for the length at hand: beyond trained_len, theta (factor len / trained_len - (factor - 1))^(r /
/// (r - 2)). Frequencies change as the text grows: keep unrotated keys in a cache, or keys of different bases
/// meet.
struct DynamicNtkScaling {
  double factor = 1;
  Index trained_len = 2048;
};

/// YaRN: fast pairs unchanged, slow ones divided by factor, a ramp between; g = 0.1 ln(factor) + 1.
/// Paper: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models", 2023, section 3.
struct YarnScaling {
  double factor = 1;
  Index trained_len = 2048;  ///< of the original model, not the length wanted
  double beta_fast = 32;     ///< pairs that turn more often than this over trained_len are unchanged
  double beta_slow = 1;      ///< pairs that turn less often than this are divided by factor
  bool truncate = true;      ///< ends of the ramp at whole pairs
  std::optional<double> attention_factor{};  ///< replaces g
};

/// Llama 3: by wavelength; short ones unchanged, long ones divided by factor, a blend between.
/// Paper: Grattafiori et al., "The Llama 3 Herd of Models", 2024; formula of the published code.
struct Llama3Scaling {
  double factor = 8;
  Index trained_len = 8192;
  double low_freq_factor = 1;   ///< wavelengths above trained_len / low_freq_factor are divided by factor
  double high_freq_factor = 4;  ///< wavelengths below trained_len / high_freq_factor are unchanged
};

/// LongRoPE: w_t / factors[t], by one list up to trained_len and another beyond; g = sqrt(1 + ln(factor) /
/// ln(trained_len)). Paper: Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens",
/// 2024, section 3.
struct LongRopeScaling {
  std::vector<double> short_factors{}, long_factors{};  ///< [rotary_dim / 2] each
  Index trained_len = 2048;
  double factor = 1;                         ///< longest length / trained_len, for g
  std::optional<double> attention_factor{};  ///< replaces g
};

using RotaryScaling = std::variant<Unscaled, LinearScaling, NtkScaling, DynamicNtkScaling, YarnScaling,
                                   Llama3Scaling, LongRopeScaling>;

namespace detail {

inline std::string to_text(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

/// NaN fails every comparison, so each test asks for what is right.
inline void expect_at_least(std::string_view what, double got, double least) {
  if (got >= least && std::isfinite(got)) return;
  fail_shape(what, to_text(got), "a finite number of at least " + to_text(least));
}

inline void expect_above(std::string_view what, double got, double limit) {
  if (got > limit && std::isfinite(got)) return;
  fail_shape(what, to_text(got), "a finite number above " + to_text(limit));
}

inline void expect_magnitude(const std::optional<double>& magnitude) {
  if (magnitude) expect_above("Rotary: attention_factor", *magnitude, 0);
}

/// theta^(-2t / r), t = 0 .. r/2 - 1.
inline std::vector<double> rotary_grid(double theta, Index r) {
  std::vector<double> angular;
  for (Index t = 0; t < r / 2; ++t) angular.push_back(std::pow(theta, -2.0 * double(t) / double(r)));
  return angular;
}

/// The base that divides the slowest of r / 2 pairs by `factor`. A single pair (r = 2) has exponent 0: any
/// base does.
inline double ntk_theta(double theta, double factor, Index r) {
  return r == 2 ? theta : theta * std::pow(factor, double(r) / double(r - 2));
}

inline void check_scaling(const Unscaled&, Index) {}
inline void check_scaling(const LinearScaling& s, Index) { expect_at_least("Rotary: factor", s.factor, 1); }
inline void check_scaling(const NtkScaling& s, Index) { expect_at_least("Rotary: factor", s.factor, 1); }

inline void check_scaling(const DynamicNtkScaling& s, Index) {
  expect_at_least("Rotary: factor", s.factor, 1);
  expect_positive("Rotary: trained_len", s.trained_len);
}

inline void check_scaling(const YarnScaling& s, Index) {
  expect_at_least("Rotary: factor", s.factor, 1);
  expect_positive("Rotary: trained_len", s.trained_len);
  expect_above("Rotary: beta_slow", s.beta_slow, 0);
  expect_at_least("Rotary: beta_fast", s.beta_fast, s.beta_slow);
  expect_magnitude(s.attention_factor);
}

inline void check_scaling(const Llama3Scaling& s, Index) {
  expect_at_least("Rotary: factor", s.factor, 1);
  expect_positive("Rotary: trained_len", s.trained_len);
  expect_above("Rotary: low_freq_factor", s.low_freq_factor, 0);
  expect_above("Rotary: high_freq_factor", s.high_freq_factor, s.low_freq_factor);
}

inline void check_scaling(const LongRopeScaling& s, Index r) {
  expect_at_least("Rotary: factor", s.factor, 1);
  expect_at_least("Rotary: trained_len", double(s.trained_len), 2);
  expect_equal("Rotary: number of short_factors", Index(s.short_factors.size()), r / 2, "one for each pair");
  expect_equal("Rotary: number of long_factors", Index(s.long_factors.size()), r / 2, "one for each pair");
  for (double each : s.short_factors) expect_above("Rotary: a short factor", each, 0);
  for (double each : s.long_factors) expect_above("Rotary: a long factor", each, 0);
  expect_magnitude(s.attention_factor);
}

inline RotaryFrequencies scaled(const Unscaled&, double theta, Index r, Index) {
  return {rotary_grid(theta, r), 1};
}

inline RotaryFrequencies scaled(const LinearScaling& s, double theta, Index r, Index) {
  RotaryFrequencies result{rotary_grid(theta, r), 1};
  for (double& w : result.angular) w /= s.factor;
  return result;
}

inline RotaryFrequencies scaled(const NtkScaling& s, double theta, Index r, Index) {
  return {rotary_grid(ntk_theta(theta, s.factor, r), r), 1};
}

inline RotaryFrequencies scaled(const DynamicNtkScaling& s, double theta, Index r, Index seq_len) {
  const double stretch = double(std::max(seq_len, s.trained_len)) / double(s.trained_len);
  return {rotary_grid(ntk_theta(theta, s.factor * stretch - (s.factor - 1), r), r), 1};
}

inline RotaryFrequencies scaled(const YarnScaling& s, double theta, Index r, Index) {
  const auto pair_that_turns = [&](double times) {
    return double(r) * std::log(double(s.trained_len) / (2 * std::numbers::pi * times)) /
           (2 * std::log(theta));
  };
  double low = pair_that_turns(s.beta_fast), high = pair_that_turns(s.beta_slow);
  if (s.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::clamp(low, 0.0, double(r - 1));
  high = std::clamp(high, 0.0, double(r - 1));
  if (low == high) high += 0.001;

  RotaryFrequencies result{rotary_grid(theta, r), s.attention_factor.value_or(0.1 * std::log(s.factor) + 1)};
  for (std::size_t t = 0; t < result.angular.size(); ++t) {
    const double ramp = std::clamp((double(t) - low) / (high - low), 0.0, 1.0);
    result.angular[t] *= (1 - ramp) + ramp / s.factor;
  }
  return result;
}

inline RotaryFrequencies scaled(const Llama3Scaling& s, double theta, Index r, Index) {
  RotaryFrequencies result{rotary_grid(theta, r), 1};
  for (double& w : result.angular) {
    const double wavelengths = double(s.trained_len) * w / (2 * std::numbers::pi);
    const double blend = (wavelengths - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
    const double kept = std::clamp(blend, 0.0, 1.0);
    w *= kept + (1 - kept) / s.factor;
  }
  return result;
}

inline RotaryFrequencies scaled(const LongRopeScaling& s, double theta, Index r, Index seq_len) {
  const double magnitude = std::sqrt(1 + std::log(s.factor) / std::log(double(s.trained_len)));
  RotaryFrequencies result{rotary_grid(theta, r), s.attention_factor.value_or(magnitude)};
  const auto& factors = seq_len > s.trained_len ? s.long_factors : s.short_factors;
  for (std::size_t t = 0; t < factors.size(); ++t) result.angular[t] /= factors[t];
  return result;
}

}  // namespace detail

/// True for scalings whose frequencies change with the length of the text at hand.
inline bool reads_length(const RotaryScaling& scaling) {
  return std::holds_alternative<DynamicNtkScaling>(scaling) ||
         std::holds_alternative<LongRopeScaling>(scaling);
}

}  // namespace headwise::position
