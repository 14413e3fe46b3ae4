#pragma once

#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace headwise::score {

namespace detail {

template <ScoreRecipe S>
constexpr bool reads_query_position() {
  return headwise::reads_query<S>() && coordinates_of<S>() == Coordinates::positions;
}

}  // namespace detail

/// Two bound scores, the second applied to what the first returns. Each gets the coordinates that it reads.
template <class Scalar, class First, class Second>
struct BoundChain {
  static constexpr std::size_t first_count = learned_of<First>().size();
  static constexpr std::size_t count = first_count + learned_of<Second>().size();

  static constexpr bool has_sink = headwise::has_sink<Second>();
  static constexpr bool identity = is_identity<First>() && is_identity<Second>();
  static constexpr std::array<Learned, count> learned = [] {
    std::array<Learned, count> kinds{};
    std::ranges::copy(learned_of<First>(), kinds.begin());
    std::ranges::copy(learned_of<Second>(), kinds.begin() + first_count);
    return kinds;
  }();

  First first;
  Second second;
  std::size_t first_operands;  ///< how many gradients of the whole chain belong to `first`

  [[gnu::always_inline]] constexpr Scalar operator()(Scalar s, Place query, Place key) const {
    return headwise::apply(second, headwise::apply(first, s, query, key), query, key);
  }

  /// The chain rule. The score between the two is evaluated again: nothing is kept from the forward pass.
  [[gnu::always_inline]] constexpr PullBack<Scalar, count> pull_back(Scalar s, Place query, Place key,
                                                                     Scalar d) const
      requires(headwise::has_pull_back<First, Scalar>() && headwise::has_pull_back<Second, Scalar>()) {
    const auto outer = headwise::pull_back(second, headwise::apply(first, s, query, key), query, key, d);
    const auto inner = headwise::pull_back(first, s, query, key, outer.score);
    PullBack<Scalar, count> result;
    result.score = inner.score;
    for (std::size_t n = 0; n < first_count; ++n) result.learned[n] = inner.learned[n];
    for (std::size_t n = first_count; n < count; ++n) result.learned[n] = outer.learned[n - first_count];
    return result;
  }

  void fold(std::span<const LearnedSum<Scalar>> sums, std::span<Matrix<Scalar>> gradients) const {
    if constexpr (first_count > 0) first.fold(sums.first(first_count), gradients.first(first_operands));
    if constexpr (count > first_count)
      second.fold(sums.subspan(first_count), gradients.subspan(first_operands));
  }

  PairSlot<Scalar> pair_slot(std::size_t n, std::span<Matrix<Scalar>> gradients) const {
    if constexpr (has_learned<First>(Learned::per_pair)) {
      if (n < first_count) return first.pair_slot(n, gradients.first(first_operands));
    }
    if constexpr (has_learned<Second>(Learned::per_pair)) {
      if (n >= first_count) return second.pair_slot(n - first_count, gradients.subspan(first_operands));
    }
    return {};
  }

  static constexpr std::size_t pair_matrices =
      headwise::pair_matrices<First>() + headwise::pair_matrices<Second>();

  template <int Lanes, class Copy>
  constexpr auto on_tile(Place query, Place key, Copy&& copy) const {
    auto a = score_on_tile<Lanes>(first, query, key, copy);
    auto b = score_on_tile<Lanes>(second, query, key, copy);
    return BoundChain<Scalar, decltype(a), decltype(b)>{a, b, first_operands};
  }

  Scalar sink() const requires has_sink { return second.sink(); }

  auto view() const requires(HasLaneView<First> || HasLaneView<Second>) {
    using FirstView = decltype(lane_view(first));
    using SecondView = decltype(lane_view(second));
    return BoundChain<Scalar, FirstView, SecondView>{lane_view(first), lane_view(second), first_operands};
  }
};

/// What `>>` makes: the second score applied to what the first returns.
///
///     s  <-  second(first(s, query, key), query, key)
///
/// Throws what its parts throw.
template <ScoreRecipe First, ScoreRecipe Second>
class Chain {
 public:
  using policy = ScoreTag;
  static constexpr bool reads_query =
      detail::reads_query_position<First>() || detail::reads_query_position<Second>();
  static constexpr bool has_sink = headwise::has_sink<Second>();
  static constexpr bool lends_memory = headwise::lends_memory<First>() || headwise::lends_memory<Second>();

  constexpr Chain(First first, Second second) : first_(std::move(first)), second_(std::move(second)) {}

  template <class Scalar>
  constexpr auto bind(const Context& context) const
      requires(ScorePolicy<First, Scalar>&& ScorePolicy<Second, Scalar>) {
    using BoundFirst = decltype(bind_score<Scalar>(first_, context));
    using BoundSecond = decltype(bind_score<Scalar>(second_, context));
    return BoundChain<Scalar, BoundFirst, BoundSecond>{
        bind_score<Scalar>(first_, context), bind_score<Scalar>(second_, context), operand_count(first_)};
  }

  constexpr void check(const Context& context) const {
    check_score(first_, context);
    check_score(second_, context);
  }

  constexpr void for_each_operand(auto&& visit) const {
    headwise::for_each_operand(first_, visit);
    headwise::for_each_operand(second_, visit);
  }
  /// f is called in the order of for_each_operand: it may count.
  constexpr auto map_operands(auto&& f) const {
    auto first = headwise::map_operands(first_, f);
    auto second = headwise::map_operands(second_, f);
    return Chain<decltype(first), decltype(second)>(std::move(first), std::move(second));
  }

 private:
  First first_;
  Second second_;
};

/// A score that another may follow: not a sink, nor a chain that ends in one. A sink is the last of a chain.
template <class S>
concept SinkComesLast = ScoreRecipe<S> && !headwise::has_sink<S>();

/// first >> second: score policies in written order. Scores only, bound or not: a recipe of variables that no
/// kernel can read may be chained, too. A callable joins as score::function.
template <SinkComesLast First, ScoreRecipe Second>
constexpr Chain<First, Second> operator>>(First first, Second second) {
  return {std::move(first), std::move(second)};
}

}  // namespace headwise::score
