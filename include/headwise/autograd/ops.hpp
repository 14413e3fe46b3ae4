#pragma once

/// The verbs that layers are written in, for variables: they compute what those of layer/ops.hpp compute, and
/// record how to go back. Found by argument-dependent lookup, so that no layer includes this.
///
///     autograd/product.hpp        multiply, multiply_transposed, affine
///     autograd/elementwise.hpp    add, subtract, multiply_elementwise, multiply_scalar, relu, gelu, sum, ...
///     autograd/normalise.hpp      layer_norm, rms_norm, normalise_rows
///     autograd/rows.hpp           embed, add_embedding, add_positions, concatenate_rows, slice_rows, ...
///     autograd/rotate.hpp         rotate
///     autograd/attend.hpp         attend, attend_with_lse, attend_over
///     autograd/merge.hpp          merge
///     autograd/value.hpp          the numbers that losses are
///     autograd/stop_gradient.hpp  stop_gradient
///     autograd/checkpoint.hpp     checkpoint
#include <headwise/autograd/attend.hpp>
#include <headwise/autograd/checkpoint.hpp>
#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/merge.hpp>
#include <headwise/autograd/normalise.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/autograd/rotate.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/autograd/stop_gradient.hpp>
#include <headwise/autograd/value.hpp>
