#pragma once

#include <headwise/attention/etc_backward.hpp>
#include <headwise/autograd/attend.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace headwise::autograd {

/// Keys and values that one piece of ETC looks at, of which at least one is a variable.
template <class Scalar, MaskPolicy Mask = mask::None, class Score = score::None>
struct EtcPieceVar {
  Var<Scalar> key, value;
  Mask mask{};
  Score score{};
};

/// A piece of ETC on a tape: see headwise::etc_piece. Learned numbers of the score may be variables.
template <class K, class V, MaskPolicy Mask = mask::None, class Score = score::None>
requires Recorded<K, V>
auto etc_piece(const K& key, const V& value, Mask mask = {}, Score score = {}) {
  const auto [k, v] = detail::as_vars(key, value);
  return EtcPieceVar<scalar_of<decltype(k)>, Mask, Score>{k, v, std::move(mask), std::move(score)};
}

/// What attend_etc returns on a tape, one for each input.
template <class Scalar>
struct EtcAttendedVar {
  AttendedOutput<Scalar> from_long, from_global;
};

namespace detail {

/// The side of the long input.
struct EtcFromLong {
  static auto forward(const auto& query, const auto& own, const auto& other, const EtcOptions& options) {
    return attention::attend_etc_from_long(query, own, other, options);
  }
  static auto backward(const auto& query, const auto& own, const auto& other, const auto& attended,
                       const auto& d, const EtcOptions& options) {
    return attention::attend_etc_from_long_backward(query, own, other, attended, d, options);
  }
};

/// The side of the global input.
struct EtcFromGlobal {
  static auto forward(const auto& query, const auto& own, const auto& other, const EtcOptions& options) {
    return attention::attend_etc_from_global(query, own, other, options);
  }
  static auto backward(const auto& query, const auto& own, const auto& other, const auto& attended,
                       const auto& d, const EtcOptions& options) {
    return attention::attend_etc_from_global_backward(query, own, other, attended, d, options);
  }
};

/// The piece as numbers; its key, its value and the operands of its score are noted, in this order.
template <class Scalar, class Mask, class Score>
auto piece_of_values(Tape<Scalar>& tape, const EtcPieceVar<Scalar, Mask, Score>& piece,
                     std::vector<Var<Scalar>>& operands) {
  operands.push_back(as_var<Scalar>(tape, piece.key));
  operands.push_back(as_var<Scalar>(tape, piece.value));
  auto score = score_of_values<Scalar>(tape, piece.score, operands);
  return EtcPiece<Scalar, Mask, decltype(score)>{piece.key.value(), piece.value.value(), piece.mask,
                                                 std::move(score)};
}

/// Adds the gradients of a piece whose operands begin at `first`; returns where the next one's begin.
template <class Scalar>
std::size_t add_piece_gradients(Sweep<Scalar>& sweep, const std::vector<Var<Scalar>>& operands,
                                std::size_t first, EtcPieceGradients<Scalar> gradients) {
  sweep.add(operands[first], std::move(gradients.key));
  sweep.add(operands[first + 1], std::move(gradients.value));
  std::size_t next = first + 2;
  for (Matrix<Scalar>& each : gradients.learned) sweep.add(operands[next++], std::move(each));
  return next;
}

/// One side of ETC as one node, which keeps one number a row and head.
template <class Side, class Scalar, class Own, class Other>
AttendedOutput<Scalar> recorded_etc_side(const Var<Scalar>& query, const Own& own_vars,
                                         const Other& other_vars, const EtcOptions& options) {
  Tape<Scalar>& tape = query.tape();
  std::vector<Var<Scalar>> operands{query};
  const auto own = piece_of_values(tape, own_vars, operands);
  const auto other = piece_of_values(tape, other_vars, operands);
  Attended<Scalar> attended = Side::forward(query.value(), own, other, options);
  const std::size_t node = tape.size();
  return {tape.record(std::move(attended.output), operands,
                      [operands, own, other, options, node, lse = std::move(attended.lse)](
                          Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                        const Attended<Scalar> result{operands[0].tape().value(node), lse};
                        auto gradients = Side::backward(operands[0].value(), own, other, result, d, options);
                        sweep.add(operands[0], std::move(gradients.query));
                        const std::size_t next =
                            add_piece_gradients(sweep, operands, 1, std::move(gradients.own));
                        add_piece_gradients(sweep, operands, next, std::move(gradients.other));
                      })};
}

}  // namespace detail

/// ETC's four attentions, recorded as one node for each input: see headwise::attend_etc.
///
/// The queries are variables or parameters, the pieces those that etc_piece makes of variables.
/// Masks, scores and options are kept until the tape ends. Cost: backward 2.5 times forward.
template <class L, class G, class Scalar, class M1, class S1, class M2, class S2, class M3, class S3,
          class M4, class S4>
auto attend_etc(const L& long_query, const G& global_query,
                const EtcPieces<EtcPieceVar<Scalar, M1, S1>, EtcPieceVar<Scalar, M2, S2>,
                                EtcPieceVar<Scalar, M3, S3>, EtcPieceVar<Scalar, M4, S4>>& pieces,
                const EtcOptions& options = {}) {
  Tape<Scalar>& tape = pieces.long_to_long.key.tape();
  return EtcAttendedVar<Scalar>{
      detail::recorded_etc_side<detail::EtcFromLong>(detail::as_var<Scalar>(tape, long_query),
                                                     pieces.long_to_long, pieces.long_to_global, options),
      detail::recorded_etc_side<detail::EtcFromGlobal>(detail::as_var<Scalar>(tape, global_query),
                                                       pieces.global_to_global, pieces.global_to_long,
                                                       options)};
}

}  // namespace headwise::autograd
