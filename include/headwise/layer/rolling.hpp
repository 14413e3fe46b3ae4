#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/layer/cached_attention.hpp>
#include <headwise/layer/key_value_cache.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace headwise::layer {

/// What a token sees through a window and a few sinks: SlidingWindow || (Prefix && Causal), as one mask.
struct RollingMask {
  Index window = 256;
  Index sinks = 0;

  constexpr bool allows(Index query, Index key) const noexcept {
    return key <= query && (query - key < window || (0 <= key && key < sinks));
  }

  /// The sinks before the window, then the window; one run where they touch.
  constexpr Runs<2> runs(Index query) const noexcept {
    Runs<2> runs;
    const Index begin = query + 1 - std::min(window, every_key.end / 2);
    runs.append({0, std::min(sinks, begin)});
    runs.append({begin, query + 1});
    return runs;
  }
};

/// A cache that rolls: of each text it keeps the last tokens that a window can still reach, and the first
/// few, the sinks, for good. Kept tokens keep their true positions.
///
///     query i sees key j  <=>  j <= i  and  (i - j < window  or  j < sinks)
///
/// A mask and what may be forgotten under it belong together: mask() and roll() say both. Memory: at most
/// 2 window + sinks rows a text and layer, however long the text. Cost: a row is moved once a `window`
/// tokens, so O(width) a token. Throws ShapeError when window is not positive or sinks is negative. Paper:
/// Beltagy et al., "Longformer: The Long-Document Transformer", 2020, section 3.1; Xiao et al., "Efficient
/// Streaming Language Models with Attention Sinks", 2023, section 3.2, which renumbers positions within the
/// cache.
struct Rolling {
  Index window = 256;  ///< the query itself counts
  Index sinks = 0;     ///< on top of the window

  /// What a query may see.
  RollingMask mask() const {
    check();
    return {window, sinks};
  }

  /// Drops what no later token sees, as soon as that is a window's worth in some text.
  template <class Scalar>
  void roll(KeyValueCache<Scalar>& cache) const {
    check();
    bool due = false;
    for (Index s = 0; s < cache.sequences(); ++s) {
      const Index useful = std::min(sinks, Index(cache.next_position(s))) + window - 1;
      due |= cache.rows()[s].size() - useful >= window;
    }
    if (!due) return;
    cache.retain([&](Index sequence, Position position) {
      return position < sinks || position > Index(cache.next_position(sequence)) - window;
    });
  }

  /// The same for the caches of all layers.
  template <class Scalar>
  void roll(std::vector<KeyValueCache<Scalar>>& caches) const {
    for (auto& cache : caches) roll(cache);
  }

 private:
  void check() const {
    expect_positive("Rolling: window", window);
    expect_not_negative("Rolling: sinks", sinks);
  }
};

/// A KeyValueCache that rolls by itself: before new rows join, it drops what none of them sees.
///
///     std::vector caches(layers, layer::RollingCache<float>({.window = 256, .sinks = 4}));
///     auto [states, longer] = decoder.step(ids, std::move(caches), {}, rolling.mask());
///
/// The mask of every call must be that of the same Rolling. Memory, cost and errors are its own.
template <class Scalar>
class RollingCache {
 public:
  RollingCache() = default;
  explicit RollingCache(const Rolling& rolling) : rolling_(rolling) { (void)rolling.mask(); }

  bool empty() const noexcept { return held_.empty(); }
  std::vector<Position> next_positions(const RaggedRows& rows) const { return held_.next_positions(rows); }

  /// As KeyValueCache::append; nothing is changed when it throws.
  void append(const ConstMatrixRef<Scalar>& key, const ConstMatrixRef<Scalar>& value,
              const RaggedRows& rows) {
    rolling_.roll(held_);
    held_.append(key, value, rows);
  }

  const Rolling& rolling() const noexcept { return rolling_; }

  /// What is kept.
  const KeyValueCache<Scalar>& held() const noexcept { return held_; }

 private:
  Rolling rolling_;
  KeyValueCache<Scalar> held_;
};

template <class Scalar>
const KeyValueCache<Scalar>& side_by_side(const RollingCache<Scalar>& cache) noexcept {
  return cache.held();
}

/// As attend_cached over a KeyValueCache.
template <class Scalar, class Mask, class Score>
Matrix<Scalar> attend_cached(const Matrix<Scalar>& query, std::span<const Position> positions,
                             const RollingCache<Scalar>& cache, const AttendOptions& options,
                             const Mask& mask, const Score& score) {
  return attend_cached(query, positions, cache.held(), options, mask, score);
}

}  // namespace headwise::layer
