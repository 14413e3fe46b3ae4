#include <headwise/attention/attend_backward.hpp>
#include <headwise/core/product.hpp>
#include <headwise/mask/causal.hpp>

#include "flags/units.hpp"

namespace headwise::flags {

Matrix<float> attend_in_plain_file(const Matrix<float>& x) {
  return multiply_transposed(attend(x, x, x, {.heads = 2}, mask::Causal{}), x);
}

Matrix<double> gradients_in_plain_file(const Matrix<double>& x, InstructionSet set) {
  const AttendOptions options{.heads = 2, .instruction_set = set};
  const auto attended = attend_with_lse(x, x, x, options);
  const auto gradients = attend_backward(x, x, x, attended, x, options);
  Matrix<double> all(x.rows(), 3 * x.cols());
  all << gradients.query, gradients.key, gradients.value;
  return all;
}

}  // namespace headwise::flags
