// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/algebra.hpp>
#include <headwise/mask/prefix.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/where.hpp>

#include "model/cached_decode.hpp"

namespace headwise::model {
namespace {

using check::expect_steps_are_whole;

TEST(CachedDecode, EveryCausalMaskIsThatOfTheWholeText) {
  const mask::Causal causal;
  expect_steps_are_whole(mask::SlidingWindow{.width = 2} || (mask::Prefix{.length = 2} && causal),
                         score::None{});
  expect_steps_are_whole(causal && mask::where([](Index q, Index k) { return (q - k) % 3 != 1; }),
                         score::None{});
}

}  // namespace
}  // namespace headwise::model
