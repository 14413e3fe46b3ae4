#pragma once

// The tile code, compiled once for each instruction set that may be met at run time, each in a namespace of
// its own.
//
// A region raises the instruction set of the functions in it, and of their instances. It cannot lower what
// the file was compiled for, so a file compiles only the sets at or above its own flags, and the namespaces
// carry the file's own set: kernels of one name but different flags in two files would be merged by the
// linker, and whichever came first would serve both.
//
// HEADWISE_WIDEST_TARGET narrows the choice and halves or thirds the compile time of every policy:
// 0: only what the file is compiled for; 1: up to AVX2; 2 (default): up to AVX-512.
//
// The one place in the library where macros live; all are gone at its end.

#include <headwise/core/buffer.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/kernel/driver.hpp>
#include <headwise/kernel/instruction_set.hpp>
#include <headwise/kernel/learned_sums.hpp>
#include <headwise/kernel/log_sum_exp.hpp>
#include <headwise/kernel/problem.hpp>
#include <headwise/kernel/schedule.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#if defined(HEADWISE_WIDEST_TARGET)
#define HEADWISE_TARGETS_UP_TO HEADWISE_WIDEST_TARGET
#else
#define HEADWISE_TARGETS_UP_TO 2
#endif

// What the file itself is compiled for.
#if defined(__AVX512F__)
#define HEADWISE_TILES compiled_for_avx512
#define HEADWISE_REGISTER_BYTES 64
#define HEADWISE_REGISTERS 32
#elif defined(__AVX2__) && defined(__FMA__)
#define HEADWISE_TILES compiled_for_avx2
#define HEADWISE_REGISTER_BYTES 32
#define HEADWISE_REGISTERS 16
#elif defined(__AVX__)
#define HEADWISE_TILES compiled_for_avx
#define HEADWISE_REGISTER_BYTES 32
#define HEADWISE_REGISTERS 16
#else
#define HEADWISE_TILES compiled_for_any
#define HEADWISE_REGISTER_BYTES 16
#define HEADWISE_REGISTERS 16
#endif
#include <headwise/kernel/tile/all.inc>
namespace headwise::kernel {
namespace baseline_tiles = HEADWISE_TILES;
/// The flags of the file, as a part of the names of entries that are compiled outside the regions.
using FileFlags = baseline_tiles::Flags;
}  // namespace headwise::kernel
#undef HEADWISE_TILES
#undef HEADWISE_REGISTER_BYTES
#undef HEADWISE_REGISTERS

#if defined(__x86_64__) && !defined(__AVX512F__) && !(defined(__AVX2__) && defined(__FMA__)) && \
    HEADWISE_TARGETS_UP_TO >= 1
#if defined(__AVX__)
#define HEADWISE_TILES avx2_raised_from_avx
#else
#define HEADWISE_TILES avx2_raised_from_any
#endif
#define HEADWISE_REGISTER_BYTES 32
#define HEADWISE_REGISTERS 16
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#include <headwise/kernel/tile/all.inc>
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
namespace headwise::kernel {
namespace avx2_tiles = HEADWISE_TILES;
}
#undef HEADWISE_TILES
#undef HEADWISE_REGISTER_BYTES
#undef HEADWISE_REGISTERS
#else
namespace headwise::kernel {
namespace avx2_tiles = baseline_tiles;
}
#endif

#if defined(__x86_64__) && !defined(__AVX512F__) && HEADWISE_TARGETS_UP_TO >= 2
#if defined(__AVX2__) && defined(__FMA__)
#define HEADWISE_TILES avx512_raised_from_avx2
#elif defined(__AVX__)
#define HEADWISE_TILES avx512_raised_from_avx
#else
#define HEADWISE_TILES avx512_raised_from_any
#endif
#define HEADWISE_REGISTER_BYTES 64
#define HEADWISE_REGISTERS 32
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
#include <headwise/kernel/tile/all.inc>
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
namespace headwise::kernel {
namespace avx512_tiles = HEADWISE_TILES;
}
#undef HEADWISE_TILES
#undef HEADWISE_REGISTER_BYTES
#undef HEADWISE_REGISTERS
#else
namespace headwise::kernel {
namespace avx512_tiles = avx2_tiles;
}
#endif

#undef HEADWISE_TARGETS_UP_TO
