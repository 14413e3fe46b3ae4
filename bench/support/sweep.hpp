#pragma once

#include <headwise/core/instruction_set.hpp>

#include <benchmark/benchmark.h>

#include "support/instruction_set.hpp"

#include <cstdint>

/// What the benchmarks of all variants share: the lengths they sweep, how they report work, and on what
/// machine.
namespace bench {

/// Work a second. FLOPs of one iteration in, so that every benchmark states the work that it claims to do.
inline benchmark::Counter rate(double flops_per_iteration) {
  return benchmark::Counter(flops_per_iteration, benchmark::Counter::kIsIterationInvariantRate,
                            benchmark::Counter::kIs1000);
}

/// Bytes a second, for whatever is bound by memory rather than by arithmetic.
inline benchmark::Counter bandwidth(double bytes_per_iteration) { return rate(bytes_per_iteration); }

/// The width of the rows that position encodings are added to.
inline constexpr std::int64_t d_model = 512;

inline void doubling_lengths(benchmark::internal::Benchmark* benchmark, std::int64_t longest) {
  benchmark->RangeMultiplier(2)->Range(256, longest)->Unit(benchmark::kMillisecond);
}

/// 256, 512, ..., 16384: for whatever costs less than O(seq_len^2).
inline void sequence_lengths(benchmark::internal::Benchmark* benchmark) {
  doubling_lengths(benchmark, 16384);
}

/// 256, 512, ..., 4096: for quadratic costs, so that a run stays short.
inline void quadratic_lengths(benchmark::internal::Benchmark* benchmark) {
  doubling_lengths(benchmark, 4096);
}

/// Puts the instruction sets into the header that every run prints, and into its JSON: a figure without them
/// means little. The attention kernels choose theirs at run time, everything else has that of the compiler's
/// flags.
inline bool context() {
  benchmark::AddCustomContext("attention kernels use", headwise::name(headwise::choose_instruction_set()));
  benchmark::AddCustomContext("all else is compiled for", compiled_instruction_set());
  return true;
}

/// Benchmarks run under benchmark_main, so including this file is what makes them print their context.
inline const bool context_is_printed = context();

}  // namespace bench
