#pragma once

#include <headwise/core/tile.hpp>

#include <array>
#include <limits>

namespace headwise {

/// The keys that one query may see: at most N sorted, disjoint, non-empty half-open runs.
///
/// Sets of keys are exact under every operation of the mask algebra, which a three-valued answer per tile is
/// not. N is known at compile time, so nothing is allocated.
template <int N>
struct Runs {
  static constexpr int capacity = N;

  std::array<Range, std::size_t(N)> run{};
  int count = 0;

  constexpr const Range* begin() const noexcept { return run.data(); }
  constexpr const Range* end() const noexcept { return run.data() + count; }

  constexpr bool contains(Index key) const noexcept {
    for (const Range& r : *this)
      if (r.contains(key)) return true;
    return false;
  }

  /// Appends a run that begins after the last one; an empty run is dropped, a touching one is joined.
  constexpr void append(Range r) noexcept {
    if (r.empty()) return;
    if (count > 0 && run[std::size_t(count - 1)].end >= r.begin) {
      Range& last = run[std::size_t(count - 1)];
      last.end = std::max(last.end, r.end);
      return;
    }
    run[std::size_t(count++)] = r;
  }
};

/// Every key there can be: runs are not clipped to a sequence, the plan does that.
inline constexpr Range every_key{std::numeric_limits<Index>::min() / 4,
                                 std::numeric_limits<Index>::max() / 4};

/// One run, or none when it is empty.
constexpr Runs<1> single_run(Index begin, Index end) noexcept {
  Runs<1> runs;
  runs.append({begin, end});
  return runs;
}

template <int N>
constexpr Runs<N + 1> complement(const Runs<N>& a) noexcept {
  Runs<N + 1> result;
  Index begin = every_key.begin;
  for (const Range& r : a) {
    result.append({begin, r.begin});
    begin = r.end;
  }
  result.append({begin, every_key.end});
  return result;
}

template <int N, int M>
constexpr Runs<N + M> unite(const Runs<N>& a, const Runs<M>& b) noexcept {
  Runs<N + M> result;
  const Range *x = a.begin(), *y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool take_x = y == b.end() || (x != a.end() && x->begin <= y->begin);
    result.append(take_x ? *x++ : *y++);
  }
  return result;
}

template <int N, int M>
constexpr Runs<N + M> intersect(const Runs<N>& a, const Runs<M>& b) noexcept {
  Runs<N + M> result;
  const Range *x = a.begin(), *y = b.begin();
  while (x != a.end() && y != b.end()) {
    result.append(intersect(*x, *y));
    if (x->end < y->end) {
      ++x;
    } else {
      ++y;
    }
  }
  return result;
}

}  // namespace headwise
