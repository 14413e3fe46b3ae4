#pragma once

#include <headwise/core/mask_queries.hpp>

#include <utility>

namespace headwise::mask {

/// Says nothing about tiles: every pair is tested.
struct UnknownCoverage {};

/// A callable as a mask; made by `where`.
template <CallableMask F, class TileF = UnknownCoverage, Coordinates where_ = Coordinates::positions>
struct Where {
  static constexpr Coordinates coordinates = where_;
  static constexpr bool reads_head = !PairCallable<F>;

  F pair;
  [[no_unique_address]] TileF tile{};

  struct Bound : CallableTest<F, where_> {
    constexpr Bound(const Where& mask, const Context& context) noexcept
        : CallableTest<F, where_>(mask.pair, context), tile(headwise::detail::hold(mask.tile)) {}

    constexpr Coverage coverage(Tile area) const requires(!std::same_as<TileF, UnknownCoverage>) {
      return headwise::detail::held<TileF>(tile)(area);
    }

    [[no_unique_address]] headwise::detail::Held<TileF> tile;
  };

  constexpr Bound bind(const Context& context) const noexcept { return Bound(*this, context); }
};

/// Any rule that a callable can state: bool(query, key), or bool(query, key, head, sequence).
///
///     allows(query, key)  <=>  rule(query, key)
///
/// The callable must return exactly bool: a score or an additive bias is not a mask, and does not compile. It
/// is asked about positions; where<Coordinates::rows>(rule) is asked about rows within the sequence. Unlike a
/// bare lambda, the result may stand on both sides of the mask algebra. Cost: every pair is tested and none
/// is skipped. Throws nothing of its own.
template <Coordinates coordinates = Coordinates::positions, CallableMask F>
constexpr auto where(F rule) {
  return Where<F, UnknownCoverage, coordinates>{std::move(rule), {}};
}

/// The same with a second callable, Coverage(Tile), so that tiles can be skipped or trusted. Answering none
/// or full wrongly gives wrong attention; partial is always right.
template <Coordinates coordinates = Coordinates::positions, CallableMask F, class TileF>
requires requires(const TileF& f, Tile tile) {
  { f(tile) } -> std::same_as<Coverage>;
}
constexpr auto where(F rule, TileF tile_rule) {
  return Where<F, TileF, coordinates>{std::move(rule), std::move(tile_rule)};
}

}  // namespace headwise::mask
