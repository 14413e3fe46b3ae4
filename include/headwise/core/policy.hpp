#pragma once

#include <headwise/core/runs.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace headwise {

/// Which numbers a policy is asked about: the tokens' positions, or the rows of the caller's matrices,
/// counted within one sequence. They differ as soon as a cache, a window or a gather is in play.
enum class Coordinates { positions, rows };

/// One token in both coordinates. Combinators pass both on; a leaf takes the one that it declares.
struct Place {
  Position position = 0;
  Position row = 0;  ///< within its sequence
};

/// What is fixed while a policy serves one head of one sequence.
struct Context {
  Index head = 0, heads = 1;          ///< of the query
  Index sequence = 0, sequences = 1;  ///< in the ragged batch
  Range query_rows, key_rows;         ///< rows of the caller's matrices that are this sequence
  Range relative;                     ///< every key position - query position that can occur
};

// ---- Masks ---------------------------------------------------------------------------------------------

/// A test of one pair: exactly bool, so that a matrix of floats or a score can never pass as a mask.
template <class M>
concept PairTest = requires(const M& mask, Index query, Index key) {
  { mask.allows(query, key) } -> std::same_as<bool>;
};

/// Combinators test places, because their operands may use different coordinates.
template <class M>
concept PlaceTest = requires(const M& mask, Place query, Place key) {
  { mask.allows(query, key) } -> std::same_as<bool>;
};

/// A mask whose answer depends on the head, the sequence or data: bind(context) gives the test for one head.
template <class M>
concept BindableMask = requires(const M& mask, const Context& context) {
  mask.bind(context);
};

/// Any callable bool(query, key) is a mask, and so is one that also takes (head, sequence). A matrix of bools
/// may be called the same way, but goes by rows: it is mask::Dense that says so.
template <class M>
concept CallableMask = !std::derived_from<M, Eigen::EigenBase<M>> && (
                                                                         requires(const M& mask, Index i) {
                                                                           {
                                                                             mask(i, i)
                                                                             } -> std::same_as<bool>;
                                                                         } ||
                                                                         requires(const M& mask, Index i) {
                                                                           {
                                                                             mask(i, i, i, i)
                                                                             } -> std::same_as<bool>;
                                                                         });

/// Which keys may a query see? `allows(query, key)` is all a mask must have.
template <class M>
concept MaskPolicy = PairTest<M> || PlaceTest<M> || BindableMask<M> || CallableMask<M>;

/// A mask that lists the keys of a query, in its coordinates, as runs.
template <class M>
concept HasRuns = requires(const M& mask, Index query) {
  mask.runs(query).count;
};

/// A mask of places (a combinator) that lists the keys of a query as runs.
template <class M>
concept HasPlaceRuns = requires(const M& mask, Place query) {
  mask.runs(query).count;
};

/// A mask that judges whole tiles.
template <class M>
concept HasCoverage = requires(const M& mask, Tile tile) {
  { mask.coverage(tile) } -> std::same_as<Coverage>;
};

/// The coordinates a policy declares; positions unless it says otherwise.
template <class P>
constexpr Coordinates coordinates_of() {
  if constexpr (requires { P::coordinates; }) {
    return P::coordinates;
  } else {
    return Coordinates::positions;
  }
}

/// False for policies that answer alike wherever the query stands; only others need to be told the offset.
template <class P>
constexpr bool reads_query() {
  if constexpr (requires { P::reads_query; }) {
    return P::reads_query;
  } else {
    return true;
  }
}

/// True for masks whose answer differs from head to head, so that their spans cannot be shared by heads.
template <class P>
constexpr bool reads_head() {
  if constexpr (requires { P::reads_head; }) {
    return P::reads_head;
  } else {
    return false;
  }
}

// ---- Scores --------------------------------------------------------------------------------------------

/// How the gradient of a learned number is summed over the pairs of one head.
enum class Learned {
  number,        ///< one number a head
  per_distance,  ///< one number for each key position - query position
  per_pair,      ///< one number for each (query row, key row)
  sink           ///< the logit of the softmax's sink; the kernel knows its gradient
};

/// What a score's derivative returns: the gradient of its input, and of its learned numbers.
template <class Scalar, std::size_t N = 0>
struct PullBack {
  Scalar score{};
  std::array<Scalar, N> learned{};
};

/// The sum over pairs of one learned number's gradient: `number` for Learned::number and Learned::sink,
/// `per_distance[d - first_distance]` for Learned::per_distance.
template <class Scalar>
struct LearnedSum {
  Scalar number{};
  std::span<const Scalar> per_distance{};
  Index first_distance = 0;
};

/// Where the gradient of a pair goes: data[query_row * row_stride + key_row * column_stride]; a stride of
/// zero sums over a broadcast axis.
template <class Scalar>
struct PairSlot {
  Scalar* data = nullptr;
  Index row_stride = 0, column_stride = 0;
};

/// A type that calls itself a score says so with `using policy = ScoreTag;`.
struct ScoreTag {};

/// A score policy as the user writes it: may still hold variables that only the tape can read.
template <class S>
concept ScoreRecipe = std::same_as<typename S::policy, ScoreTag>;

/// A recipe that can be bound to one head and computed in Scalar.
template <class S, class Scalar>
concept ScorePolicy = ScoreRecipe<S> && requires(const S& score, const Context& context) {
  score.template bind<Scalar>(context);
};

/// Any callable Scalar(score, query, key), or one that also takes (head, sequence); exactly the scalar.
template <class S, class Scalar>
concept CallableScore = requires(const S& score, Scalar s, Position p) {
  { score(s, p, p) } -> std::same_as<Scalar>;
}
|| requires(const S& score, Scalar s, Position p, Index i) {
  { score(s, p, p, i, i) } -> std::same_as<Scalar>;
};

/// A score that `attend` can compute in Scalar: a recipe whose operands hold numbers, or a callable.
template <class S, class Scalar>
concept ComputableScore = ScorePolicy<S, Scalar> || CallableScore<S, Scalar>;

/// A score bound to one head that reads places rather than one of their coordinates: a combinator.
template <class Bound, class Scalar>
concept PlaceScore = requires(const Bound& bound, Scalar s, Place place) {
  bound(s, place, place);
};

// ---- What combinators and kernels call: one question, whatever the coordinates --------------------------
//
// Always inlined: a lane loop with a call in it stays scalar.

template <class Bound>
[[gnu::always_inline]] constexpr bool allows(const Bound& mask, Place query, Place key) {
  if constexpr (PlaceTest<Bound>) {
    return mask.allows(query, key);
  } else if constexpr (coordinates_of<Bound>() == Coordinates::rows) {
    return mask.allows(Index(query.row), Index(key.row));
  } else {
    return mask.allows(Index(query.position), Index(key.position));
  }
}

template <class Bound, class Scalar>
[[gnu::always_inline]] constexpr Scalar apply(const Bound& score, Scalar s, Place query, Place key) {
  if constexpr (PlaceScore<Bound, Scalar>) {
    return score(s, query, key);
  } else if constexpr (coordinates_of<Bound>() == Coordinates::rows) {
    return score(s, query.row, key.row);
  } else {
    return score(s, query.position, key.position);
  }
}

template <class Bound, class Scalar>
[[gnu::always_inline]] constexpr auto pull_back(const Bound& score, Scalar s, Place query, Place key,
                                                Scalar d) {
  if constexpr (PlaceScore<Bound, Scalar>) {
    return score.pull_back(s, query, key, d);
  } else if constexpr (coordinates_of<Bound>() == Coordinates::rows) {
    return score.pull_back(s, query.row, key.row, d);
  } else {
    return score.pull_back(s, query.position, key.position, d);
  }
}

/// True for a bound score that leaves every score as it is, so that kernels need not ask it.
template <class Bound>
constexpr bool is_identity() {
  if constexpr (requires { Bound::identity; }) {
    return Bound::identity;
  } else {
    return false;
  }
}

/// The kinds of a bound score's learned numbers, in the order of PullBack::learned; none unless it says so.
template <class Bound>
constexpr auto learned_of() {
  if constexpr (requires { Bound::learned; }) {
    return Bound::learned;
  } else {
    return std::array<Learned, 0>{};
  }
}

template <class Bound>
constexpr bool has_learned(Learned kind) {
  for (Learned each : learned_of<Bound>())
    if (each == kind) return true;
  return false;
}

}  // namespace headwise
