#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/etc.hpp>

namespace headwise {

/// The gradients of one piece of ETC: its keys and values, and the learned matrices of its score.
template <class Scalar>
struct EtcPieceGradients {
  Matrix<Scalar> key, value;
  std::vector<Matrix<Scalar>> learned;
};

/// The gradients of attend_etc. A matrix that serves several pieces gets the sum of theirs.
template <class Scalar>
struct EtcGradients {
  Matrix<Scalar> long_query, global_query;
  EtcPieceGradients<Scalar> long_to_long, long_to_global, global_to_global, global_to_long;
};

/// The gradients of sum(long output * d_long) + sum(global output * d_global) for attend_etc, whose result is
/// `attended`. Every piece runs with the log-sum-exp of its whole side, so that sums are exact. Arguments and
/// errors as attend_etc.
template <class Scalar, class Pieces>
EtcGradients<Scalar> attend_etc_backward(const Matrix<Scalar>& long_query, const Matrix<Scalar>& global_query,
                                         const Pieces& pieces, const EtcAttended<Scalar>& attended,
                                         const Matrix<Scalar>& d_long, const Matrix<Scalar>& d_global,
                                         const EtcOptions& options = {}) {
  attention::check_etc(options);
  const auto& [ll, lg, gg, gl] = pieces;
  auto a =
      attend_backward(long_query, ll.key, ll.value, attended.from_long, d_long,
                      attention::etc_call(options, true, true), attention::etc_window(options, ll), ll.score);
  auto b = attend_backward(long_query, lg.key, lg.value, attended.from_long, d_long,
                           attention::etc_call(options, true, false), lg.mask, lg.score);
  auto c = attend_backward(global_query, gg.key, gg.value, attended.from_global, d_global,
                           attention::etc_call(options, false, false), gg.mask, gg.score);
  auto d = attend_backward(global_query, gl.key, gl.value, attended.from_global, d_global,
                           attention::etc_call(options, false, true), gl.mask, gl.score);
  const auto piece = [](AttendGradients<Scalar>& g) {
    return EtcPieceGradients<Scalar>{std::move(g.key), std::move(g.value), std::move(g.learned)};
  };
  return {a.query + b.query, c.query + d.query, piece(a), piece(b), piece(c), piece(d)};
}

}  // namespace headwise
