#include <headwise/core/product.hpp>
#include <headwise/core/random.hpp>
#include <headwise/layer/chunked.hpp>
#include <headwise/layer/elementwise.hpp>

#include "support/sweep.hpp"

namespace headwise {
namespace {

/// A feed-forward layer of 256 and 1024, `range` of its 4096 rows at a time: the time should not depend on it
/// before chunks are very small.
void chunked_feed_forward(benchmark::State& state) {
  const Index rows = 4096, d_model = 256, d_ff = 1024;
  Rng rng(1);
  const auto up = normal(d_model, d_ff, 0.1f, rng), down = normal(d_ff, d_model, 0.1f, rng);
  const auto x = normal(rows, d_model, 1.0f, rng);

  for (auto _ : state) {
    auto y = chunked([&](const Matrix<float>& part) { return multiply(relu(multiply(part, up)), down); }, x,
                     state.range(0));
    benchmark::DoNotOptimize(y.data());
  }
  state.counters["hidden bytes"] = double(state.range(0) * d_ff) * sizeof(float);
  state.counters["flop/s"] = bench::rate(4.0 * double(rows * d_model * d_ff));
}
BENCHMARK(chunked_feed_forward)->RangeMultiplier(4)->Range(16, 4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headwise
