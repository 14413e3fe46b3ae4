#pragma once

#include <headwise/attention/strided_backward.hpp>

#include "support/any_mask.hpp"

#include <complex>

/// The strided pattern in one head, under any mask, in double and complex: the kernel is compiled for it
/// once, in strided_any_mask.cpp.
namespace headwise::check {

using StridedNear = attention::StridedHalves<AnyMask>::Near;
using StridedFar = attention::StridedHalves<AnyMask>::Far;

}  // namespace headwise::check

namespace headwise::attention {

extern template Attended<double> attend_operands<double, check::StridedNear, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::StridedNear&, const score::None&, const Plans*);

extern template Attended<double> attend_operands<double, check::StridedFar, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::StridedFar&, const score::None&, const Plans*);

extern template Attended<std::complex<double>>
attend_operands<std::complex<double>, check::StridedNear, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::StridedNear&,
    const score::None&, const Plans*);

extern template Attended<std::complex<double>>
attend_operands<std::complex<double>, check::StridedFar, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::StridedFar&,
    const score::None&, const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::StridedNear, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::StridedNear&, const score::None&,
    const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::StridedFar, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::StridedFar&, const score::None&,
    const Plans*);

}  // namespace headwise::attention
