#pragma once

// The tile code, compiled once for each instruction set that may be met at run time, each in a namespace of
// its own.
//
// core/each_target.inc says how, and which setting narrows the choice.

#include <headwise/core/buffer.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/kernel/driver.hpp>
#include <headwise/kernel/learned_sums.hpp>
#include <headwise/kernel/log_sum_exp.hpp>
#include <headwise/kernel/problem.hpp>
#include <headwise/kernel/schedule.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#define HEADWISE_TARGET_SPACE headwise::kernel
#define HEADWISE_TARGET_BODY <headwise/kernel/tile/all.inc>
#include <headwise/core/each_target.inc>
