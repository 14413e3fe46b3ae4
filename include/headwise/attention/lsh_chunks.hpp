#pragma once

#include <headwise/attention/lsh_buckets.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
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

/// A chunk of some round.
struct LshChunk {
  Index round = 0, chunk = 0;
};

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

 private:
  static std::int32_t wrapped(std::int32_t steps, std::int32_t all) noexcept {
    const std::int32_t rest = steps % all;
    return rest < 0 ? rest + all : rest;
  }
};

/// Every token but the query itself: a test that costs a vector instruction.
struct OtherTokens {
  static constexpr Coordinates coordinates = Coordinates::rows;
  static constexpr bool reads_query = false;

  constexpr bool allows(Index query, Index key) const noexcept { return query != key; }
};

}  // namespace attention

/// The tokens of every head and round, sorted by bucket and cut into chunks: the plans of LSH attention, and
/// the tests of its pairs.
class LshChunks {
 public:
  /// The pairs of one round, as a mask: not a token with itself, nor, where keys count once, a pair that an
  /// earlier round has. Refers to the chunks.
  class Pairs {
   public:
    static constexpr Coordinates coordinates = Coordinates::rows;
    static constexpr bool reads_query = false;
    static constexpr bool reads_head = true;

    struct Bound {
      static constexpr Coordinates coordinates = Coordinates::rows;

      attention::LshTable table;
      Index round, first_round;
      bool same_bucket;

      bool allows(Index query, Index key) const noexcept {
        if (query == key) return false;
        if (same_bucket && !table.meet(round, query, key)) return false;
        for (Index earlier = first_round; earlier < round; ++earlier)
          if (table.meet(earlier, query, key)) return false;
        return true;
      }
    };

    Pairs(const LshChunks& chunks, Index round) : chunks_(&chunks), round_(round) {}

    Bound bind(const Context& context) const {
      const bool once = chunks_->options_.repeats == LshRepeats::once;
      return {chunks_->table(context.sequence, context.head), round_, once ? 0 : round_,
              chunks_->options_.reach == LshReach::bucket};
    }

   private:
    const LshChunks* chunks_;
    Index round_;
  };

  /// `rows` said out loud. Throws ShapeError when options or buckets are not what they should be.
  LshChunks(const LshOptions& options, LshBuckets buckets, RaggedRows rows)
      : options_(options), buckets_(std::move(buckets)), rows_(std::move(rows)) {
    check();
    order_.resize(buckets_.numbers.size());
    chunk_of_.resize(buckets_.numbers.size());
    for (Index head = 0; head < buckets_.heads; ++head)
      for (Index round = 0; round < buckets_.rounds; ++round)
        for (Index s = 0; s < rows_.sequences(); ++s) sort(head, round, rows_[s]);
  }

  Index rounds() const noexcept { return buckets_.rounds; }
  const LshBuckets& buckets() const noexcept { return buckets_; }
  Pairs pairs(Index round) const { return {*this, round}; }

  /// True when all that `pairs` hides in this round is a token from itself.
  bool hides_self_only(Index round) const noexcept {
    return options_.reach == LshReach::chunk && (round == 0 || options_.repeats == LshRepeats::counted);
  }

  /// One item a chunk: its tokens look at those of the chunk and its neighbours.
  Plans plans(Index round) const {
    Plans plans;
    plans.sequences = rows_.sequences();
    plans.heads = buckets_.heads;
    for (Index s = 0; s < rows_.sequences(); ++s)
      for (Index head = 0; head < buckets_.heads; ++head) plans.plans.push_back(plan(s, head, round));
    return plans;
  }

 private:
  void check() const {
    expect_positive("lsh: chunk_len", options_.chunk_len);
    expect_not_negative("lsh: chunks_before", options_.chunks_before);
    expect_not_negative("lsh: chunks_after", options_.chunks_after);
    expect_positive("lsh: rounds of buckets", buckets_.rounds);
    expect_positive("lsh: heads of buckets", buckets_.heads);
    expect_equal("lsh: rows of buckets", buckets_.rows, rows_.rows(), "one bucket a row, head and round");
    expect_equal("lsh: bucket numbers", Index(buckets_.numbers.size()),
                 buckets_.rows * buckets_.heads * buckets_.rounds, "heads * rounds * rows");
    constexpr Index most = Index(1) << 30;
    if (rows_.rows() > most / buckets_.rounds)
      fail_shape("lsh: rows * rounds", std::to_string(rows_.rows() * buckets_.rounds), "at most 2^30");
    if (options_.chunks_before > most / 2 || options_.chunks_after > most / 2 - options_.chunks_before)
      fail_shape("lsh: chunks_before", std::to_string(options_.chunks_before),
                 "at most 2^29 with chunks_after");
  }

  std::size_t place(Index head, Index round, Index row) const noexcept {
    return std::size_t((head * buckets_.rounds + round) * buckets_.rows + row);
  }

  Index chunks(Range rows) const noexcept {
    return (rows.size() + options_.chunk_len - 1) / options_.chunk_len;
  }

  /// Stable, so that tokens of one bucket stay in their order.
  void sort(Index head, Index round, Range rows) {
    const auto bucket = buckets_.of(head, round).subspan(std::size_t(rows.begin), std::size_t(rows.size()));
    std::int32_t* const order = order_.data() + place(head, round, rows.begin);
    std::int32_t* const chunk = chunk_of_.data() + place(head, round, rows.begin);
    for (Index i = 0; i < rows.size(); ++i) order[i] = std::int32_t(i);
    std::stable_sort(order, order + rows.size(), [&](std::int32_t a, std::int32_t b) {
      return bucket[std::size_t(a)] < bucket[std::size_t(b)];
    });
    for (Index rank = 0; rank < rows.size(); ++rank)
      chunk[order[rank]] = std::int32_t(rank / options_.chunk_len);
  }

  attention::LshTable table(Index sequence, Index head) const {
    const Range rows = rows_[sequence];
    attention::LshTable t;
    t.chunk_of = chunk_of_.data() + place(head, 0, rows.begin);
    if (options_.reach == LshReach::bucket)
      t.bucket_of = buckets_.numbers.data() + place(head, 0, rows.begin);
    t.stride = buckets_.rows;
    t.rounds = std::int32_t(buckets_.rounds);
    t.chunks = std::int32_t(std::max<Index>(1, chunks(rows)));
    t.before = std::int32_t(options_.chunks_before);
    t.neighbours = std::int32_t(options_.chunks_before + 1 + options_.chunks_after);
    t.wrap = options_.wrap;
    return t;
  }

  /// The chunks that one chunk sees, itself among them.
  std::vector<attention::LshChunk> neighbours(Index round, Index chunk, Index chunks) const {
    std::vector<attention::LshChunk> result;
    const Index all = buckets_.rounds * chunks;
    for (Index step = -options_.chunks_before; step <= options_.chunks_after; ++step) {
      Index at = chunk + step, in = round;
      if (options_.wrap == LshWrap::none) {
        if (at < 0 || at >= chunks) continue;
      } else if (options_.wrap == LshWrap::round) {
        at = (at % chunks + chunks) % chunks;
      } else {
        const Index global = ((round * chunks + at) % all + all) % all;
        in = global / chunks;
        at = global % chunks;
        if (options_.reach == LshReach::bucket && in != round) continue;
      }
      result.push_back({in, at});
    }
    return result;
  }

  void append(std::vector<Index>& list, Index head, const attention::LshChunk& c, Range rows) const {
    const std::int32_t* const order = order_.data() + place(head, c.round, rows.begin);
    const Index end = std::min((c.chunk + 1) * options_.chunk_len, rows.size());
    list.insert(list.end(), order + c.chunk * options_.chunk_len, order + end);
  }

  Plan plan(Index sequence, Index head, Index round) const {
    const Range rows = rows_[sequence];
    Plan plan;
    for (Index chunk = 0; chunk < chunks(rows); ++chunk) {
      std::vector<Index> queries, keys;
      append(queries, head, {round, chunk}, rows);
      for (const attention::LshChunk& c : neighbours(round, chunk, chunks(rows))) append(keys, head, c, rows);
      if (options_.repeats == LshRepeats::once) {
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      }
      plan.items.push_back({RowList::of(std::move(queries)), RowList::of(std::move(keys))});
    }
    return plan;
  }

  LshOptions options_;
  LshBuckets buckets_;
  RaggedRows rows_;
  std::vector<std::int32_t> order_, chunk_of_;  ///< [head][round][row], counted within sequences
};

}  // namespace headwise
