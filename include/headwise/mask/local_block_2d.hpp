#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::mask {

/// An image of height x width tokens in raster order, token = y width + x, cut into blocks; blocks at the
/// right and lower edge may be small. Channels are columns: an RGB image is 3 times as wide.
struct ImageBlocks {
  Index height = 0, width = 0;
  Index block_height = 16, block_width = 16;

  /// Throws ShapeError unless all four are positive and `length` tokens fit into the image.
  void check(std::string_view what, Index length) const {
    const std::string name(what);
    expect_positive(name + ": height", height);
    expect_positive(name + ": width", width);
    expect_positive(name + ": block_height", block_height);
    expect_positive(name + ": block_width", block_width);
    if (length <= height * width) return;
    fail_shape(name + ": length", std::to_string(length),
               "at most " + std::to_string(height * width) + " (height * width)");
  }
};

namespace detail {

/// The rectangle of an image block, cut off at the image's edges after it was grown to all sides.
struct ImageRectangle {
  Range rows, columns;

  std::vector<Index> tokens(Index width) const {
    std::vector<Index> list;
    for (Index y = rows.begin; y < rows.end; ++y)
      for (Index x = columns.begin; x < columns.end; ++x) list.push_back(y * width + x);
    return list;
  }
};

inline ImageRectangle block_around(const ImageBlocks& image, Index top, Index left, Index above_below,
                                   Index beside) {
  const auto cut = [](Index begin, Index size, Index more, Index end) {
    return Range{std::max<Index>(0, begin - std::min(more, end)),
                 std::min(begin + size + std::min(more, end), end)};
  };
  return {cut(top, image.block_height, above_below, image.height),
          cut(left, image.block_width, beside, image.width)};
}

}  // namespace detail

/// Local attention in two dimensions: the queries of an image block see the block and its surroundings.
///
///     Y, X: the corner of the query's block;   allows(query, key)  <=>
///         Y - memory_height <= y < Y + block_height + memory_height  and
///         X - memory_width  <= x < X + block_width  + memory_width        for the key's y, x
///
/// The 2D local attention of the Image Transformer is LocalBlock2d{...} && BlockRasterOrder{...}: rows above
/// are seen over the full width, of the own rows what lies to the left, and of the own block what came
/// before. Tokens outside the image are no keys. Cost: O(seq_len (block_height + 2 memory_height)
/// (block_width + 2 memory_width)) over its plan. Throws ShapeError for sizes that are not positive, a
/// negative memory, or more tokens than the image has. Paper: Parmar et al., "Image Transformer", 2018,
/// section 3.3.
struct LocalBlock2d {
  ImageBlocks image{};
  Index memory_height = 16, memory_width = 16;

  struct Bound {
    BlockOf line, block_row, block_column;
    Index memory_height, memory_width;

    constexpr bool allows(Index query, Index key) const noexcept {
      const Index y = line(query), key_y = line(key);
      const Index x = query - y * line.size(), key_x = key - key_y * line.size();
      const Index down = key_y - (y - block_row.rest(y)), along = key_x - (x - block_column.rest(x));
      return -memory_height <= down && down < block_row.size() + memory_height && -memory_width <= along &&
             along < block_column.size() + memory_width;
    }

    /// The rows of a tile form a range, and its columns do when it lies within one row; else they are all.
    constexpr Coverage coverage(Tile tile) const noexcept {
      const Sides q = sides(tile.queries), k = sides(tile.keys);
      const Coverage down = along_one_axis(q.rows, k.rows, block_row, memory_height);
      const Coverage along = along_one_axis(q.columns, k.columns, block_column, memory_width);
      if (down == Coverage::none || along == Coverage::none) return Coverage::none;
      return down == Coverage::full && along == Coverage::full ? Coverage::full : Coverage::partial;
    }

   private:
    struct Sides {
      Range rows, columns;
    };

    constexpr Sides sides(Range tokens) const noexcept {
      const Range rows{line(tokens.begin), line(tokens.end - 1) + 1};
      if (rows.size() > 1) return {rows, {0, line.size()}};
      return {rows, {line.rest(tokens.begin), line.rest(tokens.end - 1) + 1}};
    }

    static constexpr Coverage along_one_axis(Range queries, Range keys, const BlockOf& block,
                                             Index memory) noexcept {
      const Index first = block(queries.begin) * block.size(), last = block(queries.end - 1) * block.size();
      const Index reach = block.size() + memory;
      if (keys.end <= first - memory || last + reach <= keys.begin) return Coverage::none;
      return Range{last - memory, first + reach}.contains(keys) ? Coverage::full : Coverage::partial;
    }
  };

  constexpr Bound bind(const Context&) const noexcept {
    return {BlockOf(image.width), BlockOf(image.block_height), BlockOf(image.block_width), memory_height,
            memory_width};
  }

  void check(const Context& context) const {
    image.check("LocalBlock2d", std::max(context.query_rows.size(), context.key_rows.size()));
    expect_not_negative("LocalBlock2d: memory_height", memory_height);
    expect_not_negative("LocalBlock2d: memory_width", memory_width);
  }

  /// The pairs of a whole image, for attend_over: one item a block, queries and keys gathered.
  /// Throws ShapeError when length is not height * width.
  Plan plan(Index length) const {
    check({});
    expect_equal("LocalBlock2d: length", length, image.height * image.width, "a plan serves a whole image");
    Plan plan;
    for (Index top = 0; top < image.height; top += image.block_height) {
      for (Index left = 0; left < image.width; left += image.block_width) {
        const auto tokens = [&](Index more_rows, Index more_columns) {
          return RowList::of(
              detail::block_around(image, top, left, more_rows, more_columns).tokens(image.width));
        };
        plan.items.push_back({tokens(0, 0), tokens(memory_height, memory_width)});
      }
    }
    return plan;
  }
};

/// The order in which the Image Transformer writes an image: block by block in raster order, and within a
/// block in raster order. As a mask it is causal in that order.
///
///     allows(query, key)  <=>  rank(key) <= rank(query)
///
/// Teacher forcing shifts along this order: the token before `token` is order()[rank(token) - 1]. Where plans
/// gather tokens, giving ranks() as positions makes this mask plain Causal, which is cheaper to test.
/// Cost: half of all pairs. Throws ShapeError for sizes that are not positive, or more tokens than the image
/// has. Paper: Parmar et al., "Image Transformer", 2018, section 3.3.
struct BlockRasterOrder {
  ImageBlocks image{};

  struct Bound {
    BlockOf line, block_row, block_column;
    Index height;

    constexpr Index rank(Index token) const noexcept {
      const Index y = line(token), x = token - y * line.size();
      const Index down = block_row.rest(y), along = block_column.rest(x);
      const Index top = y - down, left = x - along;
      const Index block_height = std::min(block_row.size(), height - top);
      const Index block_width = std::min(block_column.size(), line.size() - left);
      return top * line.size() + block_height * left + down * block_width + along;
    }

    constexpr bool allows(Index query, Index key) const noexcept { return rank(key) <= rank(query); }

    /// Rows of blocks come one after another.
    constexpr Coverage coverage(Tile tile) const noexcept {
      const Range q = rows_of_blocks(tile.queries), k = rows_of_blocks(tile.keys);
      if (k.end <= q.begin) return Coverage::full;
      return q.end <= k.begin ? Coverage::none : Coverage::partial;
    }

   private:
    constexpr Range rows_of_blocks(Range tokens) const noexcept {
      return {block_row(line(tokens.begin)), block_row(line(tokens.end - 1)) + 1};
    }
  };

  constexpr Bound bind(const Context&) const noexcept {
    return {BlockOf(image.width), BlockOf(image.block_height), BlockOf(image.block_width), image.height};
  }

  void check(const Context& context) const {
    image.check("BlockRasterOrder", std::max(context.query_rows.size(), context.key_rows.size()));
  }

  /// ranks()[token]: when the token is written.
  std::vector<Position> ranks() const {
    check({});
    const Bound bound = bind({});
    std::vector<Position> ranks(std::size_t(image.height * image.width));
    for (std::size_t token = 0; token < ranks.size(); ++token)
      ranks[token] = Position(bound.rank(Index(token)));
    return ranks;
  }

  /// order()[rank]: the token written then.
  std::vector<Index> order() const {
    const std::vector<Position> rank = ranks();
    std::vector<Index> order(rank.size());
    for (std::size_t token = 0; token < rank.size(); ++token) order[std::size_t(rank[token])] = Index(token);
    return order;
  }
};

}  // namespace headwise::mask
