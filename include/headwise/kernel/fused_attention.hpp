#pragma once

#include <headwise/kernel/driver.hpp>
#include <headwise/kernel/online_softmax.hpp>
#include <headwise/kernel/tile_policy.hpp>

#include <vector>

/// Exact attention over the tiles of a plan, forward.
namespace headwise::kernel {

/// Where results go: output (sequence, row, head, column) and log-sum-exp [row over all sequences][head].
template <class Scalar>
struct ForwardResult {
  Operand<Scalar> output;
  MatrixRef<Scalar> lse;
};

/// out[x][lane] += panel[x][key] * weight[key][lane] where `seen`: for panels that hold a NaN or an infinity,
/// which a weight of zero would not silence.
template <class Scalar, class Seen>
void add_weighted_where(const Seen& seen, const Scalar* weight, const Scalar* panel, Index dim, Scalar* out) {
  using Tile = MicroTile<Scalar>;
  for (Index x = 0; x < dim; ++x) {
    for (int key = 0; key < Tile::keys; ++key) {
      for (int lane = 0; lane < Tile::lanes; ++lane) {
        if (seen(key, lane))
          out[x * Tile::lanes + lane] += panel[x * Tile::keys + key] * weight[key * Tile::lanes + lane];
      }
    }
  }
}

/// Some blocks of queries of one head of one sequence, and the chunk of packed keys that they all read.
template <class Scalar, class Mask, class Score>
class ForwardTask {
 public:
  using Tile = MicroTile<Scalar>;
  using Policy = TilePolicy<Scalar, Mask, Score>;
  using Weights = typename Policy::Scores;
  using PerLane = typename Tile::template PerLane<Scalar>;

  ForwardTask(const Problem<Scalar>& problem, Index sequence, Index head, const Policy& policy)
      : problem_(problem),
        sequence_(sequence),
        head_(head),
        geometry_(problem.geometry(sequence)),
        policy_(policy),
        dropout_(problem.dropout, head),
        query_(head_view(problem.query, sequence, problem.query_rows[sequence].begin, head)),
        key_(head_view(problem.key, sequence, problem.key_rows[sequence].begin, problem.kv_head(head))),
        value_(head_view(problem.value, sequence, problem.key_rows[sequence].begin, problem.kv_head(head))) {}

  /// Runs blocks [blocks.begin, blocks.end) of the schedule; neighbours of one item share packed keys.
  void run(const Plan& plan, const Schedule& schedule, Range blocks, bool shared,
           ForwardResult<Scalar>& result) {
    for (Index begin = blocks.begin; begin < blocks.end;) {
      const Index item = schedule.blocks[std::size_t(begin)].item;
      Index end = begin;
      while (end < blocks.end && schedule.blocks[std::size_t(end)].item == item) ++end;
      run_item(plan.items[std::size_t(item)], schedule, {begin, end});
      for (Index b = begin; b < end; ++b)
        write(plan.items[std::size_t(item)], schedule, b, b - begin, shared, result);
      begin = end;
    }
  }

 private:
  /// Keys are packed this many panels at a time: with their values they stay in the second-level cache
  /// while all blocks of the task pass over them.
  static constexpr Index chunk_panels = 2048 / Tile::keys;

  void run_item(const PlanItem& item, const Schedule& schedule, Range blocks) {
    const Index dim = problem_.head_dim, value_dim = problem_.value_dim;
    const Index panels = (item.keys.size() + Tile::keys - 1) / Tile::keys;
    places_.resize(std::size_t(blocks.size()));
    softmax_.resize(std::size_t(blocks.size()));
    query_packed_ = Buffer<Scalar>(blocks.size() * dim * Tile::lanes);
    output_packed_ = Buffer<Scalar>(blocks.size() * value_dim * Tile::lanes);
    output_packed_.fill(Scalar(0));
    for (Index i = 0; i < blocks.size(); ++i) {
      places_[std::size_t(i)].set(geometry_, item.queries, schedule.blocks[std::size_t(blocks.begin + i)]);
      softmax_[std::size_t(i)].reset();
      pack_lanes(query_, places_[std::size_t(i)], dim, problem_.scale,
                 query_packed_.data() + i * dim * Tile::lanes);
    }
    const Range needed = visited_panels(schedule, blocks, {0, panels});
    PackedKeys<Scalar> packed(dim, value_dim, std::min(chunk_panels, needed.size()));
    for (Index begin = needed.begin; begin < needed.end; begin += chunk_panels) {
      const Range chunk =
          visited_panels(schedule, blocks, {begin, std::min(begin + chunk_panels, needed.end)});
      if (chunk.empty()) continue;
      packed.pack(key_, value_, geometry_, item.keys, chunk);
      for (Index i = 0; i < blocks.size(); ++i) run_chunk(schedule, blocks.begin + i, i, packed, chunk);
    }
  }

  void run_chunk(const Schedule& schedule, Index block, Index i, const PackedKeys<Scalar>& packed,
                 Range chunk) {
    for (const Segment& segment : schedule.of(schedule.blocks[std::size_t(block)])) {
      const Range panels = intersect({segment.begin, segment.end}, chunk);
      for (Index panel = panels.begin; panel < panels.end; ++panel) step(i, packed, panel, segment.full);
    }
  }

  /// One micro-tile: scores, policy, softmax, weighted values.
  void step(Index i, const PackedKeys<Scalar>& packed, Index panel, bool full) {
    alignas(64) Weights tile;
    const LanePlaces<Scalar>& queries = places_[std::size_t(i)];
    OnlineSoftmax<Scalar>& softmax = softmax_[std::size_t(i)];
    Scalar* output = output_packed_.data() + i * problem_.value_dim * Tile::lanes;

    multiply_scores(query_packed_.data() + i * problem_.head_dim * Tile::lanes, packed.key(panel),
                    problem_.head_dim, &tile[0][0]);
    if (Policy::is_plain(queries, packed, full)) {
      policy_.apply_plain(tile, queries, packed.places(panel));
    } else {
      policy_.apply_tested(tile, queries, packed.places(panel), packed.count(panel), full);
    }

    alignas(64) PerLane factor;
    if (softmax.raise(tile, factor)) rescale(output, factor);
    if (packed.finite(panel)) {
      softmax.weigh(tile);
      drop(tile, queries, packed.places(panel));
      add_weighted(&tile[0][0], packed.value(panel), problem_.value_dim, output);
    } else {
      typename Tile::template PerPair<bool> seen;
      for (int key = 0; key < Tile::keys; ++key)
        for (int lane = 0; lane < Tile::lanes; ++lane) seen[key][lane] = is_seen(tile[key][lane]);
      softmax.weigh(tile);
      drop(tile, queries, packed.places(panel));
      add_weighted_where([&](int key, int lane) { return seen[key][lane]; }, &tile[0][0], packed.value(panel),
                         problem_.value_dim, output);
    }
  }

  void rescale(Scalar* output, const PerLane& factor) const {
    for (Index x = 0; x < problem_.value_dim; ++x)
      for (int lane = 0; lane < Tile::lanes; ++lane) output[x * Tile::lanes + lane] *= factor[lane];
  }

  /// Dropout acts on the weights of the value sum, not on the softmax's own sum.
  void drop(Weights& tile, const LanePlaces<Scalar>& queries, const Place* places) const {
    if (problem_.dropout.rate == 0) return;
    const Index first_query = problem_.query_rows[sequence_].begin,
                first_key = problem_.key_rows[sequence_].begin;
    for (int key = 0; key < Tile::keys; ++key)
      for (int lane = 0; lane < Tile::lanes; ++lane)
        tile[key][lane] *= dropout_(first_query + queries.row[lane], first_key + places[key].row);
  }

  /// Normalises a block and writes it; a query of several items is merged with what is already there.
  void write(const PlanItem& item, const Schedule& schedule, Index block, Index i, bool shared,
             ForwardResult<Scalar>& result) const {
    const Range rows = problem_.query_rows[sequence_];
    const HeadView<Scalar> output = head_view(result.output, sequence_, rows.begin, head_);
    const OnlineSoftmax<Scalar>& softmax = softmax_[std::size_t(i)];
    const Scalar* packed = output_packed_.data() + i * problem_.value_dim * Tile::lanes;
    const QueryBlock& b = schedule.blocks[std::size_t(block)];
    for (int lane = 0; lane < int(b.count); ++lane) {
      if (softmax.empty(lane)) continue;  // the result is zero and -inf from the start
      const Index row = item.queries[b.first + lane];
      Scalar& lse = result.lse(rows.begin + row, head_);
      const Scalar part = softmax.log_sum_exp(lane);
      Scalar before(0), now = Scalar(1) / softmax.sum[lane];
      if (shared) {
        const Scalar whole = log_add(lse, part);
        before = share(lse, whole);
        now *= share(part, whole);
        lse = whole;
      } else {
        lse = part;
      }
      for (Index x = 0; x < problem_.value_dim; ++x) {
        Scalar& o = output(row, x);
        o = shared ? before * o + now * packed[x * Tile::lanes + lane] : now * packed[x * Tile::lanes + lane];
      }
    }
  }

  const Problem<Scalar>& problem_;
  Index sequence_, head_;
  Geometry geometry_;
  Policy policy_;
  DropoutFactor<Scalar> dropout_;
  HeadView<const Scalar> query_, key_, value_;
  std::vector<LanePlaces<Scalar>> places_;
  std::vector<OnlineSoftmax<Scalar>> softmax_;
  Buffer<Scalar> query_packed_, output_packed_;
};

/// The sink of a head takes its share of the softmax and gives no value.
template <class Scalar>
void absorb_sink(const Problem<Scalar>& problem, Index sequence, Index head, Scalar sink,
                 ForwardResult<Scalar>& result) {
  const Range rows = problem.query_rows[sequence];
  const HeadView<Scalar> output = head_view(result.output, sequence, rows.begin, head);
  for (Index row = 0; row < rows.size(); ++row) {
    Scalar& lse = result.lse(rows.begin + row, head);
    const Scalar whole = log_add(lse, sink), kept = share(lse, whole);
    for (Index x = 0; x < problem.value_dim; ++x) output(row, x) *= kept;
    lse = whole;
  }
}

/// output = softmax(score(scale * query key^T), masked) value, and its log-sum-exp, over the plan's tiles.
/// `result.output` holds zeros and `result.lse` -inf when it starts: what rows without keys keep.
template <class Scalar, class Mask, class Score>
void forward(const Problem<Scalar>& problem, const Mask& mask, const Score& score,
             ForwardResult<Scalar> result) {
  const Driver<Scalar, Mask> driver(problem, mask);
  driver.for_each_block_range([&](Index sequence, Index head, Range blocks, bool shared) {
    const Context context = problem.context(sequence, head);
    const auto bound_mask = bind_mask(mask, context);
    const auto bound_score = bind_score<Scalar>(score, context);
    const auto view = lane_view(bound_score);
    using Task =
        ForwardTask<Scalar, std::remove_const_t<decltype(bound_mask)>, std::remove_const_t<decltype(view)>>;
    Task task(problem, sequence, head, {bound_mask, view});
    task.run(driver.plan(sequence, head), driver.schedule(sequence, head), blocks, shared, result);
  });
  using Bound = decltype(bind_score<Scalar>(score, Context{}));
  if constexpr (has_sink<Bound>()) {
    for (Index sequence = 0; sequence < problem.sequences(); ++sequence)
      for (Index head = 0; head < problem.heads; ++head)
        absorb_sink(problem, sequence, head,
                    bind_score<Scalar>(score, problem.context(sequence, head)).sink(), result);
  }
}

}  // namespace headwise::kernel
