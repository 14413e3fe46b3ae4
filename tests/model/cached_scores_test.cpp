// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include "model/cached_decode.hpp"

namespace headwise::model {
namespace {

using check::expect_steps_are_whole;

TEST(CachedDecode, EveryScoreIsThatOfTheWholeText) {
  const mask::Causal causal;
  Rng rng(2);
  expect_steps_are_whole(causal, score::Alibi(4) >> score::SoftCap{.limit = 3});
  expect_steps_are_whole(causal, score::T5Bias<Matrix<double>>(normal(32, 4, 1.0, rng),
                                                               {.direction = score::T5Direction::causal}));
  expect_steps_are_whole(causal, score::Sink(Matrix<double>(Matrix<double>::Constant(4, 1, 0.5))));
}

}  // namespace
}  // namespace headwise::model
