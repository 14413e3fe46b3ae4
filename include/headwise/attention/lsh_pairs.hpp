#pragma once

#include <headwise/core/matrix.hpp>
#include <headwise/core/policy.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace headwise {

/// What lies before the first chunk of sorted tokens.
enum class LshWrap {
  none,   ///< nothing
  round,  ///< the last chunk of the same round
  global  ///< the last chunk of the round before, and of the last round before the first: trax, transformers
};

/// What becomes of a key that a query meets more than once.
enum class LshRepeats {
  once,    ///< it counts once: attention under the union of all rounds
  counted  ///< it counts as often as it is met: trax, transformers
};

/// Which keys of the neighbouring chunks a query sees.
enum class LshReach {
  chunk,  ///< all
  bucket  ///< those in its own bucket
};

struct LshOptions {
  Index chunk_len = 64;     ///< sorted tokens a chunk; the last one may be shorter
  Index chunks_before = 1;  ///< neighbours that a chunk sees besides itself
  Index chunks_after = 0;   ///< 1 is usual where attention is not causal
  LshWrap wrap = LshWrap::none;
  LshRepeats repeats = LshRepeats::once;
  LshReach reach = LshReach::chunk;
  double epsilon = 0;  ///< added to the mean square of a key before it is brought to length one
};

namespace attention {

/// The chunk tables of one head of one sequence, and what they say of a pair.
struct LshTable {
  const std::int32_t* chunk_of = nullptr;   ///< [round][row], rounds `stride` apart
  const std::int32_t* bucket_of = nullptr;  ///< the same, or null where buckets do not matter
  Index stride = 0;
  std::int32_t rounds = 1, chunks = 1, before = 1, neighbours = 2;
  LshWrap wrap = LshWrap::none;

  /// True when the gathered keys of query's chunk, in this round, hold key.
  bool meet(Index round, Index query, Index key) const noexcept {
    const std::int32_t at = chunk_of[round * stride + query] - before;
    if (bucket_of != nullptr && bucket_of[round * stride + query] != bucket_of[round * stride + key])
      return false;
    if (wrap == LshWrap::global) {
      // Buckets of different rounds are different buckets.
      const std::int32_t in = std::int32_t(round), only = bucket_of != nullptr;
      const std::int32_t all = rounds * chunks, first = in * chunks + at;
      bool met = false;
      for (std::int32_t r = only ? in : 0; r < (only ? in + 1 : rounds); ++r)
        met |= wrapped(r * chunks + chunk_of[r * stride + key] - first, all) < neighbours;
      return met;
    }
    const std::int32_t ahead = chunk_of[round * stride + key] - at;
    const std::int32_t steps = wrap == LshWrap::round ? wrapped(ahead, chunks) : ahead;
    return 0 <= steps && steps < neighbours;
  }

  /// body(chunk) for the different chunks that one sees in its round. Not for LshWrap::global.
  template <class Body>
  void for_each_neighbour(std::int32_t chunk, Body&& body) const {
    if (wrap == LshWrap::none) {
      const std::int32_t end = std::min(chunks, chunk - before + neighbours);
      for (std::int32_t at = std::max(0, chunk - before); at < end; ++at) body(at);
    } else {
      for (std::int32_t i = 0; i < std::min(neighbours, chunks); ++i)
        body(wrapped(chunk - before + i, chunks));
    }
  }

  static std::int32_t wrapped(std::int32_t steps, std::int32_t all) noexcept {
    const std::int32_t rest = steps % all;
    return rest < 0 ? rest + all : rest;
  }
};

/// The sorted tokens of one head, round and sequence.
struct LshOrder {
  const std::int32_t* order = nullptr;  ///< [rank]: the row
  const std::int32_t* rank = nullptr;   ///< [row]
  Index length = 0;
  std::int32_t chunk_len = 1;
};

/// A bit for every query and key that meet in a round: set where the pair is hidden, because an earlier round
/// has it or because it is a token with itself. Rounds are joined by chunks, not pair by pair, so filling
/// costs far less than one test for every pair; the kernel's question is one bit.
class LshHidden {
 public:
  /// One head, round and sequence, as the kernel asks about it: only pairs of the plan have an answer.
  struct View {
    const std::uint32_t* bits = nullptr;  ///< [row][words]
    const std::int32_t *first = nullptr, *rank = nullptr;
    std::int32_t words = 0, ring = 1, width = 0;

    /// Ranks lie on a ring of whole chunks, and a query's bits begin at its first key. Without branches, and
    /// in 32 bits: lanes gather what they need.
    bool allows(Place query, Place key) const noexcept {
      const std::int32_t ahead = rank[key.row] - first[query.row];
      const std::int32_t at = std::min(ahead + (ahead < 0 ? ring : 0), width - 1);
      const std::uint32_t word = bits[query.row * words + at / 32];
      return (word >> (std::uint32_t(at) % 32) & 1u) == 0;
    }
  };

  /// True where the bits of so many rows have 32-bit places, and do not outgrow the tokens themselves.
  static bool fits(Index rows, Index neighbours, Index chunk_len) noexcept {
    constexpr Index most_keys = 2048, most_words = Index(1) << 30;
    return neighbours <= most_keys / chunk_len && rows <= most_words / (most_keys / 32);
  }

  LshHidden() = default;

  /// Hides what rounds before `round` have. Not for LshWrap::global, nor where buckets matter.
  LshHidden(const LshTable& table, const LshOrder& sorted, Index round)
      : ring_(table.chunks * sorted.chunk_len),
        width_(std::min(table.neighbours, table.chunks) * sorted.chunk_len),
        words_((width_ + 31) / 32),
        first_(std::size_t(sorted.length)),
        bits_(std::size_t(sorted.length * words_), 0) {
    std::vector<std::uint32_t> of_chunk(std::size_t(table.chunks * words_), 0);
    for (std::int32_t chunk = 0; chunk < table.chunks; ++chunk) {
      const std::int32_t first = LshTable::wrapped(chunk - table.before, table.chunks) * sorted.chunk_len;
      for_each_query(sorted, chunk, [&](Index row) {
        first_[std::size_t(row)] = first;
        mark(row, sorted.rank[row] - first);
      });
      for (Index earlier = 0; earlier < round; ++earlier)
        join(table, sorted, chunk, first, table.chunk_of + earlier * table.stride, of_chunk);
    }
  }

  View view(const LshOrder& sorted) const noexcept {
    return {bits_.data(), first_.data(), sorted.rank, words_, ring_, width_};
  }

 private:
  template <class Body>
  static void for_each_query(const LshOrder& sorted, std::int32_t chunk, Body&& body) {
    const Index begin = Index(chunk) * sorted.chunk_len;
    for (Index rank = begin; rank < std::min(begin + sorted.chunk_len, sorted.length); ++rank)
      body(Index(sorted.order[rank]));
  }

  void mark(Index row, std::int32_t ahead) {
    const std::int32_t at = ahead < 0 ? ahead + ring_ : ahead;
    if (at < width_) bits_[std::size_t(row * words_ + at / 32)] |= std::uint32_t(1) << (at % 32);
  }

  /// The keys of one chunk's queries, sorted by their chunk of an earlier round: what a query met there is
  /// the union over a few of those.
  void join(const LshTable& table, const LshOrder& sorted, std::int32_t chunk, std::int32_t first,
            const std::int32_t* chunk_then, std::vector<std::uint32_t>& of_chunk) {
    const auto for_each_key = [&](auto&& body) {
      for (std::int32_t at = 0; at < width_; ++at) {
        const Index rank = (first + at) % ring_;
        if (rank < sorted.length)
          body(of_chunk[std::size_t(chunk_then[sorted.order[rank]] * words_ + at / 32)], at % 32);
      }
    };
    for_each_key([](std::uint32_t& word, std::int32_t bit) { word |= std::uint32_t(1) << bit; });
    for_each_query(sorted, chunk, [&](Index row) {
      table.for_each_neighbour(chunk_then[row], [&](std::int32_t met) {
        for (std::int32_t word = 0; word < words_; ++word)
          bits_[std::size_t(row * words_ + word)] |= of_chunk[std::size_t(met * words_ + word)];
      });
    });
    for_each_key([](std::uint32_t& word, std::int32_t) { word = 0; });
  }

  std::int32_t ring_ = 1, width_ = 0, words_ = 0;
  std::vector<std::int32_t> first_;  ///< [row]: the rank of its first key
  std::vector<std::uint32_t> bits_;  ///< [row][words]
};

/// A chunk of some round.
struct LshChunk {
  Index round = 0, chunk = 0;

  friend bool operator==(const LshChunk&, const LshChunk&) = default;
};

/// Every token but the query itself: a test that costs a vector instruction.
struct OtherTokens {
  static constexpr Coordinates coordinates = Coordinates::rows;
  static constexpr bool reads_query = false;

  constexpr bool allows(Index query, Index key) const noexcept { return query != key; }
};

}  // namespace attention
}  // namespace headwise
