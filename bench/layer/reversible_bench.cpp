#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/autograd/reversible.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/core/random.hpp>

#include "support/sweep.hpp"

#include <vector>

namespace headwise {
namespace {

constexpr Index rows = 512, width = 64;

struct Step {
  const Parameter<float>* weight;
  auto operator()(const Sequence auto& x) const { return relu(multiply(x, *weight)); }
};

/// Forward and backward of `depth` layers of two products each, undone on the way back. Two products more a
/// layer than when everything is kept: one for each of f and g.
void reversible_layers(benchmark::State& state) {
  const Index depth = state.range(0);
  Rng rng(1);
  const Parameter<float> weight{normal(width, width, 0.1f, rng)};
  const std::vector layers(std::size_t(depth), layer::reversible_pair(Step{&weight}, Step{&weight}));
  const auto x = normal(rows, width, 1.0f, rng), d = normal(rows, 2 * width, 1.0f, rng);

  for (auto _ : state) {
    autograd::Tape<float> tape;
    const auto input = tape.input(x);
    const auto gradients = backward(reversible(layers, input, input), d);
    benchmark::DoNotOptimize(gradients.of(input).data());
  }

  state.counters["flop/s"] = bench::rate(8.0 * 2.0 * double(depth * rows * width * width));
  state.SetComplexityN(depth);
}
BENCHMARK(reversible_layers)
    ->RangeMultiplier(2)
    ->Range(1, 32)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise
