#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headwise::score {

enum class T5Direction {
  bidirectional,  ///< half of the buckets for the past, half for the future: encoders
  causal          ///< all buckets for the past, the future shares bucket 0: decoders
};

struct T5Options {
  T5Direction direction = T5Direction::bidirectional;
  Index max_distance = 128;  ///< from here on all distances share the last bucket of their side
};

/// The bucket of a distance, relative = key - query: near distances have one each, far ones share, in
/// logarithmic steps.
///
///     n = |relative|, b buckets a side, e = b / 2
///     n < e:  n        else  min(b - 1, e + floor(ln(n / e) / ln(max_distance / e) * (b - e)))
///
/// The logarithm is taken in double. It agrees with implementations in float for all table sizes in use.
/// Throws nothing: T5Bias checks the options. Paper: Raffel et al., 2019, section 2.1.
inline Index t5_bucket(Index relative, Index buckets, const T5Options& options) {
  const bool both = options.direction == T5Direction::bidirectional;
  const Index side = both ? buckets / 2 : buckets;
  const Index first = both && relative > 0 ? side : 0;
  const Index distance = both ? std::abs(relative) : std::max<Index>(0, -relative);
  const Index exact = side / 2;
  if (distance < exact) return first + distance;
  if (distance >= options.max_distance) return first + side - 1;
  const double share =
      std::log(double(distance) / double(exact)) / std::log(double(options.max_distance) / double(exact));
  return first + std::min(side - 1, exact + Index(share * double(side - exact)));
}

/// The buckets of all distances, with the logarithms taken once. 128 small numbers by default.
class T5Buckets {
 public:
  /// Throws ShapeError when there are too few buckets, or max_distance is not beyond those of one distance.
  T5Buckets(Index buckets, const T5Options& options) : options_(options) {
    const bool both = options.direction == T5Direction::bidirectional;
    const Index least = both ? 4 : 2, exact = buckets / least;
    if (exact < 1) {
      fail_shape("T5Bias: buckets (rows of the table)", std::to_string(buckets),
                 "at least " + std::to_string(least), "the table is [buckets, heads]");
    }
    if (options.max_distance <= exact) {
      fail_shape("T5Bias: max_distance", std::to_string(options.max_distance),
                 "more than " + std::to_string(exact), "distances below that have a bucket each");
    }
    future_ = both ? buckets / 2 : 0;
    for (Index distance = 0; distance <= options.max_distance; ++distance)
      past_.push_back(std::int32_t(t5_bucket(-distance, buckets, options)));
  }

  Index operator[](Index relative) const noexcept {
    const bool ahead = relative > 0;
    if (ahead && options_.direction == T5Direction::causal) return 0;
    const Index distance = std::min(ahead ? relative : -relative, options_.max_distance);
    return past_[std::size_t(distance)] + (ahead ? future_ : 0);
  }

  const T5Options& options() const noexcept { return options_; }

 private:
  T5Options options_;
  Index future_;
  std::vector<std::int32_t> past_;  ///< by distance, 0 ... max_distance
};

/// T5's relative position bias: one learned number for each bucket of distances and each head.
///
///     s  <-  s + table(bucket(key - query), head)
///
/// table [buckets, heads], as in checkpoints (relative_attention_bias.weight). T5 itself does not scale
/// query . key: pass .scale = 1 for its weights. Not for cross-attention, where distances mean nothing.
/// Cost: one addition a visible pair; binding a head expands the table to one number for each distance,
/// O(q_len + k_len). Throws ShapeError when the table does not fit the heads or the options.
/// Paper: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
/// 2019, section 2.1.
template <class Table>
class T5Bias {
 public:
  using policy = ScoreTag;

  explicit T5Bias(Table table, T5Options options = {})
      : table_(std::move(table)), buckets_(table_.rows(), options) {}

  /// One number for each distance, so that consecutive queries read consecutive entries.
  template <class Scalar>
  struct View {
    static constexpr std::array learned{Learned::per_distance};

    const Scalar* entries;  ///< of query - key = -last, -last + 1, ...
    Position last;          ///< the largest key - query

    Scalar operator()(Scalar s, Position query, Position key) const noexcept {
      return s + entries[query - key + last];
    }
    PullBack<Scalar, 1> pull_back(Scalar, Position, Position, Scalar d) const noexcept { return {d, {d}}; }
  };

  template <class Scalar>
  class Bound {
   public:
    static constexpr std::array learned{Learned::per_distance};

    Bound(std::vector<Scalar> entries, Position last, Index head, const T5Buckets& buckets)
        : entries_(std::move(entries)), last_(last), head_(head), buckets_(buckets) {}

    View<Scalar> view() const noexcept { return {entries_.data(), last_}; }

    Scalar operator()(Scalar s, Position query, Position key) const noexcept { return view()(s, query, key); }
    PullBack<Scalar, 1> pull_back(Scalar s, Position query, Position key, Scalar d) const noexcept {
      return view().pull_back(s, query, key, d);
    }

    void fold(std::span<const LearnedSum<Scalar>> sums, std::span<Matrix<Scalar>> gradients) const {
      Index distance = sums[0].first_distance;
      for (const Scalar& sum : sums[0].per_distance) gradients[0](buckets_[distance++], head_) += sum;
    }

   private:
    std::vector<Scalar> entries_;
    Position last_;
    Index head_;
    T5Buckets buckets_;
  };

  template <class Scalar>
  Bound<Scalar> bind(const Context& context) const requires OperandOf<Table, Scalar> {
    const Range relative = context.relative;
    std::vector<Scalar> entries;
    entries.reserve(std::size_t(relative.size()));
    for (Index distance = relative.end - 1; distance >= relative.begin; --distance)
      entries.push_back(Scalar(value_of(table_).coeff(buckets_[distance], context.head)));
    return {std::move(entries), Position(relative.end - 1), context.head, buckets_};
  }

  void check(const Context& context) const {
    expect_equal("T5Bias: columns of the table", table_.cols(), context.heads,
                 "the table is [buckets, heads]");
  }

  void for_each_operand(auto&& visit) const { visit(table_); }
  auto map_operands(auto&& f) const {
    using Mapped = std::remove_cvref_t<decltype(f(table_))>;
    return T5Bias<Mapped>(f(table_), buckets_.options());
  }

 private:
  Table table_;
  T5Buckets buckets_;
};

}  // namespace headwise::score
