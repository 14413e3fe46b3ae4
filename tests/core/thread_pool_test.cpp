#include <headwise/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace headwise {
namespace {

/// Threads that meet here before any goes on; a pool that ran them one after the other would never return.
class Meeting {
 public:
  explicit Meeting(int expected) : missing_(expected) {}

  void arrive() {
    std::unique_lock lock(mutex_);
    if (--missing_ == 0) all_here_.notify_all();
    all_here_.wait(lock, [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  int missing_;
};

std::vector<int> runs_of_each_item(const Executor& executor, Index n) {
  std::vector<std::atomic<int>> runs(std::size_t(n > 0 ? n : 0));
  executor(n, [&](Index i) { ++runs[std::size_t(i)]; });
  return {runs.begin(), runs.end()};
}

TEST(ThreadPool, RunsEveryItemExactlyOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (Index n : {0, 1, 2, 63, 64, 65, 1000}) {
      EXPECT_EQ(runs_of_each_item(pool.executor(), n), std::vector<int>(std::size_t(n), 1))
          << n << " items on " << threads << " threads";
    }
  }
}

TEST(ThreadPool, RunsNothingForANegativeCount) {
  ThreadPool pool(2);
  int runs = 0;
  pool.executor()(-3, [&](Index) { ++runs; });
  EXPECT_EQ(runs, 0);
}

TEST(ThreadPool, UsesAllThreadsAtOnceAndTheCallersAmongThem) {
  constexpr int threads = 4;
  ThreadPool pool(threads);
  Meeting meeting(threads);
  std::mutex mutex;
  std::set<std::thread::id> seen;

  pool.executor()(threads, [&](Index) {
    meeting.arrive();
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });

  EXPECT_EQ(seen.size(), std::size_t(threads));
  EXPECT_EQ(seen.count(std::this_thread::get_id()), 1u);
}

TEST(ThreadPool, HandsItemsOutInIncreasingOrder) {
  constexpr int threads = 3;
  ThreadPool pool(threads);
  static thread_local Index last_of_thread = -1;
  std::atomic<int> disorders{0};

  for (int round = 0; round < 20; ++round) {
    Meeting meeting(threads);
    pool.executor()(threads, [&](Index) {  // each thread takes one of these, and forgets the round before
      last_of_thread = -1;
      meeting.arrive();
    });
    std::atomic<Index> counted{0};
    pool.executor()(500, [&](Index i) {
      const Index before = counted.fetch_add(1);
      if (i <= last_of_thread) ++disorders;
      if (i > before + threads - 1) ++disorders;  // each other thread holds at most one item not yet counted
      last_of_thread = i;
    });
  }

  EXPECT_EQ(disorders, 0);
}

TEST(ThreadPool, IsSerialInOrderOnTheCallersThreadWhenItHasOneThread) {
  ThreadPool pool(1);
  EXPECT_FALSE(pool.executor());
  std::vector<Index> order;
  std::set<std::thread::id> seen;
  pool.executor()(5, [&](Index i) {
    seen.insert(std::this_thread::get_id());
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_EQ(seen, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(ThreadPool, SleepsWhileItWaits) {
  ThreadPool pool(4);
  const std::clock_t begin = std::clock();  // processor time of all threads
  pool.executor()(2, [](Index i) { std::this_thread::sleep_for(std::chrono::milliseconds(i * 300)); });
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 0.15);
}

TEST(ThreadPool, ServesCallsAtAnyDistance) {
  using Clock = std::chrono::steady_clock;
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    for (int gap = 0; gap < 250; ++gap) {  // microseconds: threads look out, fall asleep, or sleep
      std::vector<int> runs(11, 0);
      pool.executor()(11, [&](Index i) { ++runs[std::size_t(i)]; });
      ASSERT_EQ(runs, std::vector<int>(11, 1)) << gap;
      const auto end = Clock::now() + std::chrono::microseconds(gap);
      while (Clock::now() < end) {
      }
    }
  }
}

TEST(ThreadPool, SleepsBetweenCalls) {
  ThreadPool pool(std::clamp(int(std::thread::hardware_concurrency()), 1, 4));
  const std::clock_t begin = std::clock();
  for (int call = 0; call < 10; ++call) {
    pool.executor()(8, [](Index) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 0.15);
}

TEST(ThreadPool, MakesWrittenResultsVisibleToTheCaller) {
  ThreadPool pool(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<Index> squares(97,
                               -1);  // plain memory: only the pool orders these writes before the reads below
    pool.executor()(97, [&](Index i) { squares[std::size_t(i)] = i * i + round; });
    for (Index i = 0; i < 97; ++i) ASSERT_EQ(squares[std::size_t(i)], i * i + round);
  }
}

TEST(ThreadPool, ServesBodiesThatUseItAgain) {
  for (int threads : {2, 3, 5}) {
    ThreadPool pool(threads);
    const Executor executor = pool.executor();
    std::atomic<int> runs{0};
    executor(7, [&](Index) { executor(5, [&](Index) { executor(3, [&](Index) { ++runs; }); }); });
    EXPECT_EQ(runs, 7 * 5 * 3);
  }
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::vector<int>> sums(4, std::vector<int>(50, 0));
  std::vector<std::thread> callers;
  for (std::vector<int>& sum : sums) {
    callers.emplace_back([&pool, &sum] {
      for (int& total : sum) {
        std::atomic<int> shared{0};
        pool.executor()(33, [&](Index i) { shared += int(i); });
        total = shared;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(sums, std::vector<std::vector<int>>(4, std::vector<int>(50, 528)));
}

TEST(ThreadPool, RethrowsWhatABodyThrewAfterAllStartedBodiesEnded) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> inside{0};
    Meeting meeting(4);
    try {
      pool.executor()(100, [&](Index i) {
        ++inside;
        if (i < 4) meeting.arrive();
        if (i == 2) {
          --inside;
          throw std::runtime_error("item 2");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --inside;
      });
      FAIL() << "the exception was lost";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "item 2");
      EXPECT_EQ(inside, 0);
    }
  }
  EXPECT_EQ(runs_of_each_item(pool.executor(), 64), std::vector<int>(64, 1)) << "and serves the next call";
}

TEST(ThreadPool, ThrowsWhatASerialRunWouldHaveThrown) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    Meeting meeting(4);
    try {
      pool.executor()(4, [&](Index i) {
        meeting.arrive();
        if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the lowest throws last
        if (i > 0) throw i;
      });
      FAIL() << "the exception was lost";
    } catch (Index thrown) {
      EXPECT_EQ(thrown, 1);
    }
  }
}

TEST(ThreadPool, StartsNoFurtherItemAfterAnException) {
  ThreadPool pool(2);
  std::atomic<int> runs{0};
  EXPECT_THROW(pool.executor()(1'000'000,
                               [&](Index i) {
                                 ++runs;
                                 if (i == 0) throw std::runtime_error("first");
                                 std::this_thread::sleep_for(std::chrono::microseconds(50));
                               }),
               std::runtime_error);
  EXPECT_LT(runs, 1'000'000);
}

TEST(ThreadPool, KeepsTheExceptionOfANestedCallInItsCall) {
  ThreadPool pool(3);
  const Executor executor = pool.executor();
  std::atomic<int> caught{0};
  executor(6, [&](Index outer) {
    try {
      executor(10, [&](Index inner) {
        if (inner == 3) throw outer;
      });
    } catch (Index thrown) {
      if (thrown == outer) ++caught;
    }
  });
  EXPECT_EQ(caught, 6);
}

TEST(ThreadPool, UsesTheMachinesThreadsUnlessTold) {
  ThreadPool pool;
  EXPECT_GE(pool.threads(), 1);
  if (std::thread::hardware_concurrency() > 0) {
    EXPECT_EQ(pool.threads(), int(std::thread::hardware_concurrency()));
  }
}

std::string message_for(int threads) {
  try {
    ThreadPool pool(threads);
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

TEST(ThreadPool, NamesAThreadCountThatMakesNoSense) {
  EXPECT_EQ(message_for(0),
            "ThreadPool: threads is 0, expected a positive number; leave it out for one thread a processor");
  EXPECT_EQ(message_for(-1),
            "ThreadPool: threads is -1, expected a positive number; leave it out for one thread a processor");
  EXPECT_EQ(message_for(4097), "ThreadPool: threads is 4097, expected at most 4096");
}

TEST(ThreadPool, IsRefusedByTheCompilerWhereItWouldDangle) {
  static_assert(!std::is_copy_constructible_v<ThreadPool>);
  static_assert(!std::is_move_constructible_v<ThreadPool>);
}

}  // namespace
}  // namespace headwise
