#pragma once

/// The verbs that layers are written in, for matrices. A layer calls them without namespace, so that a
/// variable that records finds its own overloads by argument-dependent lookup.
///
///     core/product.hpp       multiply, multiply_transposed
///     layer/elementwise.hpp  affine, add, subtract, multiply_elementwise, multiply_scalar; relu, gelu, ...
///     layer/normalise.hpp    layer_norm, rms_norm, normalise_rows
///     layer/rows.hpp         embed, add_embedding, concatenate_*, slice_*, gather_rows, mean_rows
///
/// Where threads share the work the executor is the last operand; layer/on_threads.hpp leaves it out for a
/// sequence whose verbs have none.
#include <headwise/core/product.hpp>
#include <headwise/layer/elementwise.hpp>
#include <headwise/layer/normalise.hpp>
#include <headwise/layer/rows.hpp>
