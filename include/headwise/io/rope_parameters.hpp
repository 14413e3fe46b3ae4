#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/position/rotary.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace headwise::io {

/// What a family of models takes for granted when its config.json says nothing.
struct RopeDefaults {
  double theta = 10000;
  double partial = 1;                         ///< of a head's channels
  std::string_view theta_key = "rope_theta";  ///< beside rope_parameters, in older files
  std::string_view partial_key = "partial_rotary_factor";
};

namespace detail {

/// Length of the texts that a model was trained on before its positions were stretched.
inline Index trained_len(const ModelFolder& folder, const Config& rope) {
  constexpr const char* key = "original_max_position_embeddings";
  if (folder.config().contains(key)) return folder.config().integer(key);
  if (rope.contains(key)) return rope.integer(key);
  return folder.config().integer("max_position_embeddings");
}

inline double stretch(const ModelFolder& folder, const Config& rope) {
  if (rope.contains("factor")) return rope.number("factor");
  return double(folder.config().integer("max_position_embeddings")) / double(trained_len(folder, rope));
}

inline std::optional<double> attention_factor(const Config& rope, double factor) {
  if (rope.contains("attention_factor")) return rope.number("attention_factor");
  const double mscale = rope.number("mscale", 0), all = rope.number("mscale_all_dim", 0);
  if (mscale == 0 || all == 0 || factor <= 1) return std::nullopt;
  return (0.1 * mscale * std::log(factor) + 1) / (0.1 * all * std::log(factor) + 1);
}

inline position::RotaryScaling rotary_scaling(const ModelFolder& folder, const Config& rope) {
  const std::string type = rope.text("rope_type", rope.text("type", "default"));
  if (type == "default") return position::Unscaled{};
  if (type == "linear") return position::LinearScaling{.factor = rope.number("factor")};
  if (type == "dynamic") {
    return position::DynamicNtkScaling{.factor = rope.number("factor"),
                                       .trained_len = folder.config().integer("max_position_embeddings")};
  }
  if (type == "llama3") {
    return position::Llama3Scaling{.factor = rope.number("factor"),
                                   .trained_len = trained_len(folder, rope),
                                   .low_freq_factor = rope.number("low_freq_factor"),
                                   .high_freq_factor = rope.number("high_freq_factor")};
  }
  if (type == "yarn") {
    const double factor = stretch(folder, rope);
    return position::YarnScaling{.factor = factor,
                                 .trained_len = trained_len(folder, rope),
                                 .beta_fast = rope.number("beta_fast", 32),
                                 .beta_slow = rope.number("beta_slow", 1),
                                 .truncate = rope.boolean("truncate", true),
                                 .attention_factor = attention_factor(rope, factor)};
  }
  if (type == "longrope") {
    return position::LongRopeScaling{.short_factors = rope.numbers("short_factor"),
                                     .long_factors = rope.numbers("long_factor"),
                                     .trained_len = trained_len(folder, rope),
                                     .factor = stretch(folder, rope),
                                     .attention_factor = attention_factor(rope, 1)};
  }
  folder.fail("rope_type", in_quotes(type), "'default', 'linear', 'dynamic', 'llama3', 'yarn' or 'longrope'");
}

}  // namespace detail

/// Rotary positions as config.json describes them: rope_parameters, or rope_scaling and rope_theta of older
/// files. Throws FormatError for a kind of scaling that the library does not have, ShapeError for numbers out
/// of range.
inline position::Rotary rotary_of(const ModelFolder& folder, Index head_dim,
                                  const RopeDefaults& defaults = {}) {
  const Config& config = folder.config();
  const Config none = Config::parse("{}", "rope_parameters");
  const bool scaled = config.contains("rope_scaling");
  const Config rope = scaled                               ? config.object("rope_scaling")
                      : config.contains("rope_parameters") ? config.object("rope_parameters")
                                                           : none;
  const double theta = rope.number("rope_theta", config.number(defaults.theta_key, defaults.theta));
  const double partial =
      rope.number("partial_rotary_factor", config.number(defaults.partial_key, defaults.partial));
  return position::Rotary({.head_dim = head_dim,
                           .rotary_dim = Index(double(head_dim) * partial),
                           .theta = theta,
                           .pairing = position::Pairing::half_split,
                           .scaling = detail::rotary_scaling(folder, rope)});
}

}  // namespace headwise::io
