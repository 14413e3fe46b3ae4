#pragma once

#include <headwise/core/matrix.hpp>

namespace headwise::flags {

/// The same calls, compiled in files with different -m flags.
Matrix<float> attend_in_plain_file(const Matrix<float>& x);
Matrix<float> attend_in_raised_file(const Matrix<float>& x);

}  // namespace headwise::flags
