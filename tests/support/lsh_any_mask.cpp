#include "support/lsh_any_mask.hpp"

namespace headwise::attention {

template Attended<double> attend_operands<double, check::LshAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::LshAnyMask&, const score::None&, const Plans*);

template AttendGradients<double> attend_backward_operands<double, check::LshAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::LshAnyMask&, const score::None&,
    const Plans*);

template Attended<double> attend_operands<double, check::LshOtherTokens, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::LshOtherTokens&, const score::None&, const Plans*);

template AttendGradients<double> attend_backward_operands<double, check::LshOtherTokens, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::LshOtherTokens&, const score::None&,
    const Plans*);

}  // namespace headwise::attention
