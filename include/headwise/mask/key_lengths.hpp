#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

#include <string>
#include <vector>

namespace headwise::mask {

/// Padding at the end: of each sequence's keys, only the first lengths[sequence] rows are real.
///
///     allows(query, key)  <=>  key row < lengths[sequence]
///
/// Counts rows, not positions, so it stays right under any offset. `!KeyLengths` with the amounts of padding
/// is padding in front. A ragged batch needs no padding at all; KeyPadding also serves holes. Cost: only real
/// keys are read. Throws ShapeError when there is not exactly one length a sequence, or one is negative or
/// beyond the sequence's keys.
struct KeyLengths {
  static constexpr bool reads_query = false;

  std::vector<Index> lengths;

  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;
    static constexpr bool reads_query = false;

    Index length = 0;

    constexpr bool allows(Index, Index key) const noexcept { return key < length; }

    constexpr Coverage coverage(Tile tile) const noexcept {
      if (tile.keys.begin >= length) return Coverage::none;
      return tile.keys.end <= length ? Coverage::full : Coverage::partial;
    }

    constexpr Runs<1> runs(Index) const noexcept { return single_run(every_key.begin, length); }
  };

  Bound bind(const Context& context) const { return {lengths[std::size_t(context.sequence)]}; }

  void check(const Context& context) const {
    expect_equal("KeyLengths: lengths", Index(lengths.size()), context.sequences,
                 "give one length for each sequence of the batch");
    const Index length = lengths[std::size_t(context.sequence)];
    if (length >= 0 && length <= context.key_rows.size()) return;
    fail_shape("KeyLengths: lengths[" + std::to_string(context.sequence) + "]", std::to_string(length),
               "0 to " + std::to_string(context.key_rows.size()) + " (the sequence's key rows)");
  }
};

}  // namespace headwise::mask
