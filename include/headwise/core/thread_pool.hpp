#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/executor.hpp>

#if __has_include(<Eigen/ThreadPool>)  // since Eigen 5
#include <Eigen/ThreadPool>
#else
#include <unsupported/Eigen/CXX11/ThreadPool>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headwise {

/// A fixed set of threads that share the work of calls: Eigen's ThreadPool behind an Executor.
///
///     ThreadPool pool(8);                                     // seven threads and the caller's
///     attend(query, key, value, {.executor = pool.executor()})
///
/// The caller takes part, and everybody takes the next item from one counter, so items start in increasing
/// order. Any number of callers may use one pool at once, and a body may use the pool it runs on: whoever
/// waits, waits only for bodies that already run. Who has nothing to do looks out for work for some
/// microseconds, as the next call of a model follows at once, and then sleeps; in a pool larger than the
/// machine at once. The pool must outlive its executors; it is neither copied nor moved.
///
/// When bodies throw, no further item starts, and the exception of the lowest item reaches the caller: all
/// lower items have been handed out by then, so it is the one that a serial run would have thrown.
///
/// Cost: one atomic addition an item; one lock a thread and call, and for each that slept a wake-up.
class ThreadPool {
 public:
  static constexpr int max_threads = 4096;

  /// As many threads as the machine can run at once.
  ThreadPool() : ThreadPool(std::clamp(int(std::thread::hardware_concurrency()), 1, max_threads)) {}

  /// `threads` in all, the caller's included; 1 starts none.
  /// Throws ShapeError when it is not in [1, max_threads].
  explicit ThreadPool(int threads)
      : helpers_(checked(threads) - 1), looks_out_(threads <= int(std::thread::hardware_concurrency())) {
    if (helpers_ > 0) workers_.emplace(helpers_, /*allow_spinning=*/false);
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() = default;

  int threads() const noexcept { return helpers_ + 1; }

  /// What calls take as `.executor`; serial when the pool has one thread.
  Executor executor() noexcept {
    if (helpers_ == 0) return {};
    return {this, [](void* pool, Index n, void* state, Executor::Body body) {
              static_cast<ThreadPool*>(pool)->share(n, state, body);
            }};
  }

 private:
  /// One call in progress, on its caller's stack. What is not atomic belongs to whoever holds the pool's
  /// mutex.
  struct Job {
    Index n = 0;
    void* state = nullptr;
    Executor::Body body = nullptr;
    std::atomic<Index> next{0};
    std::atomic<int> helping{0};  ///< threads inside, the caller's not counted; changed under the mutex
    Index failed = std::numeric_limits<Index>::max();
    std::exception_ptr error{};
    std::condition_variable nobody_helps{};
  };

  static int checked(int threads) {
    expect_positive("ThreadPool: threads", threads, "leave it out for one thread a processor");
    if (threads > max_threads) {
      fail_shape("ThreadPool: threads", std::to_string(threads), "at most " + std::to_string(max_threads));
    }
    return threads;
  }

  void share(Index n, void* state, Executor::Body body) {
    Job job{.n = n, .state = state, .body = body};
    for (Index invited = open(job); invited > 0; --invited) {
      workers_->Schedule(
          [this] { help(); });  // one pointer fits into the function: nothing is allocated or thrown
    }
    work(job);
    close(job);
    if (job.error) std::rethrow_exception(job.error);
  }

  /// Shows the job to the helpers. Returns how many more of them to call: one on its way looks at every open
  /// job.
  Index open(Job& job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    const Index invited = std::max<Index>(0, std::min<Index>(job.n - 1, helpers_) - called_);
    called_ += invited;
    opened_.fetch_add(1, std::memory_order_release);
    return invited;
  }

  /// Hides the job, and waits for the bodies that helpers still run.
  void close(Job& job) {
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    if (job.helping == 0) return;
    lock.unlock();
    look_out_for([&job] { return job.helping.load(std::memory_order_acquire) == 0; });
    lock.lock();
    job.nobody_helps.wait(lock, [&job] { return job.helping == 0; });
  }

  void help() {
    std::unique_lock lock(mutex_);
    --called_;
    do {
      while (Job* job = oldest_with_items()) {
        ++job->helping;
        lock.unlock();
        work(*job);
        lock.lock();
        if (--job->helping == 0) job->nobody_helps.notify_one();
      }
    } while (sees_another_job(lock));
  }

  /// A helper that looks out counts as called, so that nobody wakes it. It looks at the jobs once more after
  /// it has ceased to count, so that none is missed.
  bool sees_another_job(std::unique_lock<std::mutex>& lock) {
    ++called_;
    const unsigned seen = opened_.load(std::memory_order_relaxed);
    lock.unlock();
    const bool more = look_out_for([&] { return opened_.load(std::memory_order_acquire) != seen; });
    lock.lock();
    --called_;
    return more || oldest_with_items() != nullptr;
  }

  /// Waits for what is expected at once without sleeping, as waking up takes longer than most products of one
  /// token. False when it did not come.
  template <class Condition>
  bool look_out_for(Condition&& condition) const {
    constexpr std::chrono::microseconds patience{100};
    if (!looks_out_) return condition();
    const auto end = std::chrono::steady_clock::now() + patience;
    do {
      for (int i = 0; i < 32; ++i) {
        if (condition()) return true;
        relax();
      }
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }

  /// Tells the processor that this is a waiting loop.
  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  Job* oldest_with_items() const {
    for (Job* job : jobs_)
      if (job->next.load(std::memory_order_relaxed) < job->n) return job;
    return nullptr;
  }

  void work(Job& job) {
    for (Index i = 0; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.n;) {
      try {
        job.body(job.state, i);
      } catch (...) {
        job.next.store(job.n, std::memory_order_relaxed);
        const std::lock_guard lock(mutex_);
        if (i < job.failed) {
          job.failed = i;
          job.error = std::current_exception();
        }
      }
    }
  }

  const int helpers_;
  const bool looks_out_;             ///< spinning takes no processor from threads that work
  std::atomic<unsigned> opened_{0};  ///< calls so far
  std::mutex mutex_;
  std::vector<Job*> jobs_;                    ///< calls in progress, oldest first
  Index called_ = 0;                          ///< helpers that look at the jobs next, woken or awake
  std::optional<Eigen::ThreadPool> workers_;  ///< last: joined before what they use is gone
};

}  // namespace headwise
