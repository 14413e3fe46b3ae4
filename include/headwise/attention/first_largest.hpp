#pragma once

#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

/// The row in which each column of a matrix is largest: how tokens, a column each, choose among centroids or
/// axes. A token a lane, so that many are compared at once.
namespace headwise::attention {

/// The largest numbers of some columns so far, and where they were. What compares with nothing is never
/// larger.
template <class Scalar>
class FirstLargest {
 public:
  using Real = math::real_of<Scalar>;

  explicit FirstLargest(Index columns)
      : best_(std::size_t(columns)), where_(std::size_t(columns)), columns_(columns) {}

  void start(const Scalar* row, Index columns) {
    columns_ = columns;
    std::copy_n(row, columns, best_.begin());
    std::fill_n(where_.begin(), columns, Scalar(0));
  }
  /// Where `sign` row is larger than all before, its number is remembered.
  void follow(const Scalar* row, Index number, int sign) {
    const Scalar here = Scalar(Real(number)), factor = Scalar(Real(sign));
    update_lanes(
        columns_,
        [here, factor](Scalar& best, Scalar& where, const Scalar& x) {
          const Scalar y = factor * x;
          const bool larger = math::real(y) > math::real(best);
          where = math::select(larger, here, where);
          best = math::select(larger, y, best);
        },
        best_.data(), where_.data(), row);
  }
  Index operator[](Index column) const { return Index(math::real(where_[std::size_t(column)])); }

 private:
  std::vector<Scalar> best_, where_;
  Index columns_;
};

/// Columns whose numbers stay in the first-level cache while all rows pass.
inline constexpr Index columns_at_once = 1024;

/// body(column, the first row that holds its largest number) for all columns.   numbers [rows > 0, columns]
template <class Scalar, class Body>
void for_each_first_largest(const ConstMatrixRef<Scalar>& numbers, Body&& body) {
  FirstLargest<Scalar> largest(std::min(columns_at_once, numbers.cols()));
  for (Index begin = 0; begin < numbers.cols(); begin += columns_at_once) {
    const Index size = std::min(columns_at_once, numbers.cols() - begin);
    const auto row = [&](Index i) { return numbers.data() + i * numbers.outerStride() + begin; };
    largest.start(row(0), size);
    for (Index i = 1; i < numbers.rows(); ++i) largest.follow(row(i), i, 1);
    for (Index i = 0; i < size; ++i) body(begin + i, largest[i]);
  }
}

/// The same for the rows with their negatives under them: an axis, or rows + axis for its opposite.
template <class Scalar, class Body>
void for_each_nearest_axis(const ConstMatrixRef<Scalar>& numbers, Body&& body) {
  FirstLargest<Scalar> largest(std::min(columns_at_once, numbers.cols()));
  const Index axes = numbers.rows();
  for (Index begin = 0; begin < numbers.cols(); begin += columns_at_once) {
    const Index size = std::min(columns_at_once, numbers.cols() - begin);
    const auto row = [&](Index i) { return numbers.data() + i * numbers.outerStride() + begin; };
    largest.start(row(0), size);
    for (Index i = 1; i < axes; ++i) largest.follow(row(i), i, 1);
    for (Index i = 0; i < axes; ++i) largest.follow(row(i), axes + i, -1);
    for (Index i = 0; i < size; ++i) body(begin + i, largest[i]);
  }
}

}  // namespace headwise::attention
