#pragma once

#include <headwise/core/instruction_set.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/kernel/problem.hpp>

#include <numeric>
#include <vector>

/// A plan cut to the kernel's tiles: which panels of keys each block of queries must visit, and how.
namespace headwise::kernel {

/// Neighbouring panels of an item's key list that are all tested pair by pair, or all trusted.
struct Segment {
  Index begin = 0, end = 0;  ///< panels
  bool full = false;
};

/// Up to `lanes` queries of one item.
struct QueryBlock {
  Index item = 0;
  Index first = 0;  ///< in the item's query list
  Index count = 0;
  Index segments_begin = 0, segments_end = 0;
};

/// Blocks that must run one after the other, because a query of theirs occurs in several items.
struct BlockGroup {
  Index begin = 0, end = 0;
  bool shared = false;  ///< results are merged; the blocks may not be spread over tasks
};

struct TileCount {
  Index skipped = 0, partial = 0, full = 0;
};

struct Schedule {
  std::vector<QueryBlock> blocks;  ///< ordered by group
  std::vector<Segment> segments;
  std::vector<BlockGroup> groups;
  TileCount tiles;  ///< micro-tiles: one block by one panel
  bool lists_each_query_once = false;

  std::span<const Segment> of(const QueryBlock& block) const noexcept {
    return std::span(segments).subspan(std::size_t(block.segments_begin),
                                       std::size_t(block.segments_end - block.segments_begin));
  }
};

/// The sizes of a micro-tile; the schedule knows nothing else of the kernel.
struct TileSize {
  Index lanes = 0, keys = 0;
};

namespace detail {

/// The sorted runs of several queries, made into the keys that any of them sees and the keys that all see.
template <class File = FileFlags>
struct Spans {
  std::vector<Range> visible, full;

  template <int N>
  void start(const Runs<N>& runs, Range keys) {
    visible.clear();
    for (const Range& r : runs)
      if (const Range kept = intersect(r, keys); !kept.empty()) visible.push_back(kept);
    full = visible;
  }

  template <int N>
  void add(const Runs<N>& runs, Range keys) {
    scratch_.clear();
    for (const Range& r : runs)
      if (const Range kept = intersect(r, keys); !kept.empty()) scratch_.push_back(kept);
    if (scratch_ == visible && visible == full) return;
    unite_visible();
    intersect_full();
  }

 private:
  void unite_visible() {
    merged_.clear();
    std::merge(visible.begin(), visible.end(), scratch_.begin(), scratch_.end(), std::back_inserter(merged_),
               [](Range a, Range b) { return a.begin < b.begin; });
    visible.clear();
    for (const Range& r : merged_) {
      if (!visible.empty() && visible.back().end >= r.begin) {
        visible.back().end = std::max(visible.back().end, r.end);
      } else {
        visible.push_back(r);
      }
    }
  }

  void intersect_full() {
    merged_.clear();
    for (auto a = full.begin(), b = scratch_.begin(); a != full.end() && b != scratch_.end();) {
      if (const Range common = intersect(*a, *b); !common.empty()) merged_.push_back(common);
      (a->end < b->end) ? void(++a) : void(++b);
    }
    full.swap(merged_);
  }

  std::vector<Range> scratch_, merged_;
};

/// Answers, for one block of queries, what a panel of keys is.
template <class Bound, class File = FileFlags>
class PanelJudge {
 public:
  PanelJudge(const Bound& mask, const Geometry& geometry, const PlanItem& item, TileSize size)
      : mask_(mask), geometry_(geometry), item_(item), size_(size) {}

  void start(const QueryBlock& block) {
    block_ = &block;
    if constexpr (has_runs<Bound>()) {
      use_runs_ = geometry_.key_positions.empty() || !runs_read_positions<Bound>();
      if (use_runs_) {
        const Range keys{0, geometry_.k_len};
        for (Index i = 0; i < block.count; ++i) {
          const auto runs = runs_of(mask_, geometry_.query(item_.queries[block.first + i]));
          i == 0 ? spans_.start(runs, keys) : spans_.add(runs, keys);
        }
        return;
      }
    }
    query_rows_ = item_.queries.bounds(block.first, block.first + block.count);
    query_positions_ = query_positions();
  }

  /// What panels [panels.begin, panels.end) are, all together. A panel that is not complete is never full:
  /// its missing keys must be hidden.
  Coverage operator()(Range panels) const {
    const Index begin = panels.begin * size_.keys, end = std::min(panels.end * size_.keys, item_.keys.size());
    const Range keys = item_.keys.bounds(begin, end);
    const Coverage coverage = use_runs_ ? by_runs(keys) : coverage_of(mask_, tile(begin, end, keys));
    return coverage == Coverage::full && end < panels.end * size_.keys ? Coverage::partial : coverage;
  }

 private:
  Coverage by_runs(Range keys) const {
    const auto ends_after = [](Range r, Index i) { return r.end <= i; };
    const auto v = std::lower_bound(spans_.visible.begin(), spans_.visible.end(), keys.begin, ends_after);
    if (v == spans_.visible.end() || v->begin >= keys.end) return Coverage::none;
    const auto f = std::lower_bound(spans_.full.begin(), spans_.full.end(), keys.begin, ends_after);
    return f != spans_.full.end() && f->contains(keys) ? Coverage::full : Coverage::partial;
  }

  Range query_positions() const {
    if (geometry_.query_positions.empty())
      return {query_rows_.begin + geometry_.query_offset, query_rows_.end + geometry_.query_offset};
    Range r{every_key.end, every_key.begin};
    for (Index i = 0; i < block_->count; ++i) {
      const Index p = geometry_.query(item_.queries[block_->first + i]).position;
      r = {std::min(r.begin, p), std::max(r.end, p + 1)};
    }
    return r;
  }

  PlaceTile tile(Index begin, Index end, Range keys) const {
    Range positions = keys;
    if (!geometry_.key_positions.empty()) {
      positions = {every_key.end, every_key.begin};
      for (Index i = begin; i < end; ++i) {
        const Index p = geometry_.key(item_.keys[i]).position;
        positions = {std::min(positions.begin, p), std::max(positions.end, p + 1)};
      }
    }
    return {{query_positions_, positions}, {query_rows_, keys}};
  }

  const Bound& mask_;
  const Geometry& geometry_;
  const PlanItem& item_;
  TileSize size_;
  const QueryBlock* block_ = nullptr;
  bool use_runs_ = false;
  Spans<File> spans_;
  Range query_rows_, query_positions_;
};

/// Items that share a query, directly or through others, get one number.
template <class File = FileFlags>
std::vector<Index> components(const Plan& plan, Index q_len) {
  std::vector<Index> parent(plan.items.size());
  std::iota(parent.begin(), parent.end(), Index(0));
  const auto root = [&](Index i) {
    while (parent[std::size_t(i)] != i) i = parent[std::size_t(i)];
    return i;
  };
  if (plan.items.size() > 1) {
    std::vector<Index> owner(std::size_t(q_len), -1);
    for (std::size_t i = 0; i < plan.items.size(); ++i) {
      for (Index j = 0; j < plan.items[i].queries.size(); ++j) {
        Index& first = owner[std::size_t(plan.items[i].queries[j])];
        if (first < 0) {
          first = Index(i);
        } else {
          const Index a = root(first), b = root(Index(i));
          parent[std::size_t(std::max(a, b))] = std::min(a, b);
        }
      }
    }
  }
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = root(Index(i));
  return parent;
}

/// Appends panels, joined to the block's last segment where they continue it.
inline void append(Schedule& schedule, const QueryBlock& block, Range panels, bool full) {
  (full ? schedule.tiles.full : schedule.tiles.partial) += panels.size();
  const bool joins = Index(schedule.segments.size()) > block.segments_begin &&
                     schedule.segments.back().end == panels.begin && schedule.segments.back().full == full;
  if (joins) {
    schedule.segments.back().end = panels.end;
  } else {
    schedule.segments.push_back({panels.begin, panels.end, full});
  }
}

/// Appends what matters of these panels. Halves that are all hidden or all visible are settled by one
/// question, so a block costs O(segments * log(panels)).
template <class Bound, class File>
void add_visible(Schedule& schedule, const QueryBlock& block, const PanelJudge<Bound, File>& judge,
                 Range panels) {
  if (panels.empty()) return;
  const Coverage coverage = judge(panels);
  if (coverage == Coverage::none) {
    schedule.tiles.skipped += panels.size();
  } else if (coverage == Coverage::full || panels.size() == 1) {
    append(schedule, block, panels, coverage == Coverage::full);
  } else {
    const Index middle = panels.begin + panels.size() / 2;
    add_visible(schedule, block, judge, {panels.begin, middle});
    add_visible(schedule, block, judge, {middle, panels.end});
  }
}

/// Appends the block's segments: panels that nobody sees are left out.
template <class Bound, class File>
void add_segments(Schedule& schedule, QueryBlock& block, PanelJudge<Bound, File>& judge, Index panels) {
  judge.start(block);
  block.segments_begin = Index(schedule.segments.size());
  add_visible(schedule, block, judge, {0, panels});
  block.segments_end = Index(schedule.segments.size());
}

}  // namespace detail

/// Cuts a plan into blocks and segments for one bound mask. Cost: O(rows + visited tiles) with runs over
/// contiguous keys, else O(blocks * panels). Shared by all heads unless the mask tells heads apart.
template <class Bound, class File = FileFlags>
Schedule make_schedule(const Plan& plan, const Bound& mask, const Geometry& geometry, TileSize size) {
  Schedule schedule;
  const std::vector<Index> component = detail::components<File>(plan, geometry.q_len);
  Index listed = 0;
  bool any_shared = false;
  for (std::size_t root = 0; root < plan.items.size(); ++root) {
    if (component[root] != Index(root)) continue;
    const Index first_block = Index(schedule.blocks.size());
    Index items = 0;
    for (std::size_t i = root; i < plan.items.size(); ++i) {
      if (component[i] != Index(root)) continue;
      ++items;
      const PlanItem& item = plan.items[i];
      const Index panels = (item.keys.size() + size.keys - 1) / size.keys;
      detail::PanelJudge<Bound, File> judge(mask, geometry, item, size);
      for (Index first = 0; first < item.queries.size(); first += size.lanes) {
        QueryBlock block{Index(i), first, std::min(size.lanes, item.queries.size() - first), 0, 0};
        detail::add_segments(schedule, block, judge, panels);
        schedule.blocks.push_back(block);
      }
    }
    schedule.groups.push_back({first_block, Index(schedule.blocks.size()), items > 1});
    listed += plan.items[root].queries.size();
    any_shared |= items > 1;
  }
  schedule.lists_each_query_once = !any_shared && listed == geometry.q_len;
  return schedule;
}

/// The panels of `chunk` that any of the blocks visits.
template <class File = FileFlags>
Range visited_panels(const Schedule& schedule, Range blocks, Range chunk) noexcept {
  Range visited{chunk.end, chunk.begin};
  for (Index b = blocks.begin; b < blocks.end; ++b) {
    for (const Segment& s : schedule.of(schedule.blocks[std::size_t(b)])) {
      const Range common = intersect({s.begin, s.end}, chunk);
      if (common.empty()) continue;
      visited = {std::min(visited.begin, common.begin), std::max(visited.end, common.end)};
    }
  }
  return visited.empty() ? Range{} : visited;
}

/// The first to the last of the blocks that visit any of these panels.
template <class File = FileFlags>
Range visiting_blocks(const Schedule& schedule, Range blocks, Range panels) noexcept {
  const auto visits = [&](Index b) { return !visited_panels(schedule, {b, b + 1}, panels).empty(); };
  while (!blocks.empty() && !visits(blocks.begin)) ++blocks.begin;
  while (!blocks.empty() && !visits(blocks.end - 1)) --blocks.end;
  return blocks;
}

}  // namespace headwise::kernel
