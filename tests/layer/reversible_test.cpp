#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/autograd/reversible.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/core/random.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <cmath>
#include <malloc.h>
#include <string>
#include <vector>

namespace headwise {
namespace {

using check::near;
using check::random;

/// relu(x W) V, or with dropout of its input, drawn for (seed, row, column).
struct Step {
  Parameter<double> in, out;
  double rate = 0;
  std::uint64_t seed = 0;

  Matrix<double> kept(Index rows, Index cols) const {
    Rng rng(seed);
    Matrix<double> factors(rows, cols);
    for (Index i = 0; i < factors.size(); ++i) factors.data()[i] = rng.unit() < rate ? 0.0 : 1 / (1 - rate);
    return factors;
  }
  auto operator()(const Sequence auto& x) const {
    return multiply(relu(multiply(multiply_elementwise(x, kept(x.rows(), x.cols())), in)), out);
  }
};

Step step_of(Index width, std::uint64_t seed, double rate = 0) {
  return {{0.3 * random(width, 2 * width, seed)}, {0.3 * random(2 * width, width, seed + 1)}, rate, seed};
}

using Pair = layer::ReversiblePair<Step, Step>;

std::vector<Pair> layers_of(Index depth, Index width, double rate = 0) {
  std::vector<Pair> layers;
  for (Index i = 0; i < depth; ++i)
    layers.push_back(layer::reversible_pair(step_of(width, std::uint64_t(10 * i), rate),
                                            step_of(width, std::uint64_t(10 * i + 5), rate)));
  return layers;
}

/// The same, every result of which is kept.
template <class X>
auto stored(const std::vector<Pair>& layers, X x1, X x2) {
  for (const Pair& each : layers) {
    x1 = add(x1, each.f(x2));
    x2 = add(x2, each.g(x1));
  }
  return concatenate_columns(x1, x2);
}

TEST(Reversible, GradientsAreThoseOfTheStoredVersion) {
  for (const double rate : {0.0, 0.4}) {
    for (const Index depth : {0, 1, 6, 24}) {
      SCOPED_TRACE(std::to_string(depth) + " layers, dropout " + std::to_string(rate));
      const auto layers = layers_of(depth, 4, rate);
      const Matrix<double> x = random(5, 4, 1), d = random(5, 8, 2);
      autograd::Tape<double> all, last;
      const auto x_all = all.input(x), x_last = last.input(x);
      const auto expected = stored(layers, add(x_all, x_all), x_all);
      // [docs layer/reversible]
      const auto y = reversible(layers, add(x_last, x_last), x_last);  // one node, whatever the depth
      const auto gradients = backward(y, d);
      // [docs end]
      EXPECT_EQ(y.value(), expected.value());
      EXPECT_EQ(y.value(), reversible(layers, Matrix<double>(2 * x), x));
      EXPECT_EQ(last.size() - std::size_t(4 * depth), 3u) << "two streams and their results";
      const auto wanted = backward(expected, d);
      EXPECT_TRUE(near(gradients.of(x_last), wanted.of(x_all), 1e-11, 1e-10));
      for (const Pair& each : layers)
        for (const Step* part : {&each.f, &each.g}) {
          EXPECT_TRUE(near(gradients.of(part->in), wanted.of(part->in), 1e-11, 1e-10));
          EXPECT_TRUE(near(gradients.of(part->out), wanted.of(part->out), 1e-11, 1e-10));
        }
    }
  }
}

/// Twice x, or nothing.
struct Drop {
  bool keeps;
  auto operator()(const Sequence auto& x) const {
    Rng rng(keeps ? 1 : 2);
    return multiply_elementwise(x, Matrix<double>(Matrix<double>::Constant(1, 1, rng.unit() < 0.5 ? 2 : 0)));
  }
};

struct Same {
  auto operator()(const Sequence auto& x) const {
    return multiply_elementwise(x, Matrix<double>(Matrix<double>::Ones(1, 1)));
  }
};

/// x1 = 1, x2 = 2, y1 = x1 + drop(x2), y2 = x2 + y1, loss y1 + y2.
TEST(Reversible, B83_RecomputingDrawsTheSameDropout) {
  for (const bool keeps : {false, true}) {
    const bool is_kept = Rng(keeps ? 1 : 2).unit() < 0.5;
    const std::vector layers{layer::reversible_pair(Drop{keeps}, Same{})};
    autograd::Tape<double> tape;
    const auto x1 = tape.input(Matrix<double>::Constant(1, 1, 1)),
               x2 = tape.input(Matrix<double>::Constant(1, 1, 2));
    const auto gradients = backward(reversible(layers, x1, x2), Matrix<double>::Ones(1, 2));
    EXPECT_EQ(gradients.of(x1)(0, 0), 2);
    EXPECT_EQ(gradients.of(x2)(0, 0), is_kept ? 5 : 1);
  }
}

/// A choice that hangs on the last bits: recomputed from what was undone it could come out otherwise.
struct Chooser {
  int* asked;
  std::vector<bool> remember(const Matrix<double>& x) const {
    ++*asked;
    return {x(0, 0) > 0};
  }
  auto operator()(const Sequence auto& x, const std::vector<bool>& chosen) const {
    return multiply_scalar(x, chosen[0] ? 3.0 : 0.5);
  }
};

TEST(Reversible, ChoicesAreRememberedNotMadeAgain) {
  int asked = 0;
  const std::vector layers{layer::reversible_pair(Chooser{&asked}, Chooser{&asked})};
  autograd::Tape<double> tape;
  const auto x1 = tape.input(Matrix<double>::Constant(1, 1, -2)),
             x2 = tape.input(Matrix<double>::Constant(1, 1, 1));
  const auto y = reversible(layers, x1, x2);  // y1 = -2 + 3, y2 = 1 + 3 (-2 + 3)
  EXPECT_EQ(y.value()(0, 0), 1);
  EXPECT_EQ(y.value()(0, 1), 4);
  const auto gradients = backward(y, Matrix<double>::Ones(1, 2));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(gradients.of(x1)(0, 0), 4);
  EXPECT_EQ(gradients.of(x2)(0, 0), 1 + 12);
}

/// Bytes that are allocated now; glibc counts them.
std::ptrdiff_t allocated() {
  const auto info = mallinfo2();
  return std::ptrdiff_t(info.uordblks + info.hblkhd);
}

/// A step that notes the most that was ever allocated when it ran. Its parameters are lent: parameters and
/// their gradients do grow with depth.
struct Watched {
  const Step* step;
  std::ptrdiff_t* most;

  auto operator()(const Sequence auto& x) const {
    *most = std::max(*most, allocated());
    return (*step)(x);
  }
};

TEST(Reversible, BytesDoNotGrowWithDepth) {
  const std::ptrdiff_t empty = allocated();
  const Matrix<double> probe = random(512, 4, 1);
  if (allocated() - empty < 512 * 4 * 8) GTEST_SKIP() << "this allocator does not count";

  const Step shared = step_of(4, 1);
  const auto bytes = [&](Index depth) {
    std::ptrdiff_t most = 0;
    const std::vector layers(std::size_t(depth),
                             layer::reversible_pair(Watched{&shared, &most}, Watched{&shared, &most}));
    const Matrix<double> x = 0.01 * random(512, 4, 3), d = random(512, 8, 4);
    autograd::Tape<double> tape;
    const auto input = tape.input(x);
    const auto before = allocated();
    const auto y = reversible(layers, input, input);
    const auto kept = allocated() - before;
    most = 0;
    EXPECT_GT(backward(y, d).of(input).norm(), 0);
    return std::pair{kept, most - before};
  };
  const auto [kept, most] = bytes(1);
  EXPECT_GT(kept, 512 * 8 * 8);
  EXPECT_LT(kept, 2 * 512 * 8 * 8) << "both streams once, and little else";
  for (const Index depth : {2, 12, 24}) {
    const auto deep = bytes(depth);
    EXPECT_LE(deep.first - kept, 64 * depth) << depth;
    EXPECT_LE(deep.second - most, 512 * 4 * 8) << depth << ": less than one more stream";
  }
}

TEST(Reversible, RefusesStreamsOfDifferentShapes) {
  const auto layers = layers_of(1, 4);
  const auto refusal = [&](const Matrix<double>& x1, const Matrix<double>& x2) {
    try {
      (void)reversible(layers, x1, x2);
    } catch (const ShapeError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(random(2, 4, 1), random(3, 4, 1)),
            "reversible: rows of x2 is 3, expected 2; both streams have one shape");
  EXPECT_EQ(refusal(random(2, 4, 1), random(2, 5, 1)),
            "reversible: columns of x2 is 5, expected 4; both streams have one shape");
}

}  // namespace
}  // namespace headwise
