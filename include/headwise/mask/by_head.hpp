#pragma once

#include <headwise/core/mask_queries.hpp>

#include <utility>

namespace headwise::mask {

/// Two patterns in one layer: even heads see by one mask, odd heads by another.
///
///     allows(query, key)  <=>  head mod 2 = 0 ? even(query, key) : odd(query, key)
///
/// The separate heads of the Sparse Transformer are by_head(SlidingWindow{l}, Strided{l} && Causal{}). Cost:
/// that of the masks. Throws what they throw. Paper: Child et al., "Generating Long Sequences with Sparse
/// Transformers", 2019, section 4.2, the third use.
template <MaskPolicy Even, MaskPolicy Odd>
struct ByHead {
  static constexpr bool reads_query = needs_query_position<Even>() || needs_query_position<Odd>();
  static constexpr bool reads_head = true;

  Even even;
  Odd odd;

  template <class A, class B>
  struct Bound {
    static constexpr bool runs_read_positions =
        headwise::runs_read_positions<A>() || headwise::runs_read_positions<B>();

    A even;
    B odd;
    bool is_odd;

    constexpr bool allows(Place query, Place key) const {
      return is_odd ? headwise::allows(odd, query, key) : headwise::allows(even, query, key);
    }

    constexpr Coverage coverage(const PlaceTile& tile) const {
      return is_odd ? coverage_of(odd, tile) : coverage_of(even, tile);
    }

    constexpr auto runs(Place query) const requires(has_runs<A>() && has_runs<B>()) {
      using Common = decltype(unite(runs_of(even, query), runs_of(odd, query)));
      Common runs;
      if (is_odd) {
        for (const Range& run : runs_of(odd, query)) runs.append(run);
      } else {
        for (const Range& run : runs_of(even, query)) runs.append(run);
      }
      return runs;
    }
  };

  constexpr void check(const Context& context) const {
    check_mask(even, context);
    check_mask(odd, context);
  }

  constexpr auto bind(const Context& context) const {
    return Bound<BoundMask<Even>, BoundMask<Odd>>{bind_mask(even, context), bind_mask(odd, context),
                                                  context.head % 2 == 1};
  }
};

/// ByHead{even, odd} with its types deduced.
template <MaskPolicy Even, MaskPolicy Odd>
constexpr ByHead<Even, Odd> by_head(Even even, Odd odd) {
  return {std::move(even), std::move(odd)};
}

}  // namespace headwise::mask
