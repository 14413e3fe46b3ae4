#pragma once

#include <headwise/attention/lsh_buckets.hpp>
#include <headwise/attention/lsh_pairs.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headwise {

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

  /// The same pairs by stored bits, for rounds that have them.
  class StoredPairs {
   public:
    static constexpr bool reads_query = false;
    static constexpr bool reads_head = true;

    StoredPairs(const LshChunks& chunks, Index round) : chunks_(&chunks), round_(round) {}

    attention::LshHidden::View bind(const Context& context) const {
      return chunks_->hidden(context.sequence, context.head, round_);
    }

   private:
    const LshChunks* chunks_;
    Index round_;
  };

  /// `rows` said out loud. Throws ShapeError when options or buckets are not what they should be.
  LshChunks(const LshOptions& options, LshBuckets buckets, RaggedRows rows, const Executor& executor = {})
      : options_(options), buckets_(std::move(buckets)), rows_(std::move(rows)) {
    check();
    order_.resize(buckets_.numbers.size());
    rank_.resize(buckets_.numbers.size());
    chunk_of_.resize(buckets_.numbers.size());
    executor(buckets_.heads * buckets_.rounds, [&](Index i) {
      for (Index s = 0; s < rows_.sequences(); ++s) sort(i / buckets_.rounds, i % buckets_.rounds, rows_[s]);
    });
    if (!stores_hidden()) return;
    hidden_.resize(std::size_t(buckets_.heads * buckets_.rounds * rows_.sequences()));
    executor(buckets_.heads * buckets_.rounds, [&](Index i) {
      const Index head = i / buckets_.rounds, round = i % buckets_.rounds;
      for (Index s = 0; s < rows_.sequences() && round > 0; ++s)
        hidden_[hidden_place(s, head, round)] =
            attention::LshHidden(table(s, head), sorted(s, head, round), round);
    });
  }

  Index rounds() const noexcept { return buckets_.rounds; }
  const LshBuckets& buckets() const noexcept { return buckets_; }
  Pairs pairs(Index round) const { return {*this, round}; }
  StoredPairs stored_pairs(Index round) const { return {*this, round}; }

  /// True when all that `pairs` hides in this round is a token from itself.
  bool hides_self_only(Index round) const noexcept {
    return options_.reach == LshReach::chunk && (round == 0 || options_.repeats == LshRepeats::counted);
  }

  bool has_stored_pairs(Index round) const noexcept { return round > 0 && !hidden_.empty(); }

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
    expect_positive("attend_lsh: chunk_len", options_.chunk_len);
    expect_not_negative("attend_lsh: chunks_before", options_.chunks_before);
    expect_not_negative("attend_lsh: chunks_after", options_.chunks_after);
    expect_positive("attend_lsh: rounds of buckets", buckets_.rounds);
    expect_positive("attend_lsh: heads of buckets", buckets_.heads);
    expect_equal("attend_lsh: rows of buckets", buckets_.rows, rows_.rows(),
                 "one bucket a row, head and round");
    expect_equal("attend_lsh: bucket numbers", Index(buckets_.numbers.size()),
                 buckets_.rows * buckets_.heads * buckets_.rounds, "heads * rounds * rows");
    constexpr Index most = Index(1) << 30;
    if (rows_.rows() > most / buckets_.rounds)
      fail_shape("attend_lsh: rows * rounds", std::to_string(rows_.rows() * buckets_.rounds), "at most 2^30");
    if (options_.chunks_before > most / 2 || options_.chunks_after > most / 2 - options_.chunks_before)
      fail_shape("attend_lsh: chunks_before", std::to_string(options_.chunks_before),
                 "at most 2^29 with chunks_after");
  }

  std::size_t place(Index head, Index round, Index row) const noexcept {
    return std::size_t((head * buckets_.rounds + round) * buckets_.rows + row);
  }

  Index chunks(Range rows) const noexcept {
    return (rows.size() + options_.chunk_len - 1) / options_.chunk_len;
  }

  /// By radix, which is stable: tokens of one bucket stay in their order.
  void sort(Index head, Index round, Range rows) {
    const auto bucket = buckets_.of(head, round).subspan(std::size_t(rows.begin), std::size_t(rows.size()));
    const auto bits_of = [&](std::int32_t row) {
      return std::uint32_t(bucket[std::size_t(row)]) ^ 0x80000000u;  // in the order of signed numbers
    };
    std::vector<std::int32_t> order(std::size_t(rows.size())), next(order.size());
    std::uint32_t differ = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = std::int32_t(i);
      differ |= bits_of(order[i]) ^ bits_of(0);
    }
    constexpr unsigned digit_bits = 8;
    constexpr std::uint32_t digits = 1u << digit_bits;
    for (unsigned shift = 0; shift < 32 && (differ >> shift) != 0; shift += digit_bits) {
      const auto digit = [&](std::int32_t row) { return bits_of(row) >> shift & (digits - 1); };
      std::size_t places[digits + 1] = {};
      for (const std::int32_t row : order) ++places[digit(row) + 1];
      for (std::uint32_t d = 0; d < digits; ++d) places[d + 1] += places[d];
      for (const std::int32_t row : order) next[places[digit(row)]++] = row;
      order.swap(next);
    }
    const std::size_t at = place(head, round, rows.begin);
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const auto row = std::size_t(order[rank]);
      order_[at + rank] = order[rank];
      rank_[at + row] = std::int32_t(rank);
      chunk_of_[at + row] = std::int32_t(Index(rank) / options_.chunk_len);
    }
  }

  /// Bits for pairs that an earlier round has, where a round is a matter of chunks alone.
  bool stores_hidden() const {
    const Index neighbours = options_.chunks_before + 1 + options_.chunks_after;
    return buckets_.rounds > 1 && options_.repeats == LshRepeats::once && options_.reach == LshReach::chunk &&
           options_.wrap != LshWrap::global &&
           attention::LshHidden::fits(rows_.rows(), neighbours, options_.chunk_len);
  }

  std::size_t hidden_place(Index sequence, Index head, Index round) const noexcept {
    return std::size_t((sequence * buckets_.heads + head) * buckets_.rounds + round);
  }

  attention::LshOrder sorted(Index sequence, Index head, Index round) const {
    const Range rows = rows_[sequence];
    const std::size_t at = place(head, round, rows.begin);
    return {order_.data() + at, rank_.data() + at, rows.size(), std::int32_t(options_.chunk_len)};
  }

  attention::LshHidden::View hidden(Index sequence, Index head, Index round) const {
    return hidden_[hidden_place(sequence, head, round)].view(sorted(sequence, head, round));
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

  /// The chunks that one chunk sees, itself among them; each once where its keys count once.
  std::vector<attention::LshChunk> neighbours(Index round, Index chunk, Index chunks) const {
    std::vector<attention::LshChunk> result;
    const Index all = buckets_.rounds * chunks;
    const bool bounded = options_.wrap == LshWrap::none;
    const Index first = bounded ? std::max(-options_.chunks_before, -chunk) : -options_.chunks_before;
    const Index last = bounded ? std::min(options_.chunks_after, chunks - 1 - chunk) : options_.chunks_after;
    for (Index step = first; step <= last; ++step) {
      attention::LshChunk seen{round, chunk + step};
      if (options_.wrap == LshWrap::round) {
        seen.chunk = (seen.chunk % chunks + chunks) % chunks;
      } else if (options_.wrap == LshWrap::global) {
        const Index global = ((round * chunks + seen.chunk) % all + all) % all;
        seen = {global / chunks, global % chunks};
        if (options_.reach == LshReach::bucket && seen.round != round) continue;
      }
      // A walk round the chunks comes back to its first one before it repeats another.
      if (options_.repeats == LshRepeats::once && !result.empty() && seen == result.front()) break;
      result.push_back(seen);
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
      const auto seen = neighbours(round, chunk, chunks(rows));
      keys.reserve(seen.size() * queries.size());
      for (const attention::LshChunk& c : seen) append(keys, head, c, rows);
      // Chunks of one round share no token.
      if (options_.repeats == LshRepeats::once && options_.wrap == LshWrap::global) {
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
  std::vector<std::int32_t> order_, rank_, chunk_of_;  ///< [head][round][row], counted within sequences
  std::vector<attention::LshHidden> hidden_;           ///< [sequence][head][round], or nothing
};

}  // namespace headwise
