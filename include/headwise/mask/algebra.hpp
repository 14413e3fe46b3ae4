#pragma once

#include <headwise/core/mask_queries.hpp>

#include <utility>

/// Masks are sets of pairs, and sets have an algebra:
///
///     a && b    pairs that both allow                !a       pairs that a hides
///     a || b    pairs that either allows             a - b    pairs that a allows and b hides
///                                                    a ^ b    pairs that exactly one allows
///
/// Operands may use different coordinates, and any callable may stand next to a mask of ours. Where all
/// operands list the keys of a query as runs, so does the result, exactly; otherwise tiles are judged, never
/// wrongly. Write parentheses in `(a && b) || c`, as for bools. Throws what the operands throw.
namespace headwise::mask {

namespace detail {

struct BothAllow {
  static constexpr bool pair(bool a, bool b) noexcept { return a && b; }
  static constexpr Coverage tile(Coverage a, Coverage b) noexcept {
    if (a == Coverage::none || b == Coverage::none) return Coverage::none;
    return a == Coverage::full && b == Coverage::full ? Coverage::full : Coverage::partial;
  }
};

struct EitherAllows {
  static constexpr bool pair(bool a, bool b) noexcept { return a || b; }
  static constexpr Coverage tile(Coverage a, Coverage b) noexcept {
    if (a == Coverage::full || b == Coverage::full) return Coverage::full;
    return a == Coverage::none && b == Coverage::none ? Coverage::none : Coverage::partial;
  }
};

struct OnlyFirstAllows {
  static constexpr bool pair(bool a, bool b) noexcept { return a && !b; }
  static constexpr Coverage tile(Coverage a, Coverage b) noexcept {
    if (a == Coverage::none || b == Coverage::full) return Coverage::none;
    return a == Coverage::full && b == Coverage::none ? Coverage::full : Coverage::partial;
  }
};

struct ExactlyOneAllows {
  static constexpr bool pair(bool a, bool b) noexcept { return a != b; }
  static constexpr Coverage tile(Coverage a, Coverage b) noexcept {
    if (a == Coverage::partial || b == Coverage::partial) return Coverage::partial;
    return a == b ? Coverage::none : Coverage::full;
  }
};

/// The keys for which Rule::pair(in a, in b) holds, given that it fails for keys in neither: one sweep over
/// the ends of all runs, of which each closes or opens at most one run of the result.
template <class Rule, int N, int M>
constexpr Runs<N + M> combine(const Runs<N>& a, const Runs<M>& b) noexcept {
  const auto edge = [](const auto& runs, int i) {
    const Range& run = runs.run[std::size_t(i / 2)];
    return i % 2 == 0 ? run.begin : run.end;
  };
  Runs<N + M> result;
  bool inside = false;
  Index begin = 0;
  for (int i = 0, j = 0; i < 2 * a.count || j < 2 * b.count;) {
    const bool take_a = j == 2 * b.count || (i < 2 * a.count && edge(a, i) <= edge(b, j));
    const Index here = take_a ? edge(a, i++) : edge(b, j++);
    const bool now_inside = Rule::pair(i % 2 == 1, j % 2 == 1);
    if (inside && !now_inside) result.append({begin, here});
    if (now_inside && !inside) begin = here;
    inside = now_inside;
  }
  return result;
}

/// Two bound tests as one.
template <class A, class B, class Rule>
struct BoundPairOf {
  static constexpr bool runs_read_positions =
      headwise::runs_read_positions<A>() || headwise::runs_read_positions<B>();

  A a;
  B b;

  constexpr bool allows(Place query, Place key) const {
    return Rule::pair(headwise::allows(a, query, key), headwise::allows(b, query, key));
  }

  constexpr Coverage coverage(const PlaceTile& tile) const {
    return Rule::tile(coverage_of(a, tile), coverage_of(b, tile));
  }

  constexpr auto runs(Place query) const requires(has_runs<A>() && has_runs<B>()) {
    return combine<Rule>(runs_of(a, query), runs_of(b, query));
  }
};

}  // namespace detail

/// Two masks as one; made by the operators below.
template <MaskPolicy A, MaskPolicy B, class Rule>
struct PairOf {
  static constexpr bool reads_query = needs_query_position<A>() || needs_query_position<B>();
  static constexpr bool reads_head = depends_on_head<A>() || depends_on_head<B>();

  A a;
  B b;

  constexpr void check(const Context& context) const {
    check_mask(a, context);
    check_mask(b, context);
  }

  constexpr auto bind(const Context& context) const {
    return detail::BoundPairOf<BoundMask<A>, BoundMask<B>, Rule>{bind_mask(a, context),
                                                                 bind_mask(b, context)};
  }
};

/// The pairs that a mask hides; made by `!`.
template <MaskPolicy A>
struct Not {
  static constexpr bool reads_query = needs_query_position<A>();
  static constexpr bool reads_head = depends_on_head<A>();

  A a;

  template <class Test>
  struct Bound {
    static constexpr bool runs_read_positions = headwise::runs_read_positions<Test>();

    Test a;

    constexpr bool allows(Place query, Place key) const { return !headwise::allows(a, query, key); }

    constexpr Coverage coverage(const PlaceTile& tile) const {
      const Coverage hidden = coverage_of(a, tile);
      if (hidden == Coverage::partial) return Coverage::partial;
      return hidden == Coverage::full ? Coverage::none : Coverage::full;
    }

    constexpr auto runs(Place query) const requires(has_runs<Test>()) {
      return complement(runs_of(a, query));
    }
  };

  constexpr void check(const Context& context) const { check_mask(a, context); }
  constexpr auto bind(const Context& context) const { return Bound<BoundMask<A>>{bind_mask(a, context)}; }
};

template <MaskPolicy A, MaskPolicy B>
constexpr auto operator&&(A a, B b) {
  return PairOf<A, B, detail::BothAllow>{std::move(a), std::move(b)};
}

template <MaskPolicy A, MaskPolicy B>
constexpr auto operator||(A a, B b) {
  return PairOf<A, B, detail::EitherAllows>{std::move(a), std::move(b)};
}

template <MaskPolicy A, MaskPolicy B>
constexpr auto operator-(A a, B b) {
  return PairOf<A, B, detail::OnlyFirstAllows>{std::move(a), std::move(b)};
}

template <MaskPolicy A, MaskPolicy B>
constexpr auto operator^(A a, B b) {
  return PairOf<A, B, detail::ExactlyOneAllows>{std::move(a), std::move(b)};
}

template <MaskPolicy A>
constexpr auto operator!(A a) {
  return Not<A>{std::move(a)};
}

}  // namespace headwise::mask
