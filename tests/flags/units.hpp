#pragma once

#include <headwise/core/instruction_set.hpp>
#include <headwise/core/matrix.hpp>

namespace headwise::flags {

/// The same calls, compiled in files with different -m flags and HEADWISE_WIDEST_TARGET.
Matrix<float> attend_in_plain_file(const Matrix<float>& x);
Matrix<float> attend_in_raised_file(const Matrix<float>& x);
Matrix<float> attend_in_narrow_file(const Matrix<float>& x);

/// The gradients of query, key and value side by side, of attention on that instruction set: full in the
/// plain file, causal in the narrow one, so that they share the code that knows of no mask, and no other.
Matrix<double> gradients_in_plain_file(const Matrix<double>& x, InstructionSet set);
Matrix<double> gradients_in_narrow_file(const Matrix<double>& x, InstructionSet set);

}  // namespace headwise::flags
