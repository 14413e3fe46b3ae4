#pragma once

#include <headwise/kernel/fused_attention.hpp>
#include <headwise/kernel/learned_sums.hpp>

#include <optional>
#include <vector>

/// The adjoint of the forward kernel, over the same tiles. With P = exp(score - lse) recomputed,
///
///     D_i = output_i . d_output_i - d_lse_i
///     dV += P^T dO        dP = dO V^T        dS = P (dP - D)        (dS through the score policies)
///     dQ += dS K          dK += dS^T Q       (both times the scale)
///
/// Dropout multiplies P in dV, and dP, by the factor that forward used.
namespace headwise::kernel {

/// What backward reads besides the problem, and where it writes. Gradients start at zero.
template <class Scalar>
struct BackwardTerms {
  Operand<const Scalar> output, d_output;
  ConstMatrixRef<Scalar> lse;
  ConstMatrixRef<Scalar> d_lse;  ///< [q_rows, heads], or empty: zero
  Operand<Scalar> d_query, d_key, d_value;
};

/// Everything that backward keeps of one block of queries, packed.
template <class Scalar>
struct BackwardBlock {
  using Tile = MicroTile<Scalar>;
  using PerLane = typename Tile::template PerLane<Scalar>;

  LanePlaces<Scalar> places;
  Scalar* query = nullptr;          ///< [head_dim][lanes], times scale
  Scalar* query_rows = nullptr;     ///< [lanes][padded head_dim], times scale
  Scalar* d_output = nullptr;       ///< [value_dim][lanes]
  Scalar* d_output_rows = nullptr;  ///< [lanes][padded value_dim]
  Scalar* d_query = nullptr;        ///< [head_dim][lanes]
  alignas(64) PerLane lse, mean;    ///< lse is 0 for a row without keys; mean is D
  bool finite = false;              ///< of query and d_output
};

/// One query head of one sequence: all its blocks against all its keys, a chunk of keys at a time.
template <class Scalar, class Mask, class Score>
class BackwardHead {
 public:
  using Tile = MicroTile<Scalar>;
  using Policy = TilePolicy<Scalar, Mask, Score>;
  using Weights = typename Policy::Scores;
  using Block = BackwardBlock<Scalar>;
  using Sums = LearnedSums<Scalar, Score>;

  BackwardHead(const Problem<Scalar>& problem, const BackwardTerms<Scalar>& terms, Index sequence, Index head,
               const Policy& policy, Sums& sums)
      : problem_(problem),
        terms_(terms),
        sequence_(sequence),
        head_(head),
        geometry_(problem.geometry(sequence)),
        policy_(policy),
        sums_(sums),
        dropout_(problem.dropout, head),
        first_query_(problem.query_rows[sequence].begin),
        first_key_(problem.key_rows[sequence].begin),
        dim_(problem.head_dim),
        value_dim_(problem.value_dim) {}

  void run(const Plan& plan, const Schedule& schedule) {
    const Index blocks = Index(schedule.blocks.size());
    for (Index begin = 0; begin < blocks;) {
      const Index item = schedule.blocks[std::size_t(begin)].item;
      Index end = begin;
      while (end < blocks && schedule.blocks[std::size_t(end)].item == item) ++end;
      run_item(plan.items[std::size_t(item)], schedule, {begin, end});
      begin = end;
    }
  }

 private:
  /// Keys outside: gradients of this many panels stay in the second-level cache while all queries pass.
  static constexpr Index chunk_panels = 192 / Tile::keys;

  void run_item(const PlanItem& item, const Schedule& schedule, Range blocks) {
    const Index panels = (item.keys.size() + Tile::keys - 1) / Tile::keys;
    const Range needed = visited_panels(schedule, blocks, {0, panels});
    if (needed.empty()) return;
    prepare(item, schedule, blocks);
    const HeadView<const Scalar> key =
        head_view(problem_.key, sequence_, first_key_, problem_.kv_head(head_));
    const HeadView<const Scalar> value =
        head_view(problem_.value, sequence_, first_key_, problem_.kv_head(head_));
    PackedKeys<Scalar> packed(dim_, value_dim_, chunk_panels);
    d_key_ = Buffer<Scalar>(chunk_panels * Tile::keys * padded<Scalar>(dim_));
    d_value_ = Buffer<Scalar>(chunk_panels * Tile::keys * padded<Scalar>(value_dim_));
    for (Index begin = needed.begin; begin < needed.end; begin += chunk_panels) {
      const Range chunk =
          visited_panels(schedule, blocks, {begin, std::min(begin + chunk_panels, needed.end)});
      if (chunk.empty()) continue;
      packed.pack(key, value, geometry_, item.keys, chunk);
      d_key_.fill(Scalar(0));
      d_value_.fill(Scalar(0));
      for (Index i = 0; i < blocks.size(); ++i)
        run_chunk(schedule, blocks.begin + i, blocks_[std::size_t(i)], packed, chunk);
      add_key_gradients(packed, chunk);
    }
    for (Index i = 0; i < blocks.size(); ++i) add_query_gradients(blocks_[std::size_t(i)]);
  }

  /// Packs queries and upstream gradients, and computes D of every row.
  void prepare(const PlanItem& item, const Schedule& schedule, Range blocks) {
    const Index per_block =
        Tile::lanes * (2 * dim_ + padded<Scalar>(dim_) + value_dim_ + padded<Scalar>(value_dim_));
    packed_ = Buffer<Scalar>(per_block * blocks.size());
    blocks_.resize(std::size_t(blocks.size()));
    const HeadView<const Scalar> query = head_view(problem_.query, sequence_, first_query_, head_);
    const HeadView<const Scalar> d_output = head_view(terms_.d_output, sequence_, first_query_, head_);
    for (Index i = 0; i < blocks.size(); ++i) {
      Block& b = blocks_[std::size_t(i)];
      b.places.set(geometry_, item.queries, schedule.blocks[std::size_t(blocks.begin + i)]);
      // Rows first: their size is a multiple of the register, so that every part stays aligned.
      b.query_rows = packed_.data() + i * per_block;
      b.d_output_rows = b.query_rows + Tile::lanes * padded<Scalar>(dim_);
      b.query = b.d_output_rows + Tile::lanes * padded<Scalar>(value_dim_);
      b.d_query = b.query + Tile::lanes * dim_;
      b.d_output = b.d_query + Tile::lanes * dim_;
      pack_lanes(query, b.places, dim_, problem_.scale, b.query);
      pack_rows(query, b.places, dim_, problem_.scale, b.query_rows);
      pack_lanes(d_output, b.places, value_dim_, Scalar(1), b.d_output);
      pack_rows(d_output, b.places, value_dim_, Scalar(1), b.d_output_rows);
      std::fill_n(b.d_query, Tile::lanes * dim_, Scalar(0));
      b.finite = all_finite(b.query, Tile::lanes * dim_) && all_finite(b.d_output, Tile::lanes * value_dim_);
      set_row_terms(b);
    }
  }

  void set_row_terms(Block& b) {
    const HeadView<const Scalar> output = head_view(terms_.output, sequence_, first_query_, head_);
    for (int lane = 0; lane < Tile::lanes; ++lane) {
      b.lse[lane] = b.mean[lane] = Scalar(0);
      if (lane >= b.places.count) continue;
      const Index row = b.places.row[lane];
      const Scalar lse = terms_.lse(first_query_ + row, head_);
      if (!is_seen(lse)) continue;
      b.lse[lane] = lse;
      for (Index x = 0; x < value_dim_; ++x)
        b.mean[lane] += output(row, x) * b.d_output[x * Tile::lanes + lane];
      if (terms_.d_lse.size() > 0) b.mean[lane] -= terms_.d_lse(first_query_ + row, head_);
    }
  }

  void run_chunk(const Schedule& schedule, Index block, Block& b, const PackedKeys<Scalar>& packed,
                 Range chunk) {
    for (const Segment& segment : schedule.of(schedule.blocks[std::size_t(block)])) {
      const Range panels = intersect({segment.begin, segment.end}, chunk);
      for (Index panel = panels.begin; panel < panels.end; ++panel)
        step(b, packed, panel, panel - chunk.begin, segment.full);
    }
  }

  /// One micro-tile: the mirror of ForwardTask::step.
  void step(Block& b, const PackedKeys<Scalar>& packed, Index panel, Index slot, bool full) {
    alignas(64) Weights scores;
    alignas(64) Weights weights;
    alignas(64) Weights gradient;
    multiply_scores(b.query, packed.key(panel), dim_, &scores[0][0]);
    [[maybe_unused]] Weights raw;
    if constexpr (!is_identity<Score>()) std::copy_n(&scores[0][0], Tile::keys * Tile::lanes, &raw[0][0]);
    const bool plain = Policy::is_plain(b.places, packed, full);
    if (plain) {
      policy_.apply_plain(scores, b.places, packed.places(panel));
    } else {
      policy_.apply_tested(scores, b.places, packed.places(panel), packed.count(panel), full);
    }
    multiply_scores(b.d_output, packed.value(panel), value_dim_, &gradient[0][0]);
    weigh(b, scores, packed.places(panel), weights, gradient);
    if constexpr (!is_identity<Score>()) {
      policy_.pull_back(raw, scores, gradient, b.places, packed.places(panel),
                        [&](int key, int, Place query, const auto& numbers) {
                          sums_.add(query, packed.places(panel)[key], numbers);
                        });
    }
    accumulate(b, packed, panel, slot, scores, weights, gradient);
  }

  /// weights = exp(scores - lse); gradient (dP on entry) = weights * (dP - D). Hidden pairs have neither.
  void weigh(const Block& b, const Weights& scores, const Place* places, Weights& weights,
             Weights& gradient) const {
    typename Tile::template PerLane<Scalar> lse, mean;
    std::copy_n(b.lse, Tile::lanes, lse);
    std::copy_n(b.mean, Tile::lanes, mean);
    const bool drops = problem_.dropout.rate != 0;
    for (int key = 0; key < Tile::keys; ++key) {
      for (int lane = 0; lane < Tile::lanes; ++lane)
        weights[key][lane] = math::exp(scores[key][lane] - lse[lane]);
      if (drops) {
        for (int lane = 0; lane < Tile::lanes; ++lane) {
          const Scalar kept = dropout_(first_query_ + b.places.row[lane], first_key_ + places[key].row);
          gradient[key][lane] = weights[key][lane] * (kept * gradient[key][lane] - mean[lane]);
          weights[key][lane] *= kept;
        }
      } else {
        for (int lane = 0; lane < Tile::lanes; ++lane)
          gradient[key][lane] = weights[key][lane] * (gradient[key][lane] - mean[lane]);
      }
      for (int lane = 0; lane < Tile::lanes; ++lane)
        gradient[key][lane] = math::select(is_seen(scores[key][lane]), gradient[key][lane], Scalar(0));
    }
  }

  void accumulate(Block& b, const PackedKeys<Scalar>& packed, Index panel, Index slot, const Weights& scores,
                  const Weights& weights, const Weights& gradient) {
    const Index size = padded<Scalar>(dim_), value_size = padded<Scalar>(value_dim_);
    Scalar* d_key = d_key_.data() + slot * Tile::keys * size;
    Scalar* d_value = d_value_.data() + slot * Tile::keys * value_size;
    if (b.finite && packed.finite(panel)) {
      add_outer(&weights[0][0], b.d_output_rows, value_size, d_value);
      add_outer(&gradient[0][0], b.query_rows, size, d_key);
      add_weighted(&gradient[0][0], packed.key(panel), dim_, b.d_query);
      return;
    }
    const auto seen = [&](int key, int lane) { return lane < b.places.count && is_seen(scores[key][lane]); };
    add_outer_where(seen, &weights[0][0], b.d_output_rows, value_size, d_value);
    add_outer_where(seen, &gradient[0][0], b.query_rows, size, d_key);
    add_weighted_where(seen, &gradient[0][0], packed.key(panel), dim_, b.d_query);
  }

  /// add_outer for blocks that hold a NaN or an infinity, which a weight of zero would not silence.
  template <class Seen>
  static void add_outer_where(const Seen& seen, const Scalar* weight, const Scalar* rows, Index row_size,
                              Scalar* out) {
    for (int key = 0; key < Tile::keys; ++key) {
      for (int lane = 0; lane < Tile::lanes; ++lane) {
        if (!seen(key, lane)) continue;
        for (Index x = 0; x < row_size; ++x)
          out[key * row_size + x] += weight[key * Tile::lanes + lane] * rows[lane * row_size + x];
      }
    }
  }

  void add_key_gradients(const PackedKeys<Scalar>& packed, Range chunk) {
    const Index kv_head = problem_.kv_head(head_);
    const HeadView<Scalar> d_key = head_view(terms_.d_key, sequence_, first_key_, kv_head);
    const HeadView<Scalar> d_value = head_view(terms_.d_value, sequence_, first_key_, kv_head);
    for (Index panel = chunk.begin; panel < chunk.end; ++panel) {
      for (int i = 0; i < packed.count(panel); ++i) {
        const Index row = packed.places(panel)[i].row, slot = (panel - chunk.begin) * Tile::keys + i;
        const Scalar* k = d_key_.data() + slot * padded<Scalar>(dim_);
        const Scalar* v = d_value_.data() + slot * padded<Scalar>(value_dim_);
        for (Index x = 0; x < dim_; ++x) d_key(row, x) += k[x];
        for (Index x = 0; x < value_dim_; ++x) d_value(row, x) += v[x];
      }
    }
  }

  void add_query_gradients(const Block& b) {
    const HeadView<Scalar> d_query = head_view(terms_.d_query, sequence_, first_query_, head_);
    for (int lane = 0; lane < b.places.count; ++lane)
      for (Index x = 0; x < dim_; ++x)
        d_query(b.places.row[lane], x) += problem_.scale * b.d_query[x * Tile::lanes + lane];
  }

  const Problem<Scalar>& problem_;
  const BackwardTerms<Scalar>& terms_;
  Index sequence_, head_;
  Geometry geometry_;
  Policy policy_;
  Sums& sums_;
  DropoutFactor<Scalar> dropout_;
  Index first_query_, first_key_, dim_, value_dim_;
  std::vector<Block> blocks_;
  Buffer<Scalar> packed_, d_key_, d_value_;
};

/// d sink = sum over rows of exp(sink - lse) * (0 - D): the sink has weight but no value.
template <class Scalar>
Scalar sink_gradient(const Problem<Scalar>& problem, const BackwardTerms<Scalar>& terms, Index sequence,
                     Index head, Scalar sink) {
  const Range rows = problem.query_rows[sequence];
  const HeadView<const Scalar> output = head_view(terms.output, sequence, rows.begin, head);
  const HeadView<const Scalar> d_output = head_view(terms.d_output, sequence, rows.begin, head);
  Scalar sum(0);
  for (Index row = 0; row < rows.size(); ++row) {
    Scalar mean(0);
    for (Index x = 0; x < problem.value_dim; ++x) mean += output(row, x) * d_output(row, x);
    if (terms.d_lse.size() > 0) mean -= terms.d_lse(rows.begin + row, head);
    sum -= share(sink, terms.lse(rows.begin + row, head)) * mean;
  }
  return sum;
}

/// Adds the gradients of sum(output * d_output) + sum(lse * d_lse) to the terms' gradients and to `learned`,
/// one matrix for each operand of the score, in its order.
template <class Scalar, class Mask, class Score>
void backward(const Problem<Scalar>& problem, const Mask& mask, const Score& score,
              const BackwardTerms<Scalar>& terms, std::span<Matrix<Scalar>> learned) {
  using BoundMask = std::remove_const_t<decltype(bind_mask(mask, Context{}))>;
  using BoundScore = std::remove_const_t<decltype(bind_score<Scalar>(score, Context{}))>;
  using View = std::remove_const_t<decltype(lane_view(std::declval<const BoundScore&>()))>;
  using Sums = LearnedSums<Scalar, View>;
  constexpr bool per_pair = has_learned<View>(Learned::per_pair);

  const Driver<Scalar, Mask> driver(problem, mask);
  std::vector<std::optional<Sums>> sums(std::size_t(problem.sequences() * problem.heads));
  driver.for_each_kv_head(per_pair, [&](Index sequence, Index kv_head) {
    const Index group = problem.heads / problem.kv_heads;
    for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      const Context context = problem.context(sequence, head);
      const BoundScore bound = bind_score<Scalar>(score, context);
      std::array<PairSlot<Scalar>, Sums::count> slots{};
      if constexpr (per_pair) {
        for (std::size_t n = 0; n < Sums::count; ++n)
          if (Sums::kinds[n] == Learned::per_pair) slots[n] = bound.pair_slot(n, learned);
      }
      Sums& own = sums[std::size_t(sequence * problem.heads + head)].emplace(context, slots);
      BackwardHead<Scalar, BoundMask, View> task(problem, terms, sequence, head,
                                                 {bind_mask(mask, context), lane_view(bound)}, own);
      task.run(driver.plan(sequence, head), driver.schedule(sequence, head));
      if constexpr (has_sink<BoundScore>())
        own.add_to_sink(sink_gradient(problem, terms, sequence, head, bound.sink()));
    }
  });
  if constexpr (Sums::count > 0) {
    for (Index sequence = 0; sequence < problem.sequences(); ++sequence) {
      for (Index head = 0; head < problem.heads; ++head) {
        const auto own = sums[std::size_t(sequence * problem.heads + head)]->sums();
        bind_score<Scalar>(score, problem.context(sequence, head)).fold(std::span(own), learned);
      }
    }
  }
}

}  // namespace headwise::kernel
