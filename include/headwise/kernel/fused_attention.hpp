#pragma once

#include <headwise/kernel/few_queries.hpp>
#include <headwise/kernel/targets.hpp>

#include <concepts>

/// Exact attention over the tiles of a plan, forward.
namespace headwise::kernel {

/// float and double have vector forms and run on the instruction set of the call; other scalars are computed
/// one lane a register, by the same code.
template <class Scalar>
inline constexpr bool has_vectors = std::same_as<Scalar, float> || std::same_as<Scalar, double>;

/// The micro-tile of a call: what the schedule is cut to.
template <class Scalar, class File = FileFlags>
TileSize tile_size(InstructionSet set) noexcept {
  if constexpr (has_vectors<Scalar>) {
    if (set == InstructionSet::avx512) return avx512_tiles::tile_size<Scalar>();
    if (set == InstructionSet::avx2) return avx2_tiles::tile_size<Scalar>();
  }
  return baseline_tiles::tile_size<Scalar>();
}

/// The sink of a head takes its share of the softmax and gives no value.
template <class Scalar>
void absorb_sink(const Problem<Scalar>& problem, Index sequence, Index head, Scalar sink,
                 ForwardResult<Scalar>& result) {
  const Range rows = problem.query_rows[sequence];
  const HeadView<Scalar> output = head_view(result.output, sequence, rows.begin, head);
  for (Index row = 0; row < rows.size(); ++row) {
    Scalar& lse = result.lse(rows.begin + row, head);
    const Scalar whole = log_add(lse, sink), kept = share(lse, whole);
    for (Index x = 0; x < problem.value_dim; ++x) output(row, x) *= kept;
    lse = whole;
  }
}

/// output = softmax(score(scale * query key^T), masked) value, and its log-sum-exp, over the plan's tiles.
/// `result.lse` holds -inf when it starts: what rows without keys keep, and rows of no item.
template <class Scalar, class Mask, class Score, class File = FileFlags>
void forward(const Problem<Scalar>& problem, const Mask& mask, const Score& score,
             ForwardResult<Scalar> result) {
  if constexpr (has_vectors<Scalar>) {
    if (has_few_queries(problem)) {
      FewQueries<Scalar, Mask, Score, File>(problem, mask, score).run(result);
    } else if (problem.instruction_set == InstructionSet::avx512) {
      avx512_tiles::run_forward(problem, mask, score, result);
    } else if (problem.instruction_set == InstructionSet::avx2) {
      avx2_tiles::run_forward(problem, mask, score, result);
    } else {
      baseline_tiles::run_forward(problem, mask, score, result);
    }
  } else {
    baseline_tiles::run_forward(problem, mask, score, result);
  }
  using Bound = decltype(bind_score<Scalar>(score, Context{}));
  if constexpr (has_sink<Bound>()) {
    for (Index sequence = 0; sequence < problem.sequences(); ++sequence)
      for (Index head = 0; head < problem.heads; ++head)
        absorb_sink(problem, sequence, head,
                    bind_score<Scalar>(score, problem.context(sequence, head)).sink(), result);
  }
}

}  // namespace headwise::kernel
