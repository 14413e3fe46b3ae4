#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/dilated_window.hpp>
#include <headwise/mask/global_tokens.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace headwise {

/// Which keys Longformer's queries see: a window, in some heads with gaps, and a few global tokens.
struct LongformerPattern {
  Index reach = 256;               ///< keys on each side; the published window is twice that
  std::vector<Index> dilations{};  ///< one a head; none: no gaps
  std::vector<bool> global{};      ///< one a row of the batch; none: no global token

  Index dilation(Index head) const { return dilations.empty() ? 1 : dilations[std::size_t(head)]; }
  bool is_global(Index row) const { return !global.empty() && global[std::size_t(row)]; }
};

namespace attention {

/// What is left to test in Longformer's plans: the window of the head, unless the key is global.
class LongformerWindow {
 public:
  static constexpr bool reads_head = true;

  explicit LongformerWindow(const LongformerPattern& pattern)
      : reach_(pattern.reach), dilations_(pattern.dilations) {
    count_.reserve(pattern.global.size() + 1);
    for (const bool each : pattern.global) count_.push_back(count_.back() + std::uint32_t(each));
  }

  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;

    mask::Band window;
    mask::detail::GlobalTest global;

    bool allows(Index query, Index key) const noexcept {
      return (int(window.allows(query, key)) | int(global.is_global(key))) != 0;
    }

    Coverage coverage(Tile tile) const noexcept {
      const Coverage near = window.coverage(tile);
      if (near == Coverage::full) return near;
      const Index seen = global.in(tile.keys);
      if (seen == tile.keys.size()) return Coverage::full;
      return seen > 0 ? Coverage::partial : near;
    }
  };

  Bound bind(const Context& context) const noexcept {
    const Index dilation = dilations_.empty() ? 1 : dilations_[std::size_t(context.head)];
    const mask::DilatedWindow window{reach_, dilation};
    const bool any = count_.size() > 1;
    return {window.window(),
            {any ? count_.data() + context.key_rows.begin : no_global, any ? context.key_rows.size() : 1}};
  }

 private:
  static constexpr std::uint32_t no_global[2] = {0, 0};

  Index reach_;
  std::vector<Index> dilations_;
  std::vector<std::uint32_t> count_{0};
};

/// Throws ShapeError when the pattern does not fit a call on `rows` rows.
inline void check_longformer(const LongformerPattern& pattern, const AttendOptions& options, Index q_rows,
                             Index k_rows) {
  expect_equal("Longformer: key rows", k_rows, q_rows, "Longformer is self-attention");
  if (!pattern.dilations.empty())
    expect_equal("Longformer: dilations", Index(pattern.dilations.size()), options.heads, "one a head");
  if (!pattern.global.empty())
    expect_equal("Longformer: number of global flags", Index(pattern.global.size()), q_rows,
                 "give one bool for each row");
  for (Index head = 0; head < std::max<Index>(1, Index(pattern.dilations.size())); ++head)
    mask::DilatedWindow{pattern.reach, pattern.dilation(head)}.check(
        "LongformerPattern: reach", "LongformerPattern: dilations[" + std::to_string(head) + "]");
  if (!options.query_offset && options.query_positions.empty() && options.key_rows.whole()) return;
  throw ShapeError(
      "Longformer: query_offset, positions or key_rows are given, expected none of them; windows are windows "
      "of "
      "rows");
}

/// Some queries of a class side by side, and every key that one of them can see: the class within reach, and
/// the global tokens, in order and each once. Tiles as long as the window: most of the keys are seen by most.
inline void add_window_items(const LongformerPattern& pattern, Range rows, Index dilation, Index residue,
                             const std::vector<Index>& global, Plan& plan) {
  const Index members = (rows.size() - residue + dilation - 1) / dilation;
  const Index step = std::clamp<Index>(pattern.reach, 96, 1024);
  for (Index begin = 0; begin < members; begin += step) {
    const Index end = std::min(begin + step, members);
    std::vector<Index> queries;
    for (Index i = begin; i < end; ++i)
      if (const Index row = residue + i * dilation; !pattern.is_global(rows.begin + row))
        queries.push_back(row);
    if (queries.empty()) continue;
    const Index first = std::max<Index>(0, begin - pattern.reach),
                last = std::min(members, end + pattern.reach);
    RowList listed = Index(queries.size()) == end - begin
                         ? RowList::affine(residue + begin * dilation, dilation, end - begin)
                         : RowList::of(std::move(queries));
    if (global.empty()) {
      plan.items.push_back(
          {std::move(listed), RowList::affine(residue + first * dilation, dilation, last - first)});
      continue;
    }
    std::vector<Index> near;
    for (Index i = first; i < last; ++i) near.push_back(residue + i * dilation);
    std::vector<Index> keys;
    std::set_union(near.begin(), near.end(), global.begin(), global.end(), std::back_inserter(keys));
    plan.items.push_back({std::move(listed), RowList::of(std::move(keys))});
  }
}

/// The two softmaxes of Longformer over a batch: rows that are not global, and rows that are.
struct LongformerPlans {
  Plans local, global;

  LongformerPlans(const LongformerPattern& pattern, const RaggedRows& rows) {
    local.sequences = global.sequences = rows.sequences();
    local.heads = std::max<Index>(1, Index(pattern.dilations.size()));
    for (Index s = 0; s < rows.sequences(); ++s) {
      std::vector<Index> tokens;
      for (Index row = 0; row < rows[s].size(); ++row)
        if (pattern.is_global(rows[s].begin + row)) tokens.push_back(row);
      for (Index head = 0; head < local.heads; ++head) {
        Plan plan;
        const Index dilation = pattern.dilation(head);
        for (Index residue = 0; residue < std::min(dilation, rows[s].size()); ++residue)
          add_window_items(pattern, rows[s], dilation, residue, tokens, plan);
        local.plans.push_back(std::move(plan));
      }
      Plan plan;
      if (!tokens.empty())
        plan.items.push_back({RowList::of(std::move(tokens)), RowList::contiguous({0, rows[s].size()})});
      global.plans.push_back(std::move(plan));
    }
  }
};

}  // namespace attention

/// The six projections of Longformer, all [rows, heads * head_dim] (keys and values: kv_heads). Of
/// global_query only the rows of global tokens are read.
template <class Scalar>
struct LongformerInputs {
  const Matrix<Scalar>&query, &key, &value;
  const Matrix<Scalar>&global_query, &global_key, &global_value;
};

/// Longformer: a window for most tokens, and all keys for a few, through projections of their own.
///
///     row i not in G:  softmax over {j : j in window(i) or j in G}  of  q_i . k_j,    values v
///     row i in G:      softmax over all j                           of  qg_i . kg_j,  values vg
///
/// With one set of projections it is attend under Band || GlobalRows. A token of the window that is global
/// counts once. Sequences of a ragged batch may have any numbers of global tokens; `mask` hides more, padding
/// for example, or the future. Any length will do. -> output [rows, heads * value_dim], lse [rows, heads].
/// Cost: O(seq_len (2 reach + 1 + 2 |G|)) pairs. Throws ShapeError when pattern and call do not fit.
/// Paper: Beltagy et al., "Longformer: The Long-Document Transformer", 2020, sections 3.1 and 3.2.
template <class Scalar, MaskPolicy Mask = mask::None, ComputableScore<Scalar> Score = score::None>
Attended<Scalar> attend_longformer(const LongformerInputs<Scalar>& in, const LongformerPattern& pattern,
                                   const AttendOptions& options = {}, const Mask& mask = {},
                                   const Score& score = {}) {
  attention::check_longformer(pattern, options, in.query.rows(), in.key.rows());
  const RaggedRows rows = options.query_rows.over(in.query.rows(), "Longformer: query");
  const attention::LongformerPlans plans(pattern, rows);
  const attention::LongformerWindow window(pattern);
  auto result =
      attend_over(plans.local, in.query, in.key, in.value, options, mask::operator&&(window, mask), score);
  if (std::find(pattern.global.begin(), pattern.global.end(), true) == pattern.global.end()) return result;
  const auto global =
      attend_over(plans.global, in.global_query, in.global_key, in.global_value, options, mask, score);
  for (Index row = 0; row < in.query.rows(); ++row) {
    if (!pattern.is_global(row)) continue;
    result.output.row(row) = global.output.row(row);
    result.lse.row(row) = global.lse.row(row);
  }
  return result;
}

}  // namespace headwise
