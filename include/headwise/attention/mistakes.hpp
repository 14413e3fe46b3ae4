#pragma once

#include <headwise/core/policy.hpp>

#include <concepts>
#include <type_traits>

/// What the compiler says to a call of `attend` whose types do not fit. Without it each of the verb's forms
/// would be listed with what it asks for, and none of them says what to write instead.
namespace headwise::attention {

template <class T>
concept AnyEigenMatrix = std::derived_from<T, Eigen::MatrixBase<T>>;

template <class T>
concept MatrixOfBools = AnyEigenMatrix<T> && std::same_as<typename T::Scalar, bool>;

/// What may stand behind the options, or in their place: at most a mask and a score.
template <class Scalar, class... Policies>
struct PolicyMistake : std::false_type {};
template <class Scalar, class Mask>
struct PolicyMistake<Scalar, Mask> : std::bool_constant<!MaskPolicy<Mask>> {};
template <class Scalar, class Mask, class Score>
struct PolicyMistake<Scalar, Mask, Score>
    : std::bool_constant<!MaskPolicy<Mask> || !ComputableScore<Score, Scalar>> {};

/// Three matrices that are not of one real scalar type, or policies in each other's place.
template <class Q, class K, class V, class... Policies>
concept Mistaken = AnyEigenMatrix<Q> && AnyEigenMatrix<K> && AnyEigenMatrix<V> &&
    (!RealMatrix<Q> || !RealMatrix<K> || !RealMatrix<V> || !SameScalar<Q, K, V> ||
     PolicyMistake<scalar_of<Q>, Policies...>::value);

template <class Mask>
constexpr void refuse_as_mask() {
  if constexpr (MatrixOfBools<Mask>) {
    static_assert(!AnyEigenMatrix<Mask>, "a matrix of bools where a mask belongs: write mask::Dense(matrix)");
  } else if constexpr (AnyEigenMatrix<Mask>) {
    static_assert(!AnyEigenMatrix<Mask>,
                  "a matrix of numbers where a mask belongs: it is an additive bias, hence a score; write "
                  "attend(query, key, value, options, mask::None{}, score::dense_bias(matrix))");
  } else if constexpr (ScoreRecipe<Mask>) {
    static_assert(!ScoreRecipe<Mask>,
                  "a score where a mask belongs: the mask comes first; write attend(query, key, value, "
                  "options, mask::None{}, score)");
  } else {
    static_assert(MaskPolicy<Mask>,
                  "no mask: a mask has `bool allows(query, key)`, or is a callable that returns exactly bool "
                  "for two positions");
  }
}

template <class Score, class Scalar>
constexpr void refuse_as_score() {
  if constexpr (MatrixOfBools<Score>) {
    static_assert(!AnyEigenMatrix<Score>,
                  "a matrix of bools where a score belongs: it is a mask; write mask::Dense(matrix) before "
                  "the score");
  } else if constexpr (AnyEigenMatrix<Score>) {
    static_assert(!AnyEigenMatrix<Score>, "a matrix where a score belongs: write score::dense_bias(matrix)");
  } else if constexpr (MaskPolicy<Score>) {
    static_assert(!MaskPolicy<Score>, "a mask where a score belongs: two masks are joined, write a && b");
  } else if constexpr (ScoreRecipe<Score>) {
    static_assert(!ScoreRecipe<Score>,
                  "a score of numbers that this call cannot add: bools, or variables of a tape whose query, "
                  "key and value are none; a matrix of bools is a mask, write mask::Dense(matrix)");
  } else {
    static_assert(ComputableScore<Score, Scalar>,
                  "no score: a score is one of score::, or a callable of (score, query, key) that returns "
                  "exactly the scalar of query, key and value");
  }
}

/// Fails to compile, with the remedy for the first mistake of the call.
template <class Q, class K, class V>
constexpr bool refuse_matrices() {
  constexpr bool real = RealMatrix<Q> && RealMatrix<K> && RealMatrix<V>;
  static_assert(real,
                "query, key and value are floating-point or complex matrices, and one is not: write "
                "matrix.cast<float>()");
  static_assert(!real || SameScalar<Q, K, V>,
                "query, key and value have one scalar type, and nothing is converted in silence: write "
                "matrix.cast<float>()");
  return real && SameScalar<Q, K, V>;
}

template <class Q, class K, class V>
constexpr void refuse() {
  (void)refuse_matrices<Q, K, V>();
}
template <class Q, class K, class V, class Mask>
constexpr void refuse() {
  if constexpr (refuse_matrices<Q, K, V>()) refuse_as_mask<Mask>();
}
template <class Q, class K, class V, class Mask, class Score>
constexpr void refuse() {
  if constexpr (refuse_matrices<Q, K, V>()) {
    if constexpr (!MaskPolicy<Mask>) {
      refuse_as_mask<Mask>();
    } else {
      refuse_as_score<Score, scalar_of<Q>>();
    }
  }
}

}  // namespace headwise::attention
