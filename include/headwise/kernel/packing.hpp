#pragma once

#include <headwise/core/buffer.hpp>
#include <headwise/kernel/problem.hpp>
#include <headwise/kernel/schedule.hpp>
#include <headwise/kernel/tile_products.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

/// Copies of queries and keys in the order in which the tile products read them. Any strides go in; rows that
/// the plan gathers from anywhere lie side by side when they come out.
namespace headwise::kernel {

/// One head of one sequence of an operand: row i, column x is data[i * row_stride + x * column_stride].
template <class Element>
struct HeadView {
  Element* data = nullptr;
  Index row_stride = 0, column_stride = 1;

  Element& operator()(Index row, Index column) const noexcept {
    return data[row * row_stride + column * column_stride];
  }
};

template <class Element>
HeadView<Element> head_view(const Operand<Element>& operand, Index sequence, Index first_row,
                            Index head) noexcept {
  return {operand.at(sequence, first_row, head), operand.row_stride, operand.column_stride};
}

/// The places of one block of queries, one a lane; lanes past the end repeat the last query, so that no
/// policy is ever asked about a row that does not exist.
template <class Scalar>
struct LanePlaces {
  static constexpr int lanes = MicroTile<Scalar>::lanes;

  typename MicroTile<Scalar>::template PerLane<Position> position, row;
  int count = 0;
  bool affine = false;  ///< position and row grow by one from lane to lane

  void set(const Geometry& geometry, const RowList& queries, const QueryBlock& block) noexcept {
    count = int(block.count);
    for (int lane = 0; lane < lanes; ++lane) {
      const Place place = geometry.query(queries[block.first + std::min(lane, count - 1)]);
      position[lane] = place.position;
      row[lane] = place.row;
    }
    affine = queries.is_contiguous() && geometry.query_positions.empty() && count == lanes;
  }
};

/// packed[x][lane] = factor * rows(lane's row, x); lanes past the end are zero.
template <class Scalar>
void pack_lanes(HeadView<const Scalar> from, const LanePlaces<Scalar>& places, Index dim, Scalar factor,
                Scalar* packed) {
  constexpr int lanes = MicroTile<Scalar>::lanes;
  if (places.count < lanes) std::fill_n(packed, dim * lanes, Scalar(0));
  for (int lane = 0; lane < places.count; ++lane) {
    const Scalar* row = &from(places.row[lane], 0);
    for (Index x = 0; x < dim; ++x) packed[x * lanes + lane] = factor * row[x * from.column_stride];
  }
}

/// packed[lane][x] = factor * rows(lane's row, x), each row padded with zeros to whole registers.
template <class Scalar>
void pack_rows(HeadView<const Scalar> from, const LanePlaces<Scalar>& places, Index dim, Scalar factor,
               Scalar* packed) {
  constexpr int lanes = MicroTile<Scalar>::lanes;
  const Index size = padded<Scalar>(dim);
  std::fill_n(packed, size * lanes, Scalar(0));
  for (int lane = 0; lane < places.count; ++lane) {
    const Scalar* row = &from(places.row[lane], 0);
    for (Index x = 0; x < dim; ++x) packed[lane * size + x] = factor * row[x * from.column_stride];
  }
}

template <class Scalar>
bool all_finite(const Scalar* begin, Index size) noexcept {
  // x - x is 0 for finite x, NaN else; the sum of many is NaN as soon as one is.
  Scalar sum(0);
  for (Index i = 0; i < size; ++i) sum += begin[i] - begin[i];
  return sum == Scalar(0);
}

/// A run of panels of an item's key list: keys and values as [dim][keys], and each key's place.
template <class Scalar>
class PackedKeys {
 public:
  static constexpr int keys = MicroTile<Scalar>::keys;

  PackedKeys(Index head_dim, Index value_dim, Index capacity)
      : head_dim_(head_dim),
        value_dim_(value_dim),
        key_(capacity * head_dim * keys),
        value_(capacity * value_dim * keys),
        places_(std::size_t(capacity * keys)),
        finite_(std::size_t(capacity)) {}

  /// Packs panels [panels.begin, panels.end) of `list`; missing keys of the last one are zero.
  void pack(HeadView<const Scalar> key, HeadView<const Scalar> value, const Geometry& geometry,
            const RowList& list, Range panels) {
    panels_ = panels;
    list_size_ = list.size();
    affine_ = list.is_contiguous() && geometry.key_positions.empty();
    for (Index panel = panels.begin; panel < panels.end; ++panel) {
      Place* places = places_.data() + slot(panel) * keys;
      const int present = count(panel);
      for (int i = 0; i < keys; ++i) places[i] = geometry.key(list[panel * keys + std::min(i, present - 1)]);
      Scalar* k = key_.data() + slot(panel) * head_dim_ * keys;
      Scalar* v = value_.data() + slot(panel) * value_dim_ * keys;
      pack_panel(key, places, present, head_dim_, k);
      pack_panel(value, places, present, value_dim_, v);
      finite_[std::size_t(slot(panel))] = all_finite(k, head_dim_ * keys) && all_finite(v, value_dim_ * keys);
    }
  }

  const Scalar* key(Index panel) const noexcept { return key_.data() + slot(panel) * head_dim_ * keys; }
  const Scalar* value(Index panel) const noexcept { return value_.data() + slot(panel) * value_dim_ * keys; }
  const Place* places(Index panel) const noexcept { return places_.data() + slot(panel) * keys; }
  bool finite(Index panel) const noexcept { return finite_[std::size_t(slot(panel))] != 0; }
  int count(Index panel) const noexcept { return int(std::min<Index>(keys, list_size_ - panel * keys)); }
  bool affine() const noexcept { return affine_; }  ///< places grow by one from key to key

 private:
  Index slot(Index panel) const noexcept { return panel - panels_.begin; }

  static void pack_panel(HeadView<const Scalar> from, const Place* places, int present, Index dim,
                         Scalar* to) {
    if (present < keys) std::fill_n(to, dim * keys, Scalar(0));
    for (int i = 0; i < present; ++i) {
      const Scalar* row = &from(places[i].row, 0);
      for (Index x = 0; x < dim; ++x) to[x * keys + i] = row[x * from.column_stride];
    }
  }

  Index head_dim_, value_dim_;
  Buffer<Scalar> key_, value_;
  std::vector<Place> places_;
  std::vector<char> finite_;
  Range panels_;
  Index list_size_ = 0;
  bool affine_ = false;
};

/// The panels of `chunk` that any of the blocks visits.
inline Range visited_panels(const Schedule& schedule, Range blocks, Range chunk) noexcept {
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

}  // namespace headwise::kernel
