#pragma once

#include <headwise/kernel/fused_attention.hpp>
#include <headwise/kernel/learned_sums.hpp>

#include <optional>
#include <vector>

/// The adjoint of the forward kernel, over the same tiles. With P = exp(score - lse) recomputed,
///
///     D_i = output_i . d_output_i - d_lse_i
///     dV += P^T dO        dP = dO V^T        dS = P (dP - D)        (dS through the score policies)
///     dQ += dS K          dK += dS^T Q       (both times the scale)
///
/// Dropout multiplies P in dV, and dP, by the factor that forward used.
namespace headwise::kernel {

/// d sink = sum over rows of exp(sink - lse) * (0 - D): the sink has weight but no value.
template <class Scalar>
Scalar sink_gradient(const Problem<Scalar>& problem, const BackwardTerms<Scalar>& terms, Index sequence,
                     Index head, Scalar sink) {
  const Range rows = problem.query_rows[sequence];
  const HeadView<const Scalar> output = head_view(terms.output, sequence, rows.begin, head);
  const HeadView<const Scalar> d_output = head_view(terms.d_output, sequence, rows.begin, head);
  Scalar sum(0);
  for (Index row = 0; row < rows.size(); ++row) {
    Scalar mean(0);
    for (Index x = 0; x < problem.value_dim; ++x) mean += output(row, x) * d_output(row, x);
    if (terms.d_lse.size() > 0) mean -= terms.d_lse(rows.begin + row, head);
    sum -= share(sink, terms.lse(rows.begin + row, head)) * mean;
  }
  return sum;
}

/// Where parts of the keys write their gradients of the queries: the first where they belong, the others
/// beside it, to be added in order.
template <class Scalar>
class QueryParts {
 public:
  QueryParts(const Problem<Scalar>& problem, const BackwardTerms<Scalar>& terms, Index parts)
      : problem_(problem), terms_(terms) {
    for (Index part = 1; part < parts; ++part)
      others_.push_back(Matrix<Scalar>::Zero(terms.d_query.rows, problem.heads * problem.head_dim));
  }

  BackwardTerms<Scalar> terms(Index part) {
    BackwardTerms<Scalar> own = terms_;
    if (part > 0) own.d_query = writable_operand(others_[std::size_t(part - 1)], problem_.heads);
    return own;
  }

  void add_up() {
    for (Matrix<Scalar>& other : others_) {
      const Operand<Scalar> from = writable_operand(other, problem_.heads);
      for (Index sequence = 0; sequence < problem_.sequences(); ++sequence) {
        const Range rows = problem_.query_rows[sequence];
        for (Index head = 0; head < problem_.heads; ++head) {
          const auto sum = head_view(terms_.d_query, sequence, rows.begin, head);
          const auto part = head_view(from, sequence, rows.begin, head);
          for (Index row = 0; row < rows.size(); ++row)
            for (Index x = 0; x < problem_.head_dim; ++x) sum(row, x) += part(row, x);
        }
      }
    }
  }

 private:
  const Problem<Scalar>& problem_;
  BackwardTerms<Scalar> terms_;
  std::vector<Matrix<Scalar>> others_;
};

/// Adds the gradients of sum(output * d_output) + sum(lse * d_lse) to the terms' gradients and to `learned`,
/// one matrix for each operand of the score, in its order.
template <class Scalar, class Mask, class Score, class File = FileFlags>
void backward(const Problem<Scalar>& problem, const Mask& mask, const Score& score,
              const BackwardTerms<Scalar>& terms, std::span<Matrix<Scalar>> learned) {
  using BoundScore = std::remove_const_t<decltype(bind_score<Scalar>(score, Context{}))>;
  using View = std::remove_const_t<decltype(lane_view(std::declval<const BoundScore&>()))>;
  using Sums = LearnedSums<Scalar, View>;
  constexpr bool per_pair = has_learned<View>(Learned::per_pair);

  const Driver<Scalar> driver(problem, mask, tile_size<Scalar>(problem.instruction_set));
  const Index parts = per_pair ? 1 : driver.key_parts();
  std::vector<std::optional<Sums>> sums(std::size_t(problem.sequences() * problem.heads * parts));
  QueryParts<Scalar> query_parts(problem, terms, parts);
  driver.for_each_kv_head(per_pair, parts, [&](Index sequence, Index kv_head, Index part) {
    const auto sums_of = [&](Index head, const BoundScore& bound) -> Sums& {
      std::array<PairSlot<Scalar>, Sums::count> slots{};
      if constexpr (per_pair) {
        for (std::size_t n = 0; n < Sums::count; ++n)
          if (Sums::kinds[n] == Learned::per_pair) slots[n] = bound.pair_slot(n, learned);
      }
      Sums& own = sums[std::size_t((sequence * problem.heads + head) * parts + part)].emplace(
          problem.context(sequence, head), slots);
      if constexpr (has_sink<BoundScore>())
        if (part == 0) own.add_to_sink(sink_gradient(problem, terms, sequence, head, bound.sink()));
      return own;
    };
    const BackwardTerms<Scalar> own = query_parts.terms(part);
    if constexpr (has_vectors<Scalar>) {
      if (problem.instruction_set == InstructionSet::avx512)
        return avx512_tiles::run_backward_group(problem, own, mask, score, driver, sequence, kv_head, part,
                                                parts, sums_of);
      if (problem.instruction_set == InstructionSet::avx2)
        return avx2_tiles::run_backward_group(problem, own, mask, score, driver, sequence, kv_head, part,
                                              parts, sums_of);
    }
    baseline_tiles::run_backward_group(problem, own, mask, score, driver, sequence, kv_head, part, parts,
                                       sums_of);
  });
  query_parts.add_up();
  if constexpr (Sums::count > 0) {
    for (Index sequence = 0; sequence < problem.sequences(); ++sequence) {
      for (Index head = 0; head < problem.heads; ++head) {
        for (Index part = 0; part < parts; ++part) {
          const auto own = sums[std::size_t((sequence * problem.heads + head) * parts + part)]->sums();
          bind_score<Scalar>(score, problem.context(sequence, head)).fold(std::span(own), learned);
        }
      }
    }
  }
}

}  // namespace headwise::kernel
