#pragma once

#include "report/attention_calls.hpp"
#include "report/progress.hpp"
#include "report/results.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Sparse patterns beside the full attention that they save: one head, forward.
namespace headwise::report {

std::string_view name_of(SparsePattern pattern);

/// What the pattern is, in a few words, with its sizes.
std::string_view meaning_of(SparsePattern pattern);

/// The full attention that the pattern stands in for: causal for causal ones, dense for the others.
SparsePattern full_attention_of(SparsePattern pattern);

/// Exact number of pairs of one head, in closed form. Throws ShapeError unless seq_len is a multiple of 64,
/// 512 or more: then every block of every pattern is whole.
Index pairs(SparsePattern pattern, Index seq_len);

/// The growth that the paper promises, and the same as a function of the length up to a factor.
std::string_view promise_of(SparsePattern pattern);
double promised_cost(SparsePattern pattern, Index seq_len);

/// One head of a pattern over some operands, which must outlive it. Plans that only depend on the length are
/// made before; what depends on the operands, hashing and clustering, is part of the call.
struct SparseCall {
  std::function<float()> run;    ///< attends; returns one number, so that nothing is optimised away
  std::function<Index()> pairs;  ///< as the library's `explain` counts them
};

/// x.query, x.key, x.value are [seq_len, head_dim].
SparseCall make_call(SparsePattern pattern, const Operands& x);
SparseCall make_causal_call(SparsePattern pattern, const Operands& x);
SparseCall make_bidirectional_call(SparsePattern pattern, const Operands& x);

struct SparseOptions {
  Index longest = 16384;
  int rounds = 3;           ///< through all lengths, as for the full patterns
  double budget = 0.08;     ///< seconds for the repeats of one call in one round
  int most_runs = 3;        ///< of one call in one round
  double once_above = 1.0;  ///< seconds; a call that takes longer is made in the first round only
};

/// Times every sparse pattern from 1,024 tokens on. Throws std::logic_error when `explain` counts other pairs
/// than the closed form.
std::vector<SparseCurve> measure_sparse(const SparseOptions& options, Progress& progress);

/// Fits power laws to the median times, to the exact numbers of pairs and to the paper's promise over the
/// same lengths; none with fewer than three.
void fit(SparseCurve& curve);

const SparseCurve* find(const std::vector<SparseCurve>& curves, SparsePattern pattern);

/// The first length at which the pattern took less time than its full attention; 0 when there is none.
Index break_even(const std::vector<SparseCurve>& curves, SparsePattern pattern);

}  // namespace headwise::report
