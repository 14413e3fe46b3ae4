#pragma once

#include <headwise/core/policy.hpp>

#include <type_traits>
#include <utility>

/// What kernels, plans and combinators ask of a mask, whatever way it was written: a test of its own, a mask
/// that is bound to a head, a combinator, or any callable. Bind once per head and sequence, then ask the
/// bound test.
namespace headwise {

/// One tile in both coordinates. Ranges may be bounding boxes, of scattered positions or gathered rows: what
/// holds for all pairs of the box holds for the tile.
struct PlaceTile {
  Tile positions, rows;
};

/// A mask of places (a combinator) that judges whole tiles.
template <class M>
concept HasPlaceCoverage = requires(const M& mask, const PlaceTile& tile) {
  { mask.coverage(tile) } -> std::same_as<Coverage>;
};

/// A callable bool(query, key), as against one that needs the head and the sequence.
template <class F>
concept PairCallable = requires(const F& f, Index i) {
  { f(i, i) } -> std::same_as<bool>;
};

namespace detail {

/// Small plain tests are copied, so that a lane loop keeps them in registers; others are referred to.
template <class T>
concept CheapToCopy = std::is_trivially_copyable_v<T> && sizeof(T) <= 64;

template <class T>
using Held = std::conditional_t<CheapToCopy<T>, T, const T*>;

template <class T>
constexpr Held<T> hold(const T& object) noexcept {
  if constexpr (CheapToCopy<T>) {
    return object;
  } else {
    return &object;
  }
}

template <class T>
constexpr const T& held(const Held<T>& holder) noexcept {
  if constexpr (CheapToCopy<T>) {
    return holder;
  } else {
    return *holder;
  }
}

/// A mask with a test of its own that is too big to copy, asked through a pointer.
template <class M>
class BorrowedTest {
 public:
  static constexpr Coordinates coordinates = coordinates_of<M>();
  static constexpr bool reads_query = headwise::reads_query<M>();
  static constexpr bool reads_head = headwise::reads_head<M>();

  constexpr explicit BorrowedTest(const M& mask) noexcept : mask_(&mask) {}

  template <class Where>
  constexpr bool allows(Where query, Where key) const requires requires(const M& mask) {
    { mask.allows(query, key) } -> std::same_as<bool>;
  }
  { return mask_->allows(query, key); }

  template <class Where>
  constexpr auto runs(Where query) const requires requires(const M& mask) {
    mask.runs(query).count;
  }
  { return mask_->runs(query); }

  template <class Area>
  constexpr Coverage coverage(const Area& tile) const requires requires(const M& mask) {
    { mask.coverage(tile) } -> std::same_as<Coverage>;
  }
  { return mask_->coverage(tile); }

 private:
  const M* mask_;
};

}  // namespace detail

/// A callable bound to one head of one sequence.
template <class F, Coordinates where = Coordinates::positions>
class CallableTest {
 public:
  static constexpr Coordinates coordinates = where;
  static constexpr bool reads_head = !PairCallable<F>;

  constexpr CallableTest(const F& f, const Context& context) noexcept
      : f_(detail::hold(f)), head_(context.head), sequence_(context.sequence) {}

  constexpr bool allows(Index query, Index key) const {
    if constexpr (PairCallable<F>) {
      return detail::held<F>(f_)(query, key);
    } else {
      return detail::held<F>(f_)(query, key, head_, sequence_);
    }
  }

 private:
  detail::Held<F> f_;
  Index head_, sequence_;
};

/// The test of one head of one sequence: an object with `allows` for pairs or places, cheap to copy. It may
/// refer to the mask, which must outlive it.
template <MaskPolicy M>
constexpr auto bind_mask(const M& mask, const Context& context) {
  if constexpr (BindableMask<M>) {
    auto bound = mask.bind(context);
    static_assert(PairTest<decltype(bound)> || PlaceTest<decltype(bound)>,
                  "bind(context) of a mask must return an object with bool allows(query, key)");
    return bound;
  } else if constexpr (PairTest<M> || PlaceTest<M>) {
    if constexpr (detail::CheapToCopy<M>) {
      return mask;
    } else {
      return detail::BorrowedTest<M>(mask);
    }
  } else {
    return CallableTest<M>(mask, context);
  }
}

/// The type of the test that bind_mask returns.
template <MaskPolicy M>
using BoundMask = decltype(bind_mask(std::declval<const M&>(), std::declval<const Context&>()));

/// Throws the mask's own ShapeError when it does not fit the sequence; masks without a check always fit.
template <MaskPolicy M>
constexpr void check_mask(const M& mask, const Context& context) {
  if constexpr (requires { mask.check(context); }) mask.check(context);
}

/// True for a mask (as written) that compares positions with the query's, so that unequal lengths need an
/// offset.
template <MaskPolicy M>
constexpr bool needs_query_position() {
  using Bound = BoundMask<M>;
  return coordinates_of<Bound>() == Coordinates::positions && reads_query<M>() && reads_query<Bound>();
}

/// True for a mask (as written) whose answer may differ from head to head.
template <MaskPolicy M>
constexpr bool depends_on_head() {
  return reads_head<M>() || reads_head<BoundMask<M>>();
}

/// True when the bound test lists the keys of a query.
template <class Bound>
constexpr bool has_runs() {
  return HasRuns<Bound> || HasPlaceRuns<Bound>;
}

/// True when the runs are runs of key positions. They are key rows, too, unless the caller gave the keys
/// explicit positions: then only runs for which this is false may be used.
template <class Bound>
constexpr bool runs_read_positions() {
  if constexpr (requires { Bound::runs_read_positions; }) {
    return Bound::runs_read_positions;
  } else {
    return coordinates_of<Bound>() == Coordinates::positions;
  }
}

/// The key rows that the query sees, unclipped, for keys whose position is their row.
template <class Bound>
constexpr auto runs_of(const Bound& mask, Place query) {
  static_assert(has_runs<Bound>(), "this mask does not list the keys of a query");
  if constexpr (HasPlaceRuns<Bound>) {
    return mask.runs(query);
  } else if constexpr (coordinates_of<Bound>() == Coordinates::rows) {
    return mask.runs(Index(query.row));
  } else {
    return mask.runs(Index(query.position));
  }
}

/// What the mask says of a tile; partial when it says nothing.
template <class Bound>
constexpr Coverage coverage_of(const Bound& mask, const PlaceTile& tile) {
  if constexpr (HasPlaceCoverage<Bound>) {
    return mask.coverage(tile);
  } else if constexpr (HasCoverage<Bound>) {
    return mask.coverage(coordinates_of<Bound>() == Coordinates::rows ? tile.rows : tile.positions);
  } else {
    return Coverage::partial;
  }
}

/// The same for a tile of rows whose query positions are row + query_offset and whose key positions are the
/// rows.
template <class Bound>
constexpr Coverage coverage_of(const Bound& mask, Tile rows, Index query_offset) {
  const Range queries{rows.queries.begin + query_offset, rows.queries.end + query_offset};
  return coverage_of(mask, PlaceTile{{queries, rows.keys}, rows});
}

}  // namespace headwise
