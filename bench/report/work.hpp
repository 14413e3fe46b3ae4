#pragma once

#include <headwise/core/matrix.hpp>

#include <array>
#include <string_view>

/// What a call of attention has to do, counted in closed form, apart from the library that does it.
namespace headwise::report {

/// The patterns that the report times.
enum class Pattern { dense, causal, windowed, alibi };

inline constexpr std::array<Pattern, 4> patterns{Pattern::dense, Pattern::causal, Pattern::windowed,
                                                 Pattern::alibi};

/// Tokens that a query of the windowed pattern sees, itself included.
inline constexpr Index window_width = 256;

/// Shape of every timed call: seq_len rows of heads * head_dim columns.
inline constexpr Index head_dim = 64;
inline constexpr Index heads = 8;

std::string_view name_of(Pattern pattern);

/// What the pattern is, in a few words, for tables and legends.
std::string_view meaning_of(Pattern pattern);

/// Exact number of (query, key) pairs that one head evaluates:
///
///     dense L^2      causal and ALiBi L (L + 1) / 2      windowed w (w + 1) / 2 + (L - w) w  for L >= w
///
/// Throws ShapeError for a negative length.
Index pairs(Pattern pattern, Index seq_len);

/// Forward 4 head_dim FLOPs a pair (score and weighted value), backward 10 (five products): dot products
/// only, so that figures compare across softmax implementations.
double forward_flops(Pattern pattern, Index seq_len, Index head_count = heads);
double backward_flops(Pattern pattern, Index seq_len, Index head_count = heads);

}  // namespace headwise::report
