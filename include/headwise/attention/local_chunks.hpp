#pragma once

#include <headwise/core/error.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace headwise {

/// Local attention of the Reformer: a chunk of neighbours sees itself and the chunks about it.
///
///     keys of i:  {j : floor(i / m) - before <= floor(j / m) <= floor(i / m) + after},   m = chunk_len
///
/// A plan for attend_over, of one item a chunk; the last chunk may be shorter. `wrapped` makes the first
/// chunk the last one's neighbour, as the published programs do: without it, and without a causal mask, this
/// is mask::LocalBlock. Every key counts once. Cost: n chunk_len (before + 1 + after) pairs. Paper: Kitaev et
/// al., "Reformer: The Efficient Transformer", 2020, section 5 (layers of the published models).
struct LocalChunks {
  Index chunk_len = 64;
  Index chunks_before = 1, chunks_after = 0;
  bool wrapped = false;

  /// Throws ShapeError when chunk_len is not positive, or a number of chunks negative.
  Plan plan(Index length) const {
    expect_positive("LocalChunks: chunk_len", chunk_len);
    expect_not_negative("LocalChunks: chunks_before", chunks_before);
    expect_not_negative("LocalChunks: chunks_after", chunks_after);
    const Index chunks = (length + chunk_len - 1) / chunk_len;
    const Index before = std::min(chunks_before, chunks), after = std::min(chunks_after, chunks);
    Plan plan;
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      std::set<Index> seen;
      for (Index step = -before; step <= after; ++step) {
        const Index at = chunk + step;
        if (wrapped) {
          seen.insert((at % chunks + chunks) % chunks);
        } else if (0 <= at && at < chunks) {
          seen.insert(at);
        }
      }
      plan.items.push_back({RowList::contiguous(rows(chunk, length)), keys(seen, length)});
    }
    return plan;
  }

 private:
  Range rows(Index chunk, Index length) const noexcept {
    return {chunk * chunk_len, std::min((chunk + 1) * chunk_len, length)};
  }

  /// One run where there is one.
  RowList keys(const std::set<Index>& seen, Index length) const {
    if (*seen.rbegin() - *seen.begin() + 1 == Index(seen.size()))
      return RowList::contiguous({rows(*seen.begin(), length).begin, rows(*seen.rbegin(), length).end});
    std::vector<Index> list;
    for (const Index chunk : seen)
      for (Index row = rows(chunk, length).begin; row < rows(chunk, length).end; ++row) list.push_back(row);
    return RowList::of(std::move(list));
  }
};

}  // namespace headwise
