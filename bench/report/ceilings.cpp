#include "report/ceilings.hpp"

#include "report/stopwatch.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headwise::report {

namespace {

using Floats4 [[gnu::vector_size(16)]] = float;
using Floats8 [[gnu::vector_size(32)]] = float;
using Floats16 [[gnu::vector_size(64)]] = float;

constexpr int chains = 12;  // two units with a latency of four cycles need eight independent sums
constexpr int rounds = 2'000'000;

/// Independent sums x <- x / 2 + 1 in registers, which tend to 2 and stay finite. The compiler contracts each
/// into one multiply-add where the instruction set around the call has it. Returns FLOPs a second, best of
/// five.
template <class Vector>
[[gnu::always_inline]] inline double multiply_adds_a_second(float& sink) {
  constexpr int lanes = int(sizeof(Vector) / sizeof(float));
  const Vector half = Vector{} + sink * 0.5f, one = Vector{} + sink;
  double fastest = 1e30;
  for (int attempt = 0; attempt < 5; ++attempt) {
    Vector sum[chains];
    for (int chain = 0; chain < chains; ++chain) sum[chain] = one * float(chain);
    const double start = processor_seconds();
    for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
      for (int chain = 0; chain < chains; ++chain) sum[chain] = sum[chain] * half + one;
    }
    Vector total{};
    for (int chain = 0; chain < chains; ++chain) total += sum[chain];
    float result = 0;
    for (int lane = 0; lane < lanes; ++lane) result += total[lane];
    sink = result / float(2 * lanes * chains);  // 1 again: the next attempt waits for this one
    fastest = std::min(fastest, processor_seconds() - start);
  }
  return 2.0 * chains * lanes * double(rounds) / fastest;
}

#if defined(__x86_64__)
#if defined(__clang__)
[[clang::min_vector_width(512)]]  // Clang halves wide vectors on CPUs that it thinks prefer 256 bits
#endif
[[gnu::target("avx512f"), gnu::noinline]] double
peak_avx512(float& sink) {
  return multiply_adds_a_second<Floats16>(sink);
}
[[gnu::target("avx2,fma"), gnu::noinline]] double peak_avx2(float& sink) {
  return multiply_adds_a_second<Floats8>(sink);
}
#endif
[[gnu::noinline]] double peak_baseline(float& sink) { return multiply_adds_a_second<Floats4>(sink); }

double triad_bytes_a_second(std::size_t length) {
  std::vector<float> a(length, 0.0f), b(length, 1.0f), c(length, 2.0f);
  double fastest = 1e30;
  float factor = 3.0f;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const double start = processor_seconds();
    for (std::size_t i = 0; i < length; ++i) a[i] = b[i] + factor * c[i];
    fastest = std::min(fastest, processor_seconds() - start);
    factor = a[length / 2] - 4.0f;  // 3 again: no attempt can be left out
  }
  return 3.0 * double(sizeof(float)) * double(length) / fastest;
}

}  // namespace

Ceilings measure_ceilings() {
  Ceilings ceilings;
  volatile float one = 1.0f;
  float sink = one;
  ceilings.flops_per_second = peak_baseline(sink);
  ceilings.instruction_set = "128-bit vectors";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    const double peak = peak_avx2(sink);
    if (peak > ceilings.flops_per_second) {
      ceilings.flops_per_second = peak;
      ceilings.instruction_set = "AVX2 with FMA";
    }
  }
  if (__builtin_cpu_supports("avx512f")) {
    const double peak = peak_avx512(sink);
    if (peak > ceilings.flops_per_second) {
      ceilings.flops_per_second = peak;
      ceilings.instruction_set = "AVX-512";
    }
  }
#endif
  constexpr std::size_t length = std::size_t(16) << 20;
  ceilings.triad_bytes = 3.0 * double(sizeof(float)) * double(length);
  ceilings.bytes_per_second = triad_bytes_a_second(length);
  one = sink;
  return ceilings;
}

}  // namespace headwise::report
