// Sparse patterns of ours as a shared library, for longformer.py and bigbird.py. Rows are [tokens, heads *
// 64].
#include <headwise/attention/longformer.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/mask/none.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

namespace hw = headwise;

constexpr hw::Index head_dim = 64;

hw::Matrix<float> rows(const float* numbers, long length, long heads) {
  return Eigen::Map<const hw::Matrix<float>>(numbers, length, heads * head_dim);
}

void write(const hw::Matrix<float>& from, float* to) { std::copy_n(from.data(), from.size(), to); }

}  // namespace

extern "C" {

/// The first `global` tokens are global, and see through projections of their own: q, k, v, then qg, kg, vg.
void longformer(const float* const* projections, float* out, long length, long heads, long reach,
                long global) {
  std::vector<hw::Matrix<float>> p;
  for (int i = 0; i < 6; ++i) p.push_back(rows(projections[i], length, heads));
  hw::LongformerPattern pattern{.reach = reach};
  pattern.global.assign(std::size_t(length), false);
  std::fill_n(pattern.global.begin(), global, true);
  const hw::LongformerInputs<float> in{p[0], p[1], p[2], p[3], p[4], p[5]};
  write(hw::attend_longformer(in, pattern, {.heads = heads}).output, out);
}

/// table [heads, blocks - 2, random]: the blocks drawn for all blocks of queries but the first and the last.
void big_bird(const float* const* projections, float* out, long length, long heads, long block_size,
              long random, const long* table) {
  const hw::Index blocks = length / block_size;
  std::vector<hw::Index> drawn(std::size_t(heads * blocks * random), -1);
  for (hw::Index head = 0; head < heads; ++head)
    std::copy_n(table + head * (blocks - 2) * random, (blocks - 2) * random,
                drawn.begin() + (head * blocks + 1) * random);
  const hw::mask::BigBird pattern(hw::mask::RandomBlocks(block_size, blocks, heads, std::move(drawn)));
  const hw::Plans plans = hw::plans_of(pattern, length, heads);
  const hw::Matrix<float> q = rows(projections[0], length, heads), k = rows(projections[1], length, heads),
                          v = rows(projections[2], length, heads);
  write(hw::attend_over(plans, q, k, v, {.heads = heads}).output, out);
}
}
