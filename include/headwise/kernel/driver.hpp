#pragma once

#include <headwise/core/mask_queries.hpp>
#include <headwise/kernel/schedule.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace headwise::kernel {

/// Blocks of queries of one head of one sequence, to be run by one thread.
struct BlockRange {
  Index sequence = 0, head = 0;
  Range blocks;
  bool shared = false;  ///< blocks meet in a query: results are merged
  Index cost = 0;       ///< micro-tiles
};

/// The one loop over sequences, heads and blocks of queries. It cuts a call into tasks in a way that knows
/// nothing of threads, and hands them to the executor, the longest first.
template <class Scalar, class File = FileFlags>
class Driver {
 public:
  /// Makes the schedules: one a sequence, and one a head where mask or plans tell heads apart.
  template <class Mask>
  Driver(const Problem<Scalar>& problem, const Mask& mask, TileSize size) : problem_(problem), size_(size) {
    const bool per_head = depends_on_head<Mask>() || (problem.plans != nullptr && problem.plans->heads > 1);
    scheduled_heads_ = per_head ? problem.heads : 1;
    for (Index sequence = 0; sequence < problem.sequences(); ++sequence) {
      const Geometry geometry = problem.geometry(sequence);
      Plan dense;
      if (problem.plans == nullptr) dense = Plan::dense(geometry.q_len, geometry.k_len);
      for (Index head = 0; head < scheduled_heads_; ++head) {
        const Plan& plan = problem.plans == nullptr ? dense : problem.plans->at(sequence, head);
        schedules_.push_back(
            make_schedule(plan, bind_mask(mask, problem.context(sequence, head)), geometry, size));
      }
      if (problem.plans == nullptr) dense_.push_back(std::move(dense));
    }
  }

  const Schedule& schedule(Index sequence, Index head) const {
    return schedules_[std::size_t(sequence * scheduled_heads_ + (scheduled_heads_ == 1 ? 0 : head))];
  }
  const Plan& plan(Index sequence, Index head) const {
    return problem_.plans == nullptr ? dense_[std::size_t(sequence)] : problem_.plans->at(sequence, head);
  }

  /// Zeros where blocks do not write, or add to what others wrote: outputs of queries that a plan leaves out,
  /// or lists in several items.
  void clear_unwritten(const ForwardResult<Scalar>& result) const {
    for (Index sequence = 0; sequence < problem_.sequences(); ++sequence) {
      const Range rows = problem_.query_rows[sequence];
      for (Index head = 0; head < problem_.heads; ++head) {
        if (!schedule(sequence, head).lists_each_query_once)
          clear_rows(head_view(result.output, sequence, rows.begin, head), rows.size(), problem_.value_dim);
      }
    }
  }

  /// body(range) for ranges of blocks that together are all blocks. Blocks of one range read the same packed
  /// keys in turn; shared ranges hold all blocks that meet in a query.
  template <class Body>
  void for_each_block_range(Body&& body) const {
    const std::vector<BlockRange> ranges = block_ranges();
    Index total = 0;
    for (const BlockRange& range : ranges) total += range.cost;
    executor_for(total)(Index(ranges.size()), [&](Index i) { body(ranges[std::size_t(i)]); });
  }

  /// Backward's unit is a key-value head, because all query heads of the group add to its gradients. Where
  /// there are fewer than a machine has cores, the keys of each are cut into parts, of as many keys as repay
  /// packing the queries again. A plan's items may share keys and stay whole.
  Index key_parts() const {
    if (problem_.plans != nullptr) return 1;
    Index longest = 0;
    for (Index sequence = 0; sequence < problem_.sequences(); ++sequence)
      longest = std::max(longest, problem_.key_rows[sequence].size());
    const Index units = std::max<Index>(1, problem_.sequences() * problem_.kv_heads);
    return std::clamp<Index>(std::min(units_wanted / units, longest / keys_worth_packing), 1, units_wanted);
  }

  /// body(sequence, kv_head, part) for every part of every key-value head. `ordered` keeps them serial, for
  /// sums that are shared between heads.
  template <class Body>
  void for_each_kv_head(bool ordered, Index parts, Body&& body) const {
    Index total = 0;
    for (Index sequence = 0; sequence < problem_.sequences(); ++sequence) {
      const Schedule& s = schedule(sequence, 0);
      total += problem_.heads * cost(s, {0, Index(s.blocks.size())});
    }
    const Executor executor = ordered ? Executor() : executor_for(total);
    executor(problem_.sequences() * problem_.kv_heads * parts, [&](Index i) {
      const Index unit = i / parts;
      body(unit / problem_.kv_heads, unit % problem_.kv_heads, i % parts);
    });
  }

 private:
  /// Enough tasks for any machine's cores to share evenly, of enough blocks each to be worth packing their
  /// keys.
  static constexpr Index tasks_wanted = 64, blocks_worth_packing = 16, blocks_in_cache = 32;
  static constexpr Index units_wanted = 8, keys_worth_packing = 1024;
  /// About a millisecond of one core: below it, waking threads costs more than it brings.
  static constexpr double serial_flops = 5e7;

  std::vector<BlockRange> block_ranges() const {
    std::vector<BlockRange> ranges;
    const Index per_task = blocks_per_task();
    for (Index sequence = 0; sequence < problem_.sequences(); ++sequence) {
      for (Index head = 0; head < problem_.heads; ++head) {
        const Schedule& s = schedule(sequence, head);
        const auto add = [&](Range blocks, bool shared) {
          if (!blocks.empty()) ranges.push_back({sequence, head, blocks, shared, cost(s, blocks)});
        };
        Range alone;  // blocks that meet no others, of any number of items
        for (const BlockGroup& group : s.groups) {
          if (group.shared) {
            cut(s, alone, per_task, add);
            add({group.begin, group.end}, true);
            alone.begin = group.end;
          }
          alone.end = group.end;
        }
        cut(s, alone, per_task, add);
      }
    }
    // Among equals heads come next to each other: their rows share pages, whose addresses are dear to look
    // up.
    std::stable_sort(ranges.begin(), ranges.end(), [](const BlockRange& a, const BlockRange& b) {
      return std::tuple(-a.cost, a.sequence, a.blocks.begin) <
             std::tuple(-b.cost, b.sequence, b.blocks.begin);
    });
    return ranges;
  }

  /// Cuts blocks into tasks, between items where it can: both sides of a cut item pack its keys.
  template <class Add>
  static void cut(const Schedule& s, Range blocks, Index per_task, const Add& add) {
    const auto item = [&](Index block) { return s.blocks[std::size_t(block)].item; };
    for (Index begin = blocks.begin, end; begin < blocks.end; begin = end) {
      end = std::min(begin + per_task, blocks.end);
      if (end < blocks.end && item(begin) != item(end))
        while (item(end - 1) == item(end)) --end;
      add({begin, end}, false);
    }
  }

  /// A serial call packs every head's keys once, unless a block sees few of them: then neighbours share what
  /// they pack, and the fewer they are, the more of their rows stay in the caches until the next head reads
  /// the same pages. The results are the same for any cut.
  Index blocks_per_task() const {
    Index blocks = 0, visited = 0, panels = 0;
    for (Index sequence = 0; sequence < problem_.sequences(); ++sequence) {
      const Schedule& s = schedule(sequence, 0);
      const Index own = Index(s.blocks.size());
      blocks += own;
      visited += cost(s, {0, own});
      panels += own * (problem_.key_rows[sequence].size() / size_.keys + 1);
    }
    const bool sees_few = visited < panels / 8;
    if (sees_few) return blocks_worth_packing;
    if (!problem_.executor) return std::max<Index>(1, blocks);
    return std::clamp(problem_.heads * blocks / tasks_wanted, blocks_worth_packing, blocks_in_cache);
  }

  static Index cost(const Schedule& s, Range blocks) {
    Index panels = 0;
    for (Index b = blocks.begin; b < blocks.end; ++b)
      for (const Segment& segment : s.of(s.blocks[std::size_t(b)])) panels += segment.end - segment.begin;
    return panels;
  }

  Executor executor_for(Index panels) const {
    const double flops =
        2.0 * double(panels * size_.lanes * size_.keys) * double(problem_.head_dim + problem_.value_dim);
    return flops < serial_flops ? Executor() : problem_.executor;
  }

  const Problem<Scalar>& problem_;
  TileSize size_;
  Index scheduled_heads_ = 1;
  std::vector<Schedule> schedules_;
  std::vector<Plan> dense_;
};

}  // namespace headwise::kernel
