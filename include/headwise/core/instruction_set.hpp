#pragma once

#include <headwise/core/error.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

/// Which vector instructions the kernels use: chosen once, on first use, from what the CPU has.
namespace headwise {

/// The most that a file looks for at run time (HEADWISE_WIDEST_TARGET, see each_target.inc), as a type.
template <int WidestTarget>
struct UpTo {};
#if defined(HEADWISE_WIDEST_TARGET)
using FileTargets = UpTo<HEADWISE_WIDEST_TARGET>;
#else
using FileTargets = UpTo<2>;
#endif

/// What this file is compiled for, as a type. Inline code that the compiler may vectorise, or that chooses
/// among the instruction sets, has it as a template argument: the linker merges functions of one name, and
/// must not give a file that was compiled for every CPU the copy of another that was not, nor one half of a
/// call the sets of another file.
template <class Targets>
struct CompiledForAny {};
template <class Targets>
struct CompiledForAvx {};
template <class Targets>
struct CompiledForAvx2 {};
template <class Targets>
struct CompiledForAvx512 {};
#if defined(__AVX512F__)
using FileFlags = CompiledForAvx512<FileTargets>;
#elif defined(__AVX2__) && defined(__FMA__)
using FileFlags = CompiledForAvx2<FileTargets>;
#elif defined(__AVX__)
using FileFlags = CompiledForAvx<FileTargets>;
#else
using FileFlags = CompiledForAny<FileTargets>;
#endif

/// In order of width. `baseline` is whatever the program was compiled for: SSE2 on plain x86-64.
enum class InstructionSet { baseline, avx2, avx512 };

constexpr const char* name(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::avx512:
      return "AVX-512";
    case InstructionSet::avx2:
      return "AVX2 + FMA";
    default:
      break;
  }
#if defined(__AVX512F__)
  return "AVX-512 (compiled for)";
#elif defined(__AVX2__) && defined(__FMA__)
  return "AVX2 + FMA (compiled for)";
#elif defined(__SSE2__)
  return "SSE2";
#else
  return "portable";
#endif
}

/// Whether this CPU can run it. What the program was compiled for, it can.
inline bool is_available(InstructionSet set) noexcept {
#if defined(__x86_64__) || defined(__i386__)
  switch (set) {
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("fma");
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default:
      return true;
  }
#else
  return set == InstructionSet::baseline;
#endif
}

namespace detail {

inline InstructionSet widest_available() noexcept {
  if (is_available(InstructionSet::avx512)) return InstructionSet::avx512;
  return is_available(InstructionSet::avx2) ? InstructionSet::avx2 : InstructionSet::baseline;
}

/// The environment variable HEADWISE_INSTRUCTION_SET: baseline, avx2 or avx512.
inline std::optional<InstructionSet> requested_by_environment() {
  const char* text = std::getenv("HEADWISE_INSTRUCTION_SET");
  if (text == nullptr || *text == '\0') return std::nullopt;
  for (InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    const std::string_view known = set == InstructionSet::avx512 ? "avx512"
                                   : set == InstructionSet::avx2 ? "avx2"
                                                                 : "baseline";
    if (known == text) return set;
  }
  fail_shape("HEADWISE_INSTRUCTION_SET", text, "baseline, avx2 or avx512", "unset it to let the CPU decide");
}

}  // namespace detail

/// The set a call uses: the caller's, else the environment's, else the widest that the CPU has.
/// Throws ShapeError for a set that this CPU does not have.
inline InstructionSet choose_instruction_set(std::optional<InstructionSet> requested = std::nullopt) {
  static const std::optional<InstructionSet> environment = detail::requested_by_environment();
  static const InstructionSet widest = detail::widest_available();
  const InstructionSet chosen = requested ? *requested : environment.value_or(widest);
  if (!is_available(chosen))
    fail_shape("instruction set", name(chosen), "one that this CPU has", "leave it out");
  return chosen;
}

}  // namespace headwise
