#pragma once

#include <headwise/attention/lsh_backward.hpp>

#include "support/any_mask.hpp"

/// LSH attention under any pattern in double: the kernel is compiled for it once, in lsh_any_mask.cpp.
namespace headwise::check {

using LshAnyMask = mask::PairOf<LshChunks::Pairs, AnyMask, mask::detail::BothAllow>;
using LshOtherTokens = mask::PairOf<attention::OtherTokens, AnyMask, mask::detail::BothAllow>;

}  // namespace headwise::check

namespace headwise::attention {

extern template Attended<double> attend_operands<double, check::LshAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::LshAnyMask&, const score::None&, const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::LshAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::LshAnyMask&, const score::None&,
    const Plans*);

extern template Attended<double> attend_operands<double, check::LshOtherTokens, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::LshOtherTokens&, const score::None&, const Plans*);

extern template AttendGradients<double> attend_backward_operands<double, check::LshOtherTokens, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::LshOtherTokens&, const score::None&,
    const Plans*);

}  // namespace headwise::attention
