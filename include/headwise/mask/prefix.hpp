#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

#include <string>
#include <vector>

namespace headwise::mask {

/// Every query sees the first `length` keys: the part of a prefix language model that is not causal.
///
///     allows(query, key)  <=>  key < length          prefix model: Prefix{.length = n} || Causal{}
///
/// Cost: q_len * length pairs. Throws ShapeError for a negative length.
/// Paper: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
/// 2019, section 3.2.1.
struct Prefix {
  static constexpr bool reads_query = false;

  Index length = 0;

  constexpr bool allows(Index, Index key) const noexcept { return key < length; }

  constexpr Coverage coverage(Tile tile) const noexcept {
    if (tile.keys.begin >= length) return Coverage::none;
    return tile.keys.end <= length ? Coverage::full : Coverage::partial;
  }

  constexpr Runs<1> runs(Index) const noexcept { return single_run(every_key.begin, length); }

  void check(const Context&) const { expect_not_negative("Prefix: length", length); }
};

/// A prefix of its own length for each sequence of the batch.
///
///     allows(query, key)  <=>  key < lengths[sequence]
///
/// Cost: as Prefix. Throws ShapeError when there is not exactly one length a sequence, or one is negative.
struct PrefixPerSequence {
  static constexpr bool reads_query = false;

  std::vector<Index> lengths;

  Prefix bind(const Context& context) const { return {lengths[std::size_t(context.sequence)]}; }

  void check(const Context& context) const {
    expect_equal("PrefixPerSequence: lengths", Index(lengths.size()), context.sequences,
                 "give one length for each sequence of the batch");
    expect_not_negative("PrefixPerSequence: lengths[" + std::to_string(context.sequence) + "]",
                        lengths[std::size_t(context.sequence)]);
  }
};

}  // namespace headwise::mask
