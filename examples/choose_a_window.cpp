// How much does a short window lose against full causal attention?
#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/alibi.hpp>

#include <cstdio>

int main() {
  namespace hw = headwise;
  constexpr hw::Index seq_len = 1024, head_dim = 64;

  hw::Rng rng(7);
  const auto query = hw::normal(seq_len, head_dim, 1.0f, rng);
  const auto key = hw::normal(seq_len, head_dim, 1.0f, rng);
  const auto value = hw::normal(seq_len, head_dim, 1.0f, rng);

  // A quarter of a unit less for each token of distance: what lies far back hardly matters.
  const hw::Matrix<float> slope = hw::Matrix<float>::Constant(1, 1, 0.25f);
  const hw::score::Alibi recency(slope);
  const auto full = hw::attend(query, key, value, hw::mask::Causal{}, recency);

  for (hw::Index width : {8, 16, 32, 64}) {
    const hw::mask::SlidingWindow window{.width = width};
    const auto local = hw::attend(query, key, value, window, recency);
    std::printf("window %3td: relative error %.1e\n", width, double((local - full).norm() / full.norm()));
  }
}
