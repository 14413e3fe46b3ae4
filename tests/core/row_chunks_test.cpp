#include <headwise/core/row_chunks.hpp>
#include <headwise/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <mutex>
#include <vector>

namespace headwise::row_chunks_test {
namespace {

struct Chunks {
  std::vector<int> visits;
  Index count = 0;
};

Chunks visited(const Executor& executor, Index rows, double row_cost) {
  Chunks chunks{std::vector<int>(std::size_t(rows)), 0};
  std::mutex mutex;
  for_each_row_chunk(executor, rows, row_cost, [&](Range range) {
    const std::lock_guard lock(mutex);
    ++chunks.count;
    for (Index row = range.begin; row < range.end; ++row) ++chunks.visits[std::size_t(row)];
  });
  return chunks;
}

TEST(RowChunks, VisitEveryRowOnceInChunksThatThreadsDoNotChange) {
  for (const Index rows : {0, 1, 2, 63, 64, 65, 1000}) {
    for (const double row_cost : {1.0, 3e3, 1e5, 1e9}) {
      const Chunks serial = visited({}, rows, row_cost);
      EXPECT_EQ(serial.visits, std::vector<int>(std::size_t(rows), 1));
      EXPECT_EQ(serial.count, row_chunks(rows, row_cost));
      for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        const Chunks shared = visited(pool.executor(), rows, row_cost);
        EXPECT_EQ(shared.visits, serial.visits);
        EXPECT_EQ(shared.count, serial.count);
      }
    }
  }
}

TEST(RowChunks, AreOneWhereWorkIsLittleAndARowWhereItIsMuch) {
  EXPECT_EQ(row_chunks(0, 1e9), 0);
  EXPECT_EQ(row_chunks(40, 960), 1);
  EXPECT_EQ(row_chunks(512, 3 * 576), 6);
  EXPECT_EQ(row_chunks(5, 1e9), 5);
}

TEST(RowChunks, AreNumbered) {
  std::vector<Range> chunks(std::size_t(row_chunks(7, 4e5)));
  for_each_row_chunk({}, 7, 4e5, [&](Range range, Index i) { chunks[std::size_t(i)] = range; });
  EXPECT_EQ(chunks.size(), 7u);
  for (std::size_t i = 0; i < chunks.size(); ++i) EXPECT_EQ(chunks[i], (Range{Index(i), Index(i) + 1}));
}

TEST(RowChunks, ChangeACopyOrATemporary) {
  const Matrix<double> x = Matrix<double>::Random(9, 5);
  const auto negate = [&](double* numbers, Range rows) {
    for (Index i = 0; i < 3 * rows.size(); ++i) numbers[i] = -numbers[i];
  };
  EXPECT_EQ(with_changed_rows<double>(x.middleCols(1, 3), {}, 3, negate), -x.middleCols(1, 3));
  Matrix<double> temporary = x.leftCols(3);
  const double* const memory = temporary.data();
  const Matrix<double> changed = with_changed_rows<double>(std::move(temporary), {}, 3, negate);
  EXPECT_EQ(changed, -x.leftCols(3));
  EXPECT_EQ(changed.data(), memory);
}

}  // namespace
}  // namespace headwise::row_chunks_test
