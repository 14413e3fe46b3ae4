#pragma once

#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace headwise {

/// Scratch memory for kernels: aligned to a cache line, not initialised, freed at the end of its scope.
template <class Scalar>
class Buffer {
  static_assert(std::is_trivially_copyable_v<Scalar>, "Buffer holds plain numbers");

 public:
  static constexpr std::size_t alignment = 64;

  Buffer() = default;
  explicit Buffer(Index size)
      : size_(size),
        data_(static_cast<Scalar*>(::operator new(std::size_t(std::max<Index>(size, 1)) * sizeof(Scalar),
                                                  std::align_val_t(alignment)))) {}

  /// Makes room for `size` scalars. What was there is kept only where there was room already.
  void reserve(Index size) {
    if (size > size_) *this = Buffer(size);
  }

  Scalar* data() noexcept { return data_.get(); }
  const Scalar* data() const noexcept { return data_.get(); }
  Index size() const noexcept { return size_; }
  Scalar& operator[](Index i) noexcept { return data_.get()[i]; }
  const Scalar& operator[](Index i) const noexcept { return data_.get()[i]; }
  void fill(Scalar value) noexcept { std::fill_n(data_.get(), size_, value); }

 private:
  struct Free {
    void operator()(Scalar* p) const noexcept { ::operator delete(p, std::align_val_t(alignment)); }
  };

  Index size_ = 0;
  std::unique_ptr<Scalar, Free> data_;
};

}  // namespace headwise
