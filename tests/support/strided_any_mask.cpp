#include "support/strided_any_mask.hpp"

namespace headwise::attention {

template Attended<double> attend_operands<double, check::StridedNear, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::StridedNear&, const score::None&, const Plans*);

template Attended<double> attend_operands<double, check::StridedFar, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::StridedFar&, const score::None&, const Plans*);

template Attended<std::complex<double>>
attend_operands<std::complex<double>, check::StridedNear, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::StridedNear&,
    const score::None&, const Plans*);

template Attended<std::complex<double>> attend_operands<std::complex<double>, check::StridedFar, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::StridedFar&,
    const score::None&, const Plans*);

template AttendGradients<double> attend_backward_operands<double, check::StridedNear, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::StridedNear&, const score::None&,
    const Plans*);

template AttendGradients<double> attend_backward_operands<double, check::StridedFar, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::StridedFar&, const score::None&,
    const Plans*);

}  // namespace headwise::attention
