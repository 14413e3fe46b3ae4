#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/merge.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>

#include <utility>

namespace headwise {

/// Keys and values that one piece of ETC looks at, and how: its own mask and score. The matrices must outlive
/// the call.
template <class Scalar, MaskPolicy Mask = mask::None, class Score = score::None>
struct EtcPiece {
  const Matrix<Scalar>&key, &value;
  Mask mask{};
  Score score{};
};

template <class Scalar>
EtcPiece<Scalar> etc_piece(const Matrix<Scalar>& key, const Matrix<Scalar>& value) {
  return {key, value, {}, {}};
}
template <class Scalar, MaskPolicy Mask>
EtcPiece<Scalar, Mask> etc_piece(const Matrix<Scalar>& key, const Matrix<Scalar>& value, Mask mask) {
  return {key, value, std::move(mask), {}};
}
template <class Scalar, MaskPolicy Mask, ComputableScore<Scalar> Score>
EtcPiece<Scalar, Mask, Score> etc_piece(const Matrix<Scalar>& key, const Matrix<Scalar>& value, Mask mask,
                                        Score score) {
  return {key, value, std::move(mask), std::move(score)};
}

/// ETC's four attentions: long and global queries, each to long and to global keys.
template <class LongToLong, class LongToGlobal, class GlobalToGlobal, class GlobalToLong>
struct EtcPieces {
  LongToLong long_to_long;
  LongToGlobal long_to_global;
  GlobalToGlobal global_to_global;
  GlobalToLong global_to_long;
};

template <class A, class B, class C, class D>
EtcPieces<A, B, C, D> etc_pieces(A long_to_long, B long_to_global, C global_to_global, D global_to_long) {
  return {std::move(long_to_long), std::move(long_to_global), std::move(global_to_global),
          std::move(global_to_long)};
}

/// The two inputs of ETC, and where their texts begin.
struct EtcOptions {
  AttendOptions
      attend{};  ///< heads, kv_heads, scale, dropout, executor; its rows are those of the long input
  RaggedRows global_rows{};  ///< texts in the global input, as many as in the long one
  Index radius = 84;         ///< r: a long token sees r tokens on each side
};

/// What ETC returns, one for each input.
template <class Scalar>
struct EtcAttended {
  Attended<Scalar> from_long, from_global;
};

namespace attention {

/// The options of one piece.
inline AttendOptions etc_call(const EtcOptions& o, bool query_is_long, bool key_is_long) {
  AttendOptions call = o.attend;
  const RaggedRows& long_rows = o.attend.query_rows;
  call.query_rows = query_is_long ? long_rows : o.global_rows;
  call.key_rows = key_is_long ? long_rows : o.global_rows;
  call.query_offset = 0;  // each input counts its own positions from 0
  return call;
}

inline void check_etc(const EtcOptions& o) {
  mask::Band{.left = o.radius, .right = o.radius}.check({});
  if (!o.attend.query_offset && o.attend.query_positions.empty() && o.attend.key_rows.whole()) return;
  throw ShapeError(
      "ETC: query_offset, positions or key_rows are given, expected none of them; each input counts its own "
      "rows");
}

/// A long token sees its neighbours, as far as the piece's own mask allows.
template <class Piece>
auto etc_window(const EtcOptions& o, const Piece& piece) {
  return mask::Band{.left = o.radius, .right = o.radius} && piece.mask;
}

/// The side of the long input: one softmax over its window and the global input.
template <class Scalar, class LongToLong, class LongToGlobal>
Attended<Scalar> attend_etc_from_long(const Matrix<Scalar>& query, const LongToLong& ll,
                                      const LongToGlobal& lg, const EtcOptions& o) {
  check_etc(o);
  return merge(attend_with_lse(query, ll.key, ll.value, etc_call(o, true, true), etc_window(o, ll), ll.score),
               attend_with_lse(query, lg.key, lg.value, etc_call(o, true, false), lg.mask, lg.score));
}

/// The side of the global input: one softmax over both inputs.
template <class Scalar, class GlobalToGlobal, class GlobalToLong>
Attended<Scalar> attend_etc_from_global(const Matrix<Scalar>& query, const GlobalToGlobal& gg,
                                        const GlobalToLong& gl, const EtcOptions& o) {
  check_etc(o);
  return merge(attend_with_lse(query, gg.key, gg.value, etc_call(o, false, false), gg.mask, gg.score),
               attend_with_lse(query, gl.key, gl.value, etc_call(o, false, true), gl.mask, gl.score));
}

}  // namespace attention

/// ETC: a long input that sees locally, and a small global input that both see, in two softmaxes.
///
///     long row i:    softmax over {long j : |i - j| <= radius and M_ll}  united with  {global g : M_lg}
///     global row g:  softmax over {global h : M_gg}                      united with  {long j : M_gl}
///
/// Each of the four pieces has its own keys, values, mask M and score, over positions that each input counts
/// from 0: relative labels are scores of the pieces (score::QueryDistance for l-l and g-g, score::QueryChoice
/// for whether a token belongs to a global token's sentence), hard masks or packed examples are
/// mask::ScatteredDocuments. Pieces of one side share their query, and are merged by their log-sum-exp.
/// long_query [n_l, heads * head_dim], global_query [n_g, heads * head_dim] -> outputs of as many rows.
/// Cost: O(n_l (2 radius + 1 + n_g) + n_g (n_g + n_l)) pairs. Throws ShapeError as attend_with_lse; a sink
/// does not belong here, because it would count in both pieces of a side. Paper: Ainslie et al., "ETC:
/// Encoding Long and Structured Inputs in Transformers", 2020, section 3.
template <class Scalar, class Pieces>
EtcAttended<Scalar> attend_etc(const Matrix<Scalar>& long_query, const Matrix<Scalar>& global_query,
                               const Pieces& pieces, const EtcOptions& options = {}) {
  const auto& [ll, lg, gg, gl] = pieces;
  return {attention::attend_etc_from_long(long_query, ll, lg, options),
          attention::attend_etc_from_global(global_query, gg, gl, options)};
}

}  // namespace headwise
