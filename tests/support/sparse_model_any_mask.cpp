#include "support/sparse_model_any_mask.hpp"

namespace headwise::attention {

template Attended<double> attend_operands<double, check::LongformerAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::LongformerAnyMask&, const score::None&, const Plans*);

template AttendGradients<double> attend_backward_operands<double, check::LongformerAnyMask, score::None>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::LongformerAnyMask&, const score::None&,
    const Plans*);

template Attended<double> attend_operands<double, check::BigBirdAnyMask, score::RepeatedBlocks>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    const AttendOptions&, const check::BigBirdAnyMask&, const score::RepeatedBlocks&, const Plans*);

template AttendGradients<double>
attend_backward_operands<double, check::BigBirdAnyMask, score::RepeatedBlocks>(
    kernel::Operand<const double>, kernel::Operand<const double>, kernel::Operand<const double>,
    kernel::Operand<const double>, const ConstMatrixRef<double>&, kernel::Operand<const double>,
    const ConstMatrixRef<double>&, const AttendOptions&, const check::BigBirdAnyMask&,
    const score::RepeatedBlocks&, const Plans*);

}  // namespace headwise::attention
