#pragma once

#include <headwise/attention/routing_backward.hpp>

#include "support/any_mask.hpp"

#include <complex>

/// Routing attention under any mask, in double and complex: the kernel is compiled for it once, in
/// routing_any_mask.cpp.
namespace headwise::check {

using RoutedAnyMask = attention::RoutedPairs<AnyMask>;

}  // namespace headwise::check

namespace headwise::attention {

extern template Attended<double> attend_operands<double, check::RoutedAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::RoutedAnyMask&, const score::None&, const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::RoutedAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::RoutedAnyMask&, const score::None&,
    const Plans*);

extern template Attended<std::complex<double>>
attend_operands<std::complex<double>, check::RoutedAnyMask, score::None>(
    kernel::Operand<const std::complex<double>>, kernel::Operand<const std::complex<double>>,
    kernel::Operand<const std::complex<double>>, const AttendOptions&, const check::RoutedAnyMask&,
    const score::None&, const Plans*);

}  // namespace headwise::attention
