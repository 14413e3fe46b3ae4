#pragma once

#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

/// What kernels and combinators ask of a score, be it a recipe, a chain of them or a plain callable.
namespace headwise {

/// A callable as a bound score holds it: a small one by value, so that a lane loop sees no pointer; a large
/// one, or one that is not just bits, by address. It must outlive the call, as the arguments of a verb do.
template <class F>
class HeldCallable {
 public:
  static constexpr bool by_value = std::is_trivially_copyable_v<F> && sizeof(F) <= 128;

  constexpr explicit HeldCallable(const F& f) noexcept : f_(hold(f)) {}

  constexpr const F& operator*() const noexcept {
    if constexpr (by_value) {
      return f_;
    } else {
      return *f_;
    }
  }

 private:
  static constexpr auto hold(const F& f) noexcept {
    if constexpr (by_value) {
      return f;
    } else {
      return &f;
    }
  }

  std::conditional_t<by_value, F, const F*> f_;
};

/// A callable Scalar(score, query, key), or one that also takes (head, sequence), bound to one head. It has
/// no pull_back: a callable with its derivative is score::function.
template <class F, class Scalar>
class CalledScore {
 public:
  constexpr CalledScore(const F& f, const Context& context) noexcept
      : f_(f), head_(context.head), sequence_(context.sequence) {}

  constexpr Scalar operator()(Scalar s, Position query, Position key) const {
    if constexpr (requires { (*f_)(s, query, key); }) {
      return (*f_)(s, query, key);
    } else {
      return (*f_)(s, query, key, head_, sequence_);
    }
  }

 private:
  HeldCallable<F> f_;
  Index head_, sequence_;
};

/// The same scalar; or a wider one (long double, std::complex), so that gradient checks need no second set of
/// operands.
template <class From, class Scalar>
concept ReadsAs = std::same_as<From, Scalar> ||
    (!std::same_as<Scalar, float> && !std::same_as<Scalar, double> && std::constructible_from<Scalar, From>);

template <class Table>
using operand_scalar = scalar_of<decltype(value_of(std::declval<const Table&>()))>;

/// An operand that a score can read when it computes in Scalar: a matrix, a view or a parameter.
template <class Table, class Scalar>
concept OperandOf = ReadsAs<operand_scalar<Table>, Scalar>;

/// True when a bound score refers to memory of its recipe, or of the callable, which then must outlive it.
template <class Score>
constexpr bool lends_memory() {
  if constexpr (requires { Score::lends_memory; }) {
    return Score::lends_memory;
  } else {
    return !ScoreRecipe<Score> && !HeldCallable<Score>::by_value;
  }
}

/// The score of one head of one sequence. A recipe binds itself; a callable is wrapped.
template <class Scalar, class Score>
constexpr auto bind_score(const Score& score, const Context& context) {
  if constexpr (ScoreRecipe<Score>) {
    static_assert(
        ScorePolicy<Score, Scalar>,
        "this score cannot be bound: its operands must be matrices or parameters of the call's scalar");
    return score.template bind<Scalar>(context);
  } else {
    static_assert(
        CallableScore<Score, Scalar>,
        "a score is a recipe of headwise::score, or a callable (score, query, key) or (score, query, "
        "key, head, sequence) that returns exactly the scalar of the call");
    return CalledScore<Score, Scalar>(score, context);
  }
}

/// A temporary that would be gone before what was bound to it.
template <class Score>
concept DanglesWhenBound = !std::is_reference_v<Score> && lends_memory<std::remove_const_t<Score>>();

/// Keep such a score in a variable.
template <class Scalar, DanglesWhenBound Score>
void bind_score(Score&& score, const Context& context) = delete;

/// What the border asks once a sequence, with head 0. Throws ShapeError when an operand does not fit the
/// call.
template <class Score>
constexpr void check_score(const Score& score, const Context& context) {
  if constexpr (requires { score.check(context); }) score.check(context);
}

/// A bound score that owns memory, and offers a small object of pointers and numbers for the lanes.
template <class Bound>
concept HasLaneView = requires(const Bound& bound) {
  bound.view();
};

/// What lane loops copy and call: trivially copyable, valid as long as `bound` lives.
template <class Bound>
constexpr auto lane_view(const Bound& bound) {
  if constexpr (HasLaneView<Bound>) {
    return bound.view();
  } else {
    return bound;
  }
}

/// A bound score that reads one number a pair from a matrix may lend it a tile at a time. Queries are lanes
/// in the kernel, and neighbouring lanes of a row-major matrix lie a row apart: a gather a number, unless a
/// tile's piece is transposed first. The score then says
///
///     pair_matrices                         how many matrices it reads
///     on_tile<Lanes>(query, key, copy)      the same score on a tile whose first places these are,
///
/// having called copy(from, query stride, key stride) once a matrix for memory with [key][lane] of the piece.
template <class Bound>
constexpr std::size_t pair_matrices() {
  if constexpr (requires { Bound::pair_matrices; }) {
    return Bound::pair_matrices;
  } else {
    return 0;
  }
}

/// The score for one tile: itself, unless it reads pairs.
template <int Lanes, class Bound, class Copy>
[[gnu::always_inline]] constexpr auto score_on_tile(const Bound& bound, Place query, Place key, Copy&& copy) {
  if constexpr (pair_matrices<Bound>() > 0) {
    return bound.template on_tile<Lanes>(query, key, copy);
  } else {
    return bound;
  }
}

/// True when the bound score has its derivative, which is what backward needs.
template <class Bound, class Scalar>
constexpr bool has_pull_back() {
  if constexpr (PlaceScore<Bound, Scalar>) {
    return requires(const Bound& bound, Scalar s, Place p) { bound.pull_back(s, p, p, s); };
  } else {
    return requires(const Bound& bound, Scalar s, Position p) { bound.pull_back(s, p, p, s); };
  }
}

/// True when the bound score's chain ends in a sink: a logit `bound.sink()` that takes part in the softmax
/// and has no value.
template <class Bound>
constexpr bool has_sink() {
  if constexpr (requires { Bound::has_sink; }) {
    return Bound::has_sink;
  } else {
    return false;
  }
}

/// Calls visit(operand) for each learned matrix of a score, in the order in which backward returns gradients.
template <class Score>
constexpr void for_each_operand(const Score& score, auto&& visit) {
  if constexpr (requires { score.for_each_operand(visit); }) score.for_each_operand(visit);
}

/// The same score with each operand replaced by f(operand): how a tape puts values in the place of variables.
template <class Score>
constexpr auto map_operands(const Score& score, auto&& f) {
  if constexpr (requires { score.map_operands(f); }) {
    return score.map_operands(f);
  } else {
    return score;
  }
}

template <class Score>
constexpr std::size_t operand_count(const Score& score) {
  std::size_t count = 0;
  headwise::for_each_operand(score, [&count](const auto&) { ++count; });
  return count;
}

}  // namespace headwise
