#include "support/etc_any_mask.hpp"

namespace headwise::attention {

template Attended<double> attend_operands<double, check::EtcWindow, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::EtcWindow&, const score::None&, const Plans*);

template AttendGradients<double> attend_backward_operands<double, check::EtcWindow, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::EtcWindow&, const score::None&,
    const Plans*);

template Attended<std::complex<double>> attend_operands<std::complex<double>, check::EtcWindow, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::EtcWindow&,
    const score::None&, const Plans*);

template Attended<std::complex<double>> attend_operands<std::complex<double>, check::AnyMask, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::AnyMask&,
    const score::None&, const Plans*);

}  // namespace headwise::attention
