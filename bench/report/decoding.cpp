#include "report/decoding.hpp"

#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>

#include "report/numbers.hpp"

namespace headwise::report {

namespace {

constexpr Index query_heads = 32, decode_head_dim = 128;

DecodeSample measure(const Matrix<float>& key, const Matrix<float>& value, Index kv_heads, Index cache,
                     double budget) {
  Rng rng(11);
  const Matrix<float> query = normal(Index(1), query_heads * decode_head_dim, 1.0f, rng);
  const AttendOptions options{.heads = query_heads, .kv_heads = kv_heads, .query_offset = align_last};
  const Index columns = kv_heads * decode_head_dim;
  const auto call = [&] {
    return attend(query, key.topLeftCorner(cache, columns), value.topLeftCorner(cache, columns), options,
                  mask::Causal{});
  };
  DecodeSample sample;
  sample.cache = cache;
  sample.kv_heads = kv_heads;
  sample.timing = summarise(repeat(call, budget, 50));
  sample.bytes = 2.0 * double(sizeof(float)) * double(cache * columns);
  sample.flops = 4.0 * double(cache) * double(query_heads * decode_head_dim);
  return sample;
}

}  // namespace

std::vector<DecodeSample> measure_decoding(Index longest_cache, double budget, Progress& progress) {
  std::vector<DecodeSample> samples;
  for (const Index kv_heads : {query_heads, query_heads / 4}) {
    Rng rng(12);
    const Matrix<float> key = normal(longest_cache, kv_heads * decode_head_dim, 1.0f, rng);
    const Matrix<float> value = normal(longest_cache, kv_heads * decode_head_dim, 1.0f, rng);
    for (Index cache = std::min<Index>(1024, longest_cache); cache <= longest_cache; cache *= 4) {
      progress.step("one token over a cache of " + grouped(cache) + ", " + std::to_string(kv_heads) +
                    " key-value heads");
      samples.push_back(measure(key, value, kv_heads, cache, budget));
    }
  }
  return samples;
}

}  // namespace headwise::report
