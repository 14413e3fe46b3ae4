#include <headwise/attention/attend_backward.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

/// Bytes that are allocated now, and the most that ever were since the last reset.
std::atomic<std::ptrdiff_t> now{0}, peak{0};

void count(std::ptrdiff_t bytes) {
  const std::ptrdiff_t total = now += bytes;
  std::ptrdiff_t seen = peak;
  while (total > seen && !peak.compare_exchange_weak(seen, total)) {
  }
}

/// Every block carries its size in front, so that freeing counts, too.
void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t room = alignment < 64 ? 64 : alignment;
  char* block = static_cast<char*>(std::aligned_alloc(room, (size + 2 * room - 1) / room * room));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = size;
  count(std::ptrdiff_t(size));
  return block + room;
}

void release(void* p, std::size_t alignment) {
  if (p == nullptr) return;
  const std::size_t room = alignment < 64 ? 64 : alignment;
  char* block = static_cast<char*>(p) - room;
  count(-std::ptrdiff_t(*reinterpret_cast<std::size_t*>(block)));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 64); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, std::size_t(alignment));
}
void operator delete(void* p) noexcept { release(p, 64); }
void operator delete(void* p, std::size_t) noexcept { release(p, 64); }
void operator delete(void* p, std::align_val_t alignment) noexcept { release(p, std::size_t(alignment)); }
void operator delete(void* p, std::size_t, std::align_val_t alignment) noexcept {
  release(p, std::size_t(alignment));
}

namespace headwise {
namespace {

/// Scratch of the kernel (which comes from operator new) above what the call itself returns.
TEST(Memory, StaysLinearInTheLength) {
  const Index length = 16384, dim = 8;
  Rng rng(1);
  const Matrix<float> x = normal(length, dim, 1.0f, rng);

  peak = now.load();
  const std::ptrdiff_t before = now;
  const auto attended = attend_with_lse(x, x, x, mask::Causal{});
  const std::ptrdiff_t forward = peak - before;
  EXPECT_LT(forward, 24 * length * dim * std::ptrdiff_t(sizeof(float)));

  peak = now.load();
  const auto gradients = attend_backward(x, x, x, attended, x, mask::Causal{});
  const std::ptrdiff_t backward = peak - before;
  EXPECT_GT(gradients.query.norm(), 0.0f);
  EXPECT_LT(backward, 48 * length * dim * std::ptrdiff_t(sizeof(float)));
  EXPECT_LT(backward, length * length / 8) << "far below one byte a pair";
}

}  // namespace
}  // namespace headwise
