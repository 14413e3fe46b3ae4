#include <headwise/core/executor.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace headwise {
namespace {

/// An executor as a user may write one: it keeps count, and runs from the last item to the first.
struct Backwards {
  Index calls = 0;

  Executor executor() {
    return {this, [](void* self, Index n, void* state, Executor::Body body) {
              ++static_cast<Backwards*>(self)->calls;
              for (Index i = n; i-- > 0;) body(state, i);
            }};
  }
};

std::vector<Index> order_of(const Executor& executor, Index n) {
  std::vector<Index> order;
  executor(n, [&](Index i) { order.push_back(i); });
  return order;
}

TEST(Executor, IsSerialAndInOrderWhenEmpty) {
  EXPECT_FALSE(Executor{});
  EXPECT_EQ(order_of(Executor{}, 4), (std::vector<Index>{0, 1, 2, 3}));
  Executor{}(3,
             [caller = std::this_thread::get_id()](Index) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(Executor, RunsNothingForNoItems) {
  Backwards backwards;
  for (const Executor& executor : {Executor{}, backwards.executor()}) {
    EXPECT_TRUE(order_of(executor, 0).empty());
    EXPECT_TRUE(order_of(executor, -1).empty());
  }
}

TEST(Executor, HandsTheBodiesToItsPool) {
  Backwards backwards;
  const Executor executor = backwards.executor();
  EXPECT_TRUE(executor);
  EXPECT_EQ(order_of(executor, 3), (std::vector<Index>{2, 1, 0}));
  EXPECT_EQ(backwards.calls, 1);
}

TEST(Executor, DoesNotTroubleThePoolWithASingleItem) {
  Backwards backwards;
  EXPECT_EQ(order_of(backwards.executor(), 1), std::vector<Index>{0});
  EXPECT_EQ(backwards.calls, 0);
}

TEST(Executor, CallsTheBodyItselfAndNotACopy) {
  struct Counter {
    int runs = 0;
    void operator()(Index) { ++runs; }
  };
  Backwards backwards;
  Counter counter;
  Executor{}(5, counter);
  backwards.executor()(5, counter);
  EXPECT_EQ(counter.runs, 10);

  const auto constant = [&counter](Index) { ++counter.runs; };
  backwards.executor()(5, constant);
  EXPECT_EQ(counter.runs, 15);
}

TEST(Executor, LetsExceptionsThrough) {
  Backwards backwards;
  for (const Executor& executor : {Executor{}, backwards.executor()}) {
    EXPECT_THROW(executor(3,
                          [](Index i) {
                            if (i == 1) throw std::runtime_error("item 1");
                          }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace headwise
