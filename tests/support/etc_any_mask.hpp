#pragma once

#include <headwise/attention/etc_backward.hpp>

#include "support/any_mask.hpp"

#include <complex>
#include <utility>

/// ETC under any masks, in double and complex: the kernel is compiled for its window once, in
/// etc_any_mask.cpp.
namespace headwise::check {

using EtcWindow = decltype(mask::Band{} && std::declval<AnyMask>());

}  // namespace headwise::check

namespace headwise::attention {

extern template Attended<double> attend_operands<double, check::EtcWindow, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::EtcWindow&, const score::None&, const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::EtcWindow, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::EtcWindow&, const score::None&,
    const Plans*);

extern template Attended<std::complex<double>>
attend_operands<std::complex<double>, check::EtcWindow, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::EtcWindow&,
    const score::None&, const Plans*);

extern template Attended<std::complex<double>>
attend_operands<std::complex<double>, check::AnyMask, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::AnyMask&,
    const score::None&, const Plans*);

}  // namespace headwise::attention
