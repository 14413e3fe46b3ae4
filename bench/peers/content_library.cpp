// Content-based patterns of ours as a shared library, for reformer.py, routing.py and sinkhorn.py. Rows are
// [tokens, heads * 64].
#include <headwise/attention/lsh.hpp>
#include <headwise/attention/routing.hpp>
#include <headwise/attention/sinkhorn.hpp>
#include <headwise/mask/causal.hpp>

#include <algorithm>
#include <vector>

namespace {

namespace hw = headwise;

constexpr hw::Index head_dim = 64;

using Rows = Eigen::Map<const hw::Matrix<float>>;

Rows rows(const float* numbers, long length, long heads) { return {numbers, length, heads * head_dim}; }

void write(const hw::Matrix<float>& from, float* to) { std::copy_n(from.data(), from.size(), to); }

}  // namespace

extern "C" {

/// rotations [heads * 64, rounds * buckets / 2]; as in transformers, hashing, sorting and plans included.
void lsh(const float* query, const float* value, const float* rotations, float* out, long length, long heads,
         long chunk, long rounds, long buckets) {
  const hw::LshRotations<float> drawn{
      heads,
      rounds,
      {buckets},
      Eigen::Map<const hw::Matrix<float>>(rotations, heads * head_dim, rounds * buckets / 2)};
  const Rows q = rows(query, length, heads), v = rows(value, length, heads);
  write(hw::attend_lsh(q, v, hw::lsh_buckets(q, drawn),
                       {.chunk_len = chunk,
                        .wrap = hw::LshWrap::global,
                        .repeats = hw::LshRepeats::counted,
                        .epsilon = 1e-6},
                       {.heads = heads}, hw::mask::Causal{})
            .output,
        out);
}

/// means [clusters, heads * 64]; a shared query and key as in routing-transformer, choosing included.
void routing(const float* query, const float* value, const float* means, float* out, long length, long heads,
             long clusters, long window) {
  const Rows q = rows(query, length, heads), v = rows(value, length, heads);
  const hw::Matrix<float> centroids = rows(means, clusters, heads), unit = hw::unit_heads(q, heads);
  const auto chosen = hw::routing_clusters(unit, centroids, window, heads);
  write(
      hw::attend_routing(q, unit, v, chosen, chosen, {.self = hw::RoutingSelf::alone, .count_epsilon = 1e-5},
                         {.heads = heads}, hw::mask::Causal{})
          .output,
      out);
}

/// The `best` blocks for each block, values equal to keys as the package has them; scores and choice
/// included.
void sinkhorn(const float* query, const float* key, float* out, long length, long heads, long block,
              long best) {
  const Rows q = rows(query, length, heads), k = rows(key, length, heads);
  hw::BlockMatrices<float> weights;
  for (const auto& scores : hw::block_scores(q, k, block, heads))
    weights.push_back(hw::best_blocks(scores, best));
  write(hw::attend_sinkhorn(q, k, k, weights, block, hw::SinkhornReach::own_blocks, {.heads = heads}).output,
        out);
}
}
