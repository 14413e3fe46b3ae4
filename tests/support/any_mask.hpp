#pragma once

#include <headwise/attention/attend_backward.hpp>

#include <functional>

namespace headwise::check {

/// Any pattern in one type: the kernel is compiled for it once, in any_mask.cpp, and not in every test.
using AnyMask = std::function<bool(Index, Index)>;

}  // namespace headwise::check

namespace headwise::attention {

extern template Attended<double> attend_operands<double, check::AnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::AnyMask&, const score::None&, const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::AnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::AnyMask&, const score::None&,
    const Plans*);

}  // namespace headwise::attention
