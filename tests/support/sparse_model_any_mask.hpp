#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/longformer.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/score/repeated_blocks.hpp>

#include "support/any_mask.hpp"

#include <utility>

/// The patterns of the sparse models under any mask, in double: the kernel is compiled for them once, in
/// sparse_model_any_mask.cpp.
namespace headwise::check {

using LongformerAnyMask =
    decltype(mask::operator&&(std::declval<attention::LongformerWindow>(), std::declval<AnyMask>()));
using BigBirdAnyMask = decltype(mask::operator&&(std::declval<mask::BigBird>(), std::declval<AnyMask>()));

}  // namespace headwise::check

namespace headwise::attention {

extern template Attended<double> attend_operands<double, check::LongformerAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::LongformerAnyMask&, const score::None&, const Plans*);

extern template AttendGradients<double>
attend_backward_operands<double, check::LongformerAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::LongformerAnyMask&, const score::None&,
    const Plans*);

extern template Attended<double> attend_operands<double, check::BigBirdAnyMask, score::RepeatedBlocks>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::BigBirdAnyMask&, const score::RepeatedBlocks&, const Plans*);

extern template AttendGradients<double>
attend_backward_operands<double, check::BigBirdAnyMask, score::RepeatedBlocks>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::BigBirdAnyMask&,
    const score::RepeatedBlocks&, const Plans*);

}  // namespace headwise::attention
