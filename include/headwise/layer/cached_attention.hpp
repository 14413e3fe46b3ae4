#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/layer/key_value_cache.hpp>

#include <span>

namespace headwise::layer {

/// The cache whose rows of a text lie side by side, seen as such; kinds that scatter them have no such
/// overload.
template <class Scalar>
const KeyValueCache<Scalar>& side_by_side(const KeyValueCache<Scalar>& cache) noexcept {
  return cache;
}

/// The options of a call whose queries stand at `positions` and whose keys are those of a cache.
template <class Scalar>
AttendOptions placed(AttendOptions options, std::span<const Position> positions,
                     const KeyValueCache<Scalar>& cache) {
  options.key_rows = cache.rows();
  if (cache.complete()) {
    options.query_offset = align_last;
  } else {
    options.query_positions = positions;
    options.key_positions = cache.positions();
  }
  return options;
}

/// New rows look at all that a cache holds of their texts, themselves included: they were appended before.
///   query [n, heads * head_dim], the texts' borders in options.query_rows, positions [n] as next_positions()
///   said -> [n, heads * value_dim]
/// Throws ShapeError as `attend`, whose cost it has.
template <class Scalar, class Mask, class Score>
Matrix<Scalar> attend_cached(const Matrix<Scalar>& query, std::span<const Position> positions,
                             const KeyValueCache<Scalar>& cache, const AttendOptions& options,
                             const Mask& mask, const Score& score) {
  return attend(query, cache.key(), cache.value(), placed(options, positions, cache), mask, score);
}

}  // namespace headwise::layer
