#include <headwise/attention/attend.hpp>
#include <headwise/core/product.hpp>
#include <headwise/mask/causal.hpp>

#include "flags/units.hpp"

namespace headwise::flags {

Matrix<float> attend_in_raised_file(const Matrix<float>& x) {
  return multiply_transposed(attend(x, x, x, {.heads = 2}, mask::Causal{}), x);
}

}  // namespace headwise::flags
