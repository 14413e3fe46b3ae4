#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/etc.hpp>

#include <utility>
#include <vector>

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

namespace attention {

/// The gradients of one side: its query, and the two pieces in the order of attend_etc_from_...
template <class Scalar>
struct EtcSideGradients {
  Matrix<Scalar> query;
  EtcPieceGradients<Scalar> own, other;

  EtcSideGradients(AttendGradients<Scalar> a, AttendGradients<Scalar> b)
      : query(a.query + b.query),
        own{std::move(a.key), std::move(a.value), std::move(a.learned)},
        other{std::move(b.key), std::move(b.value), std::move(b.learned)} {}
};

template <class Scalar, class LongToLong, class LongToGlobal>
EtcSideGradients<Scalar> attend_etc_from_long_backward(const Matrix<Scalar>& query, const LongToLong& ll,
                                                       const LongToGlobal& lg,
                                                       const Attended<Scalar>& attended,
                                                       const Matrix<Scalar>& d, const EtcOptions& o) {
  check_etc(o);
  return {attend_backward(query, ll.key, ll.value, attended, d, etc_call(o, true, true), etc_window(o, ll),
                          ll.score),
          attend_backward(query, lg.key, lg.value, attended, d, etc_call(o, true, false), lg.mask, lg.score)};
}

template <class Scalar, class GlobalToGlobal, class GlobalToLong>
EtcSideGradients<Scalar> attend_etc_from_global_backward(const Matrix<Scalar>& query,
                                                         const GlobalToGlobal& gg, const GlobalToLong& gl,
                                                         const Attended<Scalar>& attended,
                                                         const Matrix<Scalar>& d, const EtcOptions& o) {
  check_etc(o);
  return {attend_backward(query, gg.key, gg.value, attended, d, etc_call(o, false, false), gg.mask, gg.score),
          attend_backward(query, gl.key, gl.value, attended, d, etc_call(o, false, true), gl.mask, gl.score)};
}

}  // namespace attention

/// The gradients of sum(long output * d_long) + sum(global output * d_global) for attend_etc, whose result is
/// `attended`. Every piece runs with the log-sum-exp of its whole side, so that sums are exact. Arguments and
/// errors as attend_etc.
template <class Scalar, class Pieces>
EtcGradients<Scalar> attend_etc_backward(const Matrix<Scalar>& long_query, const Matrix<Scalar>& global_query,
                                         const Pieces& pieces, const EtcAttended<Scalar>& attended,
                                         const Matrix<Scalar>& d_long, const Matrix<Scalar>& d_global,
                                         const EtcOptions& options = {}) {
  const auto& [ll, lg, gg, gl] = pieces;
  auto l = attention::attend_etc_from_long_backward(long_query, ll, lg, attended.from_long, d_long, options);
  auto g = attention::attend_etc_from_global_backward(global_query, gg, gl, attended.from_global, d_global,
                                                      options);
  return {std::move(l.query), std::move(g.query), std::move(l.own),
          std::move(l.other), std::move(g.own),   std::move(g.other)};
}

}  // namespace headwise
