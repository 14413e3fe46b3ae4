#include <headwise/core/buffer.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace headwise {
namespace {

template <class Scalar>
bool is_aligned(const Buffer<Scalar>& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0;
}

TEST(Buffer, BeginsOnACacheLineForEveryScalar) {
  for (Index size : {0, 1, 63, 64, 65}) {
    EXPECT_TRUE(is_aligned(Buffer<float>(size)));
    EXPECT_TRUE(is_aligned(Buffer<double>(size)));
    EXPECT_TRUE(is_aligned(Buffer<long double>(size)));
    EXPECT_TRUE(is_aligned(Buffer<std::complex<double>>(size)));
  }
}

TEST(Buffer, HoldsWhatIsWritten) {
  Buffer<double> buffer(65);
  EXPECT_EQ(buffer.size(), 65);
  buffer.fill(2);
  buffer[64] = 3;
  const Buffer<double>& constant = buffer;
  for (Index i = 0; i < 64; ++i) EXPECT_EQ(constant[i], 2);
  EXPECT_EQ(constant.data()[64], 3);
}

TEST(Buffer, IsEmptyUnlessMadeWithASize) {
  Buffer<float> none;
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.data(), nullptr);
  none.fill(1);
  Buffer<float> zero(0);
  zero.fill(1);
  EXPECT_EQ(zero.size(), 0);
}

TEST(Buffer, MovesItsMemoryAndIsNotCopied) {
  static_assert(!std::is_copy_constructible_v<Buffer<float>>);
  Buffer<float> from(10);
  from.fill(4);
  const float* memory = from.data();
  const Buffer<float> to = std::move(from);
  EXPECT_EQ(to.data(), memory);
  EXPECT_EQ(to[9], 4);
}

}  // namespace
}  // namespace headwise
