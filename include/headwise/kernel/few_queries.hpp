#pragma once

#include <headwise/core/buffer.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/kernel/few_targets.hpp>
#include <headwise/kernel/log_sum_exp.hpp>
#include <headwise/kernel/problem.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

/// Attention for few queries over a long cache, one token of decoding above all. The tiles of the fused
/// kernel hold a fixed number of queries, one a lane: with one query the other lanes idle. Here lanes are a
/// head's columns, and the cache is read once, where it lies, in the order in which it lies: a few rows of
/// all heads before the next rows.
namespace headwise::kernel {

/// As many queries a sequence as the reading of the cache, not their number, makes slow.
inline constexpr Index few_queries = 4;

/// True for a call that FewQueries serves: few queries of every sequence, keys and values whose columns are
/// neighbours, neither dropout nor a plan.
template <class Scalar>
bool has_few_queries(const Problem<Scalar>& p) noexcept {
  if (p.plans != nullptr || p.dropout.rate != 0) return false;
  if (p.key.column_stride != 1 || p.value.column_stride != 1) return false;
  for (Index sequence = 0; sequence < p.sequences(); ++sequence)
    if (p.query_rows[sequence].size() > few_queries) return false;
  return true;
}

/// The keys of a sequence are cut into parts, always the same ones; threads share the parts, whose results
/// are merged in order. Paper: Dao et al., "Flash-Decoding for long-context inference", 2023.
template <class Scalar, class Mask, class Score, class File = FileFlags>
class FewQueries {
 public:
  FewQueries(const Problem<Scalar>& problem, const Mask& mask, const Score& score)
      : problem_(problem),
        group_(problem.heads / problem.kv_heads),
        kernels_(few::row_kernels<Scalar>(problem.instruction_set)) {
    for (Index sequence = 0; sequence < problem.sequences(); ++sequence) prepare(sequence, mask, score);
  }

  void run(ForwardResult<Scalar>& result) {
    problem_.executor(Index(parts_.size()), [&](Index i) { run_part(parts_[std::size_t(i)]); });
    clear(result);
    for (auto part = parts_.begin(); part != parts_.end();) {
      auto end = part;
      while (end != parts_.end() && end->sequence == part->sequence) ++end;
      write({&*part, std::size_t(end - part)}, result);
      part = end;
    }
  }

 private:
  static constexpr Index part_keys = 2048;
  using Bound = BoundMask<Mask>;
  using BoundScore =
      std::remove_const_t<decltype(bind_score<Scalar>(std::declval<const Score&>(), Context{}))>;

  /// The queries of a sequence, packed [head][row][head_dim], and the policies of its heads.
  struct Text {
    Geometry geometry;
    Buffer<Scalar> query;
    std::vector<Bound> masks;  ///< one, unless heads differ
    std::vector<BoundScore> scores;
  };

  /// Some keys of a sequence and what all its queries make of them.
  struct Part {
    Index sequence = 0;
    Range keys;
    Buffer<Scalar> maximum, sum, output;  ///< [head][row], output with value_dim columns
  };

  void prepare(Index sequence, const Mask& mask, const Score& score) {
    Text& text = texts_.emplace_back(Text{problem_.geometry(sequence), {}, {}, {}});
    const Index rows = problem_.heads * text.geometry.q_len;
    for (Index head = 0; head < (depends_on_head<Mask>() ? problem_.heads : 1); ++head)
      text.masks.push_back(bind_mask(mask, problem_.context(sequence, head)));
    const Range hull = visible(text);
    if (rows == 0 || hull.empty()) return;
    for (Index head = 0; head < problem_.heads; ++head)
      text.scores.push_back(bind_score<Scalar>(score, problem_.context(sequence, head)));
    pack_queries(sequence, text);
    for (Index begin = hull.begin; begin < hull.end; begin += part_keys) {
      Part& part = parts_.emplace_back();
      part.sequence = sequence;
      part.keys = {begin, std::min(begin + part_keys, hull.end)};
    }
  }

  const Bound& mask_of(const Text& text, Index head) const {
    return text.masks[depends_on_head<Mask>() ? std::size_t(head) : 0];
  }

  /// The rows of keys that some query may see: with runs, their hull.
  Range visible(const Text& text) const {
    const Geometry& geometry = text.geometry;
    const Range all{0, geometry.k_len};
    if constexpr (has_runs<Bound>()) {
      if (!geometry.key_positions.empty() && runs_read_positions<Bound>()) return all;
      Range hull{geometry.k_len, 0};
      for (const Bound& mask : text.masks) {
        for (Index row = 0; row < geometry.q_len; ++row) {
          for (const Range& run : runs_of(mask, geometry.query(row))) {
            const Range seen = intersect(run, all);
            if (!seen.empty()) hull = {std::min(hull.begin, seen.begin), std::max(hull.end, seen.end)};
          }
        }
      }
      return hull;
    } else {
      return all;
    }
  }

  void pack_queries(Index sequence, Text& text) const {
    const Range rows = problem_.query_rows[sequence];
    text.query = Buffer<Scalar>(problem_.heads * rows.size() * problem_.head_dim);
    Scalar* to = text.query.data();
    for (Index head = 0; head < problem_.heads; ++head) {
      const auto query = head_view(problem_.query, sequence, rows.begin, head);
      for (Index row = 0; row < rows.size(); ++row)
        for (Index x = 0; x < problem_.head_dim; ++x) *to++ = problem_.scale * query(row, x);
    }
  }

  void run_part(Part& part) const {
    const Text& text = texts_[std::size_t(part.sequence)];
    const Index rows = problem_.heads * text.geometry.q_len, count = group_ * text.geometry.q_len;
    const Index first_key = problem_.key_rows[part.sequence].begin;
    part.maximum = Buffer<Scalar>(rows);
    part.sum = Buffer<Scalar>(rows);
    part.output = Buffer<Scalar>(rows * problem_.value_dim);
    part.maximum.fill(std::numeric_limits<Scalar>::lowest());
    part.sum.fill(Scalar(0));
    part.output.fill(Scalar(0));
    Buffer<Scalar> weights(count * few::block_keys);
    for (Index begin = part.keys.begin; begin < part.keys.end; begin += few::block_keys) {
      const Index keys = std::min(few::block_keys, part.keys.end - begin);
      for (Index kv_head = 0; kv_head < problem_.kv_heads; ++kv_head) {
        const auto key = head_view(problem_.key, part.sequence, first_key, kv_head);
        const auto value = head_view(problem_.value, part.sequence, first_key, kv_head);
        const Index first = kv_head * count;
        kernels_.dot(text.query.data() + first * problem_.head_dim, count, problem_.head_dim, key.row(begin),
                     key.row_stride, keys, weights.data());
        for (Index i = 0; i < count; ++i)
          settle(text, (first + i) / text.geometry.q_len, i % text.geometry.q_len, {begin, begin + keys},
                 weights.data() + i * few::block_keys);
        Scalar* output = part.output.data() + first * problem_.value_dim;
        kernels_.weigh(weights.data(), count, problem_.value_dim, part.maximum.data() + first,
                       part.sum.data() + first, output);
        kernels_.add(weights.data(), count, value.row(begin), value.row_stride, keys, problem_.value_dim,
                     output);
      }
    }
  }

  /// Scaled dot products of one query become scores, -inf where the mask hides them and past the last key.
  void settle(const Text& text, Index head, Index row, Range keys, Scalar* scores) const {
    const Place query = text.geometry.query(row);
    const Coverage coverage = coverage_by_runs(mask_of(text, head), text.geometry, query, keys);
    for (Index k = keys.size(); k < few::block_keys; ++k) scores[k] = hidden<Scalar>();
    if (coverage == Coverage::none) std::fill_n(scores, keys.size(), hidden<Scalar>());
    if (coverage == Coverage::none || (coverage == Coverage::full && is_identity<BoundScore>())) return;
    const auto score = lane_view(text.scores[std::size_t(head)]);
    for (Index k = 0; k < keys.size(); ++k) {
      const Place key = text.geometry.key(keys.begin + k);
      const bool seen = coverage == Coverage::full || allows(mask_of(text, head), query, key);
      scores[k] = seen ? apply(score, scores[k], query, key) : hidden<Scalar>();
    }
  }

  /// What a query sees of neighbouring keys, where runs tell; else "look at each".
  static Coverage coverage_by_runs(const Bound& mask, const Geometry& geometry, Place query, Range keys) {
    if constexpr (has_runs<Bound>()) {
      if (geometry.key_positions.empty() || !runs_read_positions<Bound>()) {
        Coverage coverage = Coverage::none;
        for (const Range& run : runs_of(mask, query)) {
          if (run.contains(keys)) return Coverage::full;
          if (!intersect(run, keys).empty()) coverage = Coverage::partial;
        }
        return coverage;
      }
    }
    return Coverage::partial;
  }

  void clear(ForwardResult<Scalar>& result) const {
    for (Index sequence = 0; sequence < problem_.sequences(); ++sequence) {
      const Range rows = problem_.query_rows[sequence];
      for (Index head = 0; head < problem_.heads; ++head)
        clear_rows(head_view(result.output, sequence, rows.begin, head), rows.size(), problem_.value_dim);
    }
  }

  /// Merges the parts of one sequence, in order, and normalises.
  void write(std::span<const Part> parts, ForwardResult<Scalar>& result) const {
    const Index sequence = parts.front().sequence, q_len = texts_[std::size_t(sequence)].geometry.q_len;
    const Range rows = problem_.query_rows[sequence];
    for (Index head = 0; head < problem_.heads; ++head) {
      const auto output = head_view(result.output, sequence, rows.begin, head);
      for (Index row = 0; row < q_len; ++row) {
        const Index i = head * q_len + row;
        Scalar maximum = std::numeric_limits<Scalar>::lowest(), sum(0);
        for (const Part& part : parts) maximum = std::max(maximum, part.maximum[i]);
        for (const Part& part : parts) sum += part.sum[i] * math::exp(part.maximum[i] - maximum);
        if (sum == Scalar(0)) continue;  // the result is zero and -inf from the start
        result.lse(rows.begin + row, head) = maximum + math::log(sum);
        for (const Part& part : parts) {
          const Scalar share = math::exp(part.maximum[i] - maximum) / sum;
          if (part.sum[i] == Scalar(0)) continue;
          for (Index x = 0; x < problem_.value_dim; ++x)
            output(row, x) += share * part.output[i * problem_.value_dim + x];
        }
      }
    }
  }

  const Problem<Scalar>& problem_;
  Index group_;
  few::RowKernels<Scalar> kernels_;
  std::vector<Text> texts_;
  std::vector<Part> parts_;
};

}  // namespace headwise::kernel
