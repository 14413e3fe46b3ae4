#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/layer/reversible.hpp>

#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

namespace headwise::autograd {

namespace detail {

/// A function computed again, on a tape of its own that ends here.
template <class Scalar>
struct Repeated {
  Matrix<Scalar> value, d_input;
};

/// f(x) and the gradient of its input; those of its parameters go to the sweep.
template <class Scalar, class Call>
Repeated<Scalar> repeated(Sweep<Scalar>& sweep, Tape<Scalar>& outer, const Call& call,
                          const Matrix<Scalar>& x, Matrix<Scalar> d) {
  Tape<Scalar> tape;
  const Var<Scalar> input = tape.borrowed(x, true);
  const Var<Scalar> y = call(input);
  Gradients<Scalar> gradients = backward(y, std::move(d));
  gradients.for_each([&](const Matrix<Scalar>& parameter, Matrix<Scalar>& gradient) {
    sweep.add(outer.leaf(parameter), std::move(gradient));
  });
  return {y.value(), gradients.of(input)};
}

/// Undoes the layers from the last to the first, and goes backward through each on the way. On entry the
/// streams and their gradients are those of the results, on return those of the inputs.
template <class Scalar, class Layers, class Memories>
void undo(Sweep<Scalar>& sweep, Tape<Scalar>& tape, const Layers& layers, const Memories& memories,
          Matrix<Scalar>& y1, Matrix<Scalar>& y2, Matrix<Scalar>& d1, Matrix<Scalar>& d2) {
  for (std::size_t i = memories.size(); i-- > 0;) {
    const auto& layer = *std::next(std::begin(layers), std::ptrdiff_t(i));
    const auto g = repeated(
        sweep, tape,
        [&](const Var<Scalar>& x) {
          return Var<Scalar>(headwise::detail::recalled(layer.g, x, memories[i].g));
        },
        y1, d2);
    y2 -= g.value;
    d1 += g.d_input;
    const auto f = repeated(
        sweep, tape,
        [&](const Var<Scalar>& x) {
          return Var<Scalar>(headwise::detail::recalled(layer.f, x, memories[i].f));
        },
        y2, d1);
    y1 -= f.value;
    d2 += f.d_input;
  }
}

}  // namespace detail

/// Reversible residual layers as one node, which keeps the last streams only: see headwise::reversible.
///
/// A named range of layers must outlive the tape, a temporary one is kept; so must the layers' parameters
/// live, and layers read nothing else that learns. Cost: backward computes f and g a second time. Memory: the
/// streams, what layers remember, and in backward the results of one f or g.
template <class Layers, class X1, class X2>
requires Recorded<X1, X2>
auto reversible(Layers&& layers, const X1& x1, const X2& x2) {
  const auto streams = detail::as_vars(x1, x2);
  using Scalar = scalar_of<decltype(streams[0])>;
  headwise::detail::check_streams(x1.rows(), x1.cols(), x2.rows(), x2.cols());
  Matrix<Scalar> y1 = streams[0].value(), y2 = streams[1].value();
  auto memories = headwise::detail::run_reversible(layers, y1, y2);
  Tape<Scalar>& tape = streams[0].tape();
  const std::size_t node = tape.size();
  // A tuple of one keeps a reference to a named range, and a temporary itself.
  return tape.record_learned(headwise::concatenate_columns(y1, y2),
                             [kept = std::tuple<Layers>(std::forward<Layers>(layers)), streams, node,
                              memories = std::move(memories)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                               Tape<Scalar>& own = streams[0].tape();
                               const Matrix<Scalar>& y = own.value(node);
                               const Index m = streams[0].cols();
                               Matrix<Scalar> left = y.leftCols(m), right = y.rightCols(m);
                               Matrix<Scalar> d_left = d.leftCols(m), d_right = d.rightCols(m);
                               detail::undo(sweep, own, std::get<0>(kept), memories, left, right, d_left,
                                            d_right);
                               sweep.add(streams[0], std::move(d_left));
                               sweep.add(streams[1], std::move(d_right));
                             });
}

}  // namespace headwise::autograd
