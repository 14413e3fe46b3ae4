#pragma once

#include <headwise/core/matrix.hpp>

#include <memory>
#include <type_traits>

namespace headwise {

/// Runs body(i) for i in [0, n), in any order, and returns when all are done. Two words, copied freely; the
/// pool that it refers to must outlive it. An empty executor runs serially on the caller's thread.
///
/// Results never depend on the executor: work is cut the same way for any number of threads.
class Executor {
 public:
  /// Runs body(state, i) for each i < n.
  using Body = void (*)(void* state, Index i);
  /// Distributes the bodies.
  using Run = void (*)(void* pool, Index n, void* state, Body body);

  Executor() = default;
  Executor(void* pool, Run run) : pool_(pool), run_(run) {}

  explicit operator bool() const noexcept { return run_ != nullptr; }

  /// An exception thrown by a body reaches the caller after all started bodies have ended.
  template <class F>
  void operator()(Index n, F&& body) const {
    if (run_ == nullptr || n <= 1) {
      for (Index i = 0; i < n; ++i) body(i);
      return;
    }
    using Function = std::remove_reference_t<F>;
    run_(pool_, n, const_cast<void*>(static_cast<const void*>(std::addressof(body))),
         [](void* state, Index i) { (*static_cast<Function*>(state))(i); });
  }

 private:
  void* pool_ = nullptr;
  Run run_ = nullptr;
};

}  // namespace headwise
