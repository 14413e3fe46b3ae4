#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace {

namespace hw = headwise;

/// Large enough that the kernel asks the executor at all.
struct Inputs {
  hw::Matrix<float> query, key, value;
};

Inputs inputs(std::uint64_t seed) {
  hw::Rng rng(seed);
  return {hw::normal(450, 4 * 64, 1.0f, rng), hw::normal(450, 4 * 64, 1.0f, rng),
          hw::normal(450, 4 * 64, 1.0f, rng)};
}

TEST(Threads, GiveTheSameBitsForAnyNumberOfThem) {
  const auto [query, key, value] = inputs(1);
  const hw::Matrix<float> serial = hw::attend(query, key, value, {.heads = 4}, hw::mask::Causal{});

  // [docs core/threads]
  hw::ThreadPool pool(4);  // the caller's thread and three more; without an argument, one a processor
  const hw::Matrix<float> out =
      hw::attend(query, key, value, {.heads = 4, .executor = pool.executor()}, hw::mask::Causal{});
  // [docs end]

  EXPECT_EQ(out, serial);
  for (int threads : {1, 2, 3, 7}) {
    hw::ThreadPool other(threads);
    EXPECT_EQ(hw::attend(query, key, value, {.heads = 4, .executor = other.executor()}, hw::mask::Causal{}),
              serial)
        << threads << " threads";
  }
}

TEST(Threads, ServeSeveralCallsOfTheLibraryAtOnce) {
  hw::ThreadPool pool(3);
  std::vector<hw::Matrix<float>> parallel(3), serial(3);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < 3; ++i) {
    callers.emplace_back([&pool, &out = parallel[i], i] {
      const auto [query, key, value] = inputs(10 + i);
      out = hw::attend(query, key, value, {.heads = 4, .executor = pool.executor()}, hw::mask::Causal{});
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [query, key, value] = inputs(10 + i);
    serial[i] = hw::attend(query, key, value, {.heads = 4}, hw::mask::Causal{});
    EXPECT_EQ(parallel[i], serial[i]);
  }
}

}  // namespace
