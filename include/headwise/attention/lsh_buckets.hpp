#pragma once

#include <headwise/attention/first_largest.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/core/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace headwise {

/// What the hash of a call is drawn for.
struct LshHashOptions {
  std::vector<Index> factors{2};  ///< buckets are their product; each is even
  Index rounds = 1;               ///< hashes of every token, each of its own rotations
  Index heads = 1, head_dim = 64;
  std::uint64_t seed = 0;
  Index layer = 0;  ///< layers, and steps, that hash differently differ here or in the seed
};

/// Random rotations, of which an angular hash takes the signed axis that lies nearest to a vector.
///
/// values [heads * head_dim, rounds * width], width = sum of factors / 2: head h, round r and factor f own a
/// block of head_dim rows and factor / 2 columns.
template <class Scalar>
struct LshRotations {
  Index heads = 1, rounds = 1;
  std::vector<Index> factors;
  Matrix<Scalar> values;
};

/// The bucket of every token, as integers: [head][round][row]. What a recomputation must get again, so keep
/// it rather than hash twice. Padding may be put into a bucket of its own, above all others.
struct LshBuckets {
  Index rows = 0, heads = 1, rounds = 1;
  std::vector<std::int32_t> numbers;

  /// The buckets of all rows in one round of one head.
  std::span<const std::int32_t> of(Index head, Index round) const {
    return std::span(numbers).subspan(std::size_t((head * rounds + round) * rows), std::size_t(rows));
  }
  std::span<std::int32_t> of(Index head, Index round) {
    return std::span(numbers).subspan(std::size_t((head * rounds + round) * rows), std::size_t(rows));
  }
};

/// Twice as many buckets as chunks, in two factors beyond 128 of them, because a hash costs half of the sum
/// of its factors.
///
///     n = 2 max(1, floor(seq_len / chunk_len));    n > 128:  {f, 2 floor(n / (2 f))} with f = 2^ceil(log2
///     sqrt(n))
///
/// Throws ShapeError for a negative length, or a chunk_len that is not positive.
inline std::vector<Index> lsh_factors(Index seq_len, Index chunk_len) {
  expect_not_negative("lsh_factors: seq_len", seq_len);
  expect_positive("lsh_factors: chunk_len", chunk_len);
  const Index buckets = 2 * std::max<Index>(1, seq_len / chunk_len);
  if (buckets <= 128) return {buckets};
  Index first = 1;
  while (first * first < buckets) first *= 2;
  return {first, 2 * (buckets / (2 * first))};
}

/// A power of two of buckets, as transformers takes where a model does not give their number: at most twice
/// as many as chunks, in two factors where that is many for texts of at most max_seq_len tokens (0: not
/// known).
///
///     2^p <= 2 max(1, floor(seq_len / chunk_len)) < 2^(p + 1)
///     {2^p};   2^p > 2 max(floor(sqrt(max_seq_len / chunk_len)), chunk_len):  {2^floor(p / 2), 2^ceil(p /
///     2)}
///
/// Throws ShapeError for a negative length, or a chunk_len that is not positive.
inline std::vector<Index> lsh_factors_of_two(Index seq_len, Index chunk_len, Index max_seq_len = 0) {
  expect_not_negative("lsh_factors_of_two: seq_len", seq_len);
  expect_positive("lsh_factors_of_two: chunk_len", chunk_len);
  expect_not_negative("lsh_factors_of_two: max_seq_len", max_seq_len);
  const Index chunks = std::max<Index>(1, seq_len / chunk_len), most_chunks = max_seq_len / chunk_len;
  int power = 1;
  while ((Index(1) << power) <= chunks) ++power;  // 2^(power - 1) <= chunks < 2^power
  const Index buckets = Index(1) << power, half = buckets / 2;
  const bool few = half <= chunk_len || half <= most_chunks / half;
  if (few) return {buckets};
  return {Index(1) << (power / 2), Index(1) << (power - power / 2)};
}

namespace attention {

/// One standard normal number of a place, by Box and Muller.
inline double gaussian_at(std::array<std::uint32_t, 4> place, std::uint64_t seed) noexcept {
  const auto words = philox(place, philox_key(seed));
  const auto unit = [](std::uint32_t high, std::uint32_t low) {
    return double((std::uint64_t(high >> 5) << 26) | (low >> 6)) * 0x1p-53;
  };
  return std::sqrt(-2.0 * std::log(1.0 - unit(words[0], words[1]))) *
         std::cos(2.0 * std::numbers::pi * unit(words[2], words[3]));
}

/// Half the sum of the factors. Under the name of a verb, throws ShapeError when there are none, or one is
/// odd or not positive.
inline Index rotation_width(const std::vector<Index>& factors, const std::string& verb) {
  if (factors.empty())
    throw ShapeError(verb + ": factors is empty, expected one even number of buckets or more");
  Index width = 0, buckets = 1;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::string what = verb + ": factors[" + std::to_string(i) + "]";
    expect_positive(what, factors[i]);
    expect_multiple(what, factors[i], 2, "an axis and its opposite");
    width += factors[i] / 2;
    buckets *= factors[i];
    if (buckets > (Index(1) << 30))
      fail_shape(verb + ": number of buckets", std::to_string(buckets), "at most 2^30");
  }
  return width;
}

}  // namespace attention

/// Rotations with entries N(0, 1), each a function of (seed, layer, head, round, place) alone.
/// Throws ShapeError when a factor is odd, or a size is not positive.
template <class Scalar>
LshRotations<Scalar> lsh_rotations(const LshHashOptions& options) {
  const Index width = attention::rotation_width(options.factors, "lsh_rotations");
  expect_positive("lsh_rotations: rounds", options.rounds);
  expect_positive("lsh_rotations: heads", options.heads);
  expect_positive("lsh_rotations: head_dim", options.head_dim);
  expect_not_negative("lsh_rotations: layer", options.layer);
  LshRotations<Scalar> rotations{options.heads, options.rounds, options.factors,
                                 Matrix<Scalar>(options.heads * options.head_dim, options.rounds * width)};
  for (Index row = 0; row < rotations.values.rows(); ++row) {
    for (Index col = 0; col < rotations.values.cols(); ++col) {
      const Index place = (row % options.head_dim) * width + col % width;
      rotations.values(row, col) = Scalar(math::real_of<Scalar>(
          attention::gaussian_at({std::uint32_t(place), std::uint32_t(col / width),
                                  std::uint32_t(row / options.head_dim), std::uint32_t(options.layer)},
                                 options.seed)));
    }
  }
  return rotations;
}

/// The buckets of x: tokens that point the same way tend to share them.
///
///     h_f(x) = argmax([x R_f; -x R_f]),   bucket = h_1 + f_1 h_2 + f_1 f_2 h_3 + ...
///
/// x [n, heads * head_dim]. The length of x does not matter, and no gradient flows. Throws ShapeError when x
/// is not as wide as the rotations. Cost: n heads rounds head_dim (sum of factors) FLOPs.
/// Paper: Kitaev et al., "Reformer: The Efficient Transformer", 2020, section 2; Andoni et al., "Practical
/// and Optimal LSH for Angular Distance", 2015.
template <RealMatrix X>
LshBuckets lsh_buckets(const X& x, const LshRotations<scalar_of<X>>& rotations) {
  using Scalar = scalar_of<X>;
  const Index width = attention::rotation_width(rotations.factors, "lsh_buckets"), rounds = rotations.rounds;
  expect_positive("lsh_buckets: rounds", rounds);
  expect_positive("lsh_buckets: heads", rotations.heads);
  expect_equal("lsh_buckets: columns of x", x.cols(), rotations.values.rows(), "a row of rotations each");
  expect_multiple("lsh_buckets: columns of x", x.cols(), rotations.heads, "heads");
  expect_equal("lsh_buckets: columns of rotations", rotations.values.cols(), rounds * width,
               "half the sum of the factors, for every round");
  const Index dim = x.cols() / rotations.heads;
  LshBuckets buckets{x.rows(), rotations.heads, rounds, {}};
  buckets.numbers.assign(std::size_t(x.rows() * rotations.heads * rounds), 0);
  for (Index head = 0; head < rotations.heads; ++head) {
    // A token a column: axes are compared in lanes.
    const Matrix<Scalar> axes = rotations.values.middleRows(head * dim, dim).transpose();
    const Matrix<Scalar> rotated = multiply_transposed(axes, x.middleCols(head * dim, dim));
    for (Index round = 0; round < rounds; ++round) {
      const auto numbers = buckets.of(head, round);
      Index at = round * width, radix = 1;
      for (const Index factor : rotations.factors) {
        attention::for_each_nearest_axis<Scalar>(
            rotated.middleRows(at, factor / 2),
            [&](Index row, Index axis) { numbers[std::size_t(row)] += std::int32_t(radix * axis); });
        radix *= factor;
        at += factor / 2;
      }
    }
  }
  return buckets;
}

/// The hash of texts whose number of buckets follows from their length.
struct LshHashByLength {
  LshHashOptions draw{};  ///< its factors are not read
  Index chunk_len = 64;
  Index max_seq_len = 0;  ///< of all such texts, 0: not known
};

/// The buckets of x, each of its sequences under rotations for lsh_factors_of_two of its own length: what
/// stands beside a text does not change its hash.
///
/// x [n, heads * head_dim]. Throws ShapeError when x, `rows` and the options do not fit each other.
/// Cost: that of lsh_rotations and lsh_buckets.
template <RealMatrix X>
LshBuckets lsh_buckets(const X& x, const LshHashByLength& hash, const RaggedRows& rows = {}) {
  using Scalar = scalar_of<X>;
  LshHashOptions draw = hash.draw;
  expect_equal("lsh_buckets: columns of x", x.cols(), draw.heads * draw.head_dim, "heads * head_dim");
  const RaggedRows texts = rows.over(x.rows(), "lsh_buckets: x");
  LshBuckets all{x.rows(), draw.heads, draw.rounds, {}};
  all.numbers.resize(std::size_t(x.rows() * draw.heads * draw.rounds));
  LshRotations<Scalar> rotations;
  for (Index s = 0; s < texts.sequences(); ++s) {
    const Range text = texts[s];
    draw.factors = lsh_factors_of_two(text.size(), hash.chunk_len, hash.max_seq_len);
    if (rotations.factors != draw.factors) rotations = lsh_rotations<Scalar>(draw);
    const LshBuckets own = lsh_buckets(Matrix<Scalar>(x.middleRows(text.begin, text.size())), rotations);
    for (Index head = 0; head < draw.heads; ++head)
      for (Index round = 0; round < draw.rounds; ++round)
        std::ranges::copy(own.of(head, round), all.of(head, round).begin() + text.begin);
  }
  return all;
}

}  // namespace headwise
