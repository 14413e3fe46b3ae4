#pragma once

#include <headwise/attention/problem.hpp>
#include <headwise/kernel/fused_attention.hpp>
#include <headwise/score/none.hpp>

#include <cstdio>
#include <string>

namespace headwise {

/// The sizes of a call whose cost is asked for.
struct AttentionShape {
  Index q_len = 0, k_len = 0;
  Index head_dim = 64;
  Index value_dim = 0;  ///< 0: as head_dim
};

/// What a call of attend will do, counted before it is done. All numbers are totals over heads and sequences.
struct Explanation {
  Index pairs = 0;           ///< (query, key) that the mask allows
  Index computed_pairs = 0;  ///< that the tiles compute: the rest of `pairs` is exact, this is what it costs
  kernel::TileCount tiles;   ///< micro-tiles skipped, tested pair by pair, trusted
  Index tile_queries = 0, tile_keys = 0;
  double forward_flops = 0;   ///< 2 (head_dim + value_dim) a pair
  double backward_flops = 0;  ///< 2 (3 head_dim + 2 value_dim) a pair
  Index operand_bytes = 0;    ///< query, key, value, output and lse, once each
  const char* instruction_set = "";

  /// The share of computed pairs that the mask allows.
  double density() const noexcept {
    return computed_pairs == 0 ? 1.0 : double(pairs) / double(computed_pairs);
  }
};

namespace attention {

/// Pairs of one schedule that the mask allows: trusted panels are multiplied out, the others asked pair by
/// pair.
template <class BoundMask>
Index count_pairs(const Plan& plan, const kernel::Schedule& schedule, const kernel::Geometry& geometry,
                  const BoundMask& mask, Index keys) {
  Index pairs = 0;
  for (const kernel::QueryBlock& block : schedule.blocks) {
    const PlanItem& item = plan.items[std::size_t(block.item)];
    for (const kernel::Segment& segment : schedule.of(block)) {
      if (segment.full) {
        pairs += block.count * (segment.end - segment.begin) * keys;
        continue;
      }
      const Index end = std::min(segment.end * keys, item.keys.size());
      for (Index j = segment.begin * keys; j < end; ++j) {
        const Place key = geometry.key(item.keys[j]);
        for (Index i = block.first; i < block.first + block.count; ++i)
          pairs += headwise::allows(mask, geometry.query(item.queries[i]), key) ? 1 : 0;
      }
    }
  }
  return pairs;
}

}  // namespace attention

/// Counts what `attend` would do with this mask: pairs, tiles, FLOPs, bytes. Nothing is computed.
///
/// Throws ShapeError as attend. Cost: O(rows + tested pairs).
template <class Scalar = float, MaskPolicy Mask>
Explanation explain(const AttentionShape& shape, const AttendOptions& options, const Mask& mask,
                    const Plans* plans = nullptr) {
  const Index heads = options.heads, kv_heads = attention::detail::kv_heads_of(options);
  const Index value_dim = shape.value_dim == 0 ? shape.head_dim : shape.value_dim;
  const kernel::Operand<const Scalar> query{nullptr, shape.q_len, heads * shape.head_dim};
  const kernel::Operand<const Scalar> key{nullptr, shape.k_len, kv_heads * shape.head_dim};
  const kernel::Operand<const Scalar> value{nullptr, shape.k_len, kv_heads * value_dim};
  auto problem = attention::make_problem(query, key, value, options, mask, score::None{}, "explain");
  if (plans != nullptr) attention::use_plans(problem, *plans);

  const kernel::TileSize size = kernel::tile_size<Scalar>(problem.instruction_set);
  const kernel::Driver<Scalar> driver(problem, mask, size);
  Explanation e;
  e.tile_queries = size.lanes;
  e.tile_keys = size.keys;
  e.instruction_set = name(problem.instruction_set);
  for (Index s = 0; s < problem.sequences(); ++s) {
    for (Index head = 0; head < heads; ++head) {
      const kernel::Schedule& schedule = driver.schedule(s, head);
      e.tiles.skipped += schedule.tiles.skipped;
      e.tiles.partial += schedule.tiles.partial;
      e.tiles.full += schedule.tiles.full;
      e.pairs += attention::count_pairs(driver.plan(s, head), schedule, problem.geometry(s),
                                        bind_mask(mask, problem.context(s, head)), size.keys);
    }
  }
  e.computed_pairs = (e.tiles.partial + e.tiles.full) * size.lanes * size.keys;
  e.forward_flops = 2.0 * double(shape.head_dim + value_dim) * double(e.pairs);
  e.backward_flops = 2.0 * double(3 * shape.head_dim + 2 * value_dim) * double(e.pairs);
  const Index numbers = shape.q_len * heads * (shape.head_dim + value_dim + 1) +
                        shape.k_len * kv_heads * (shape.head_dim + value_dim);
  e.operand_bytes = numbers * Index(sizeof(Scalar));
  return e;
}

/// The explanation in a few lines of text.
inline std::string to_string(const Explanation& e) {
  char text[512];
  std::snprintf(text, sizeof text,
                "pairs      %td allowed, %td computed (%.1f %%)\n"
                "tiles      %td skipped, %td partial, %td full, each %td queries x %td keys\n"
                "FLOPs      %.4g forward, %.4g backward\n"
                "operands   %.4g bytes\n"
                "computed   with %s\n",
                e.pairs, e.computed_pairs, 100.0 * e.density(), e.tiles.skipped, e.tiles.partial,
                e.tiles.full, e.tile_queries, e.tile_keys, e.forward_flops, e.backward_flops,
                double(e.operand_bytes), e.instruction_set);
  return text;
}

}  // namespace headwise
