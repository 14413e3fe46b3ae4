// Causal attention of eight heads that share two, with ALiBi under a soft cap: one include a policy, one
// call.
#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/soft_cap.hpp>

#include <cstdio>

namespace hw = headwise;

int main() {
  hw::Rng rng(1);
  // [docs attention/attend]
  const auto query = hw::normal(1024, 8 * 64, 1.0f, rng);  // one row a token, a head is 64 columns
  const auto key = hw::normal(1024, 2 * 64, 1.0f, rng);
  const auto value = hw::normal(1024, 2 * 64, 1.0f, rng);

  const hw::Matrix<float> out = hw::attend(query, key, value, {.heads = 8, .kv_heads = 2}, hw::mask::Causal{},
                                           hw::score::Alibi(8) >> hw::score::SoftCap{.limit = 30});
  // [docs end]
  std::printf("%td x %td, first row %.3f %.3f %.3f ...\n", out.rows(), out.cols(), double(out(0, 0)),
              double(out(0, 1)), double(out(0, 2)));
}
