// Ratios of one run: what a policy, a window, a gathered plan and decoding cost against plain attention and
// against the machine's own limits. Contenders take turns and the fastest run of each counts. headwise_ratios
// [seconds]
#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/function.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include "report/ceilings.hpp"
#include "report/stopwatch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace headwise {
namespace {

using report::processor_seconds;

struct Contender {
  std::string name;
  std::function<void()> run;
  double work = 1;  ///< in units of the first contender's
  double fastest = std::numeric_limits<double>::infinity();
};

/// Times all in turn and prints time and efficiency, work a second, against the first.
void compare(const char* title, std::vector<Contender> contenders, double seconds) {
  for (Contender& c : contenders) c.run();
  const double start = processor_seconds();
  do {
    for (Contender& c : contenders) {
      const double before = processor_seconds();
      c.run();
      c.fastest = std::min(c.fastest, processor_seconds() - before);
    }
  } while (processor_seconds() - start < seconds);
  std::printf("\n%s\n%-34s %10s %8s %11s\n", title, "", "ms", "time", "efficiency");
  const Contender& first = contenders.front();
  for (const Contender& c : contenders) {
    const double time = c.fastest / first.fastest;
    std::printf("%-34s %10.2f %8.4f %11.2f\n", c.name.c_str(), 1e3 * c.fastest, time, c.work / time);
  }
}

struct Operands {
  Matrix<float> query, key, value;

  explicit Operands(Index length, Index columns = 64) {
    Rng rng(1);
    query = normal(length, columns, 1.0f, rng);
    key = normal(length, columns, 1.0f, rng);
    value = normal(length, columns, 1.0f, rng);
  }
};

/// A contender that calls attend.
template <class Mask = mask::None, class Score = score::None>
Contender call(std::string name, const Operands& x, Mask mask = {}, Score score = {},
               AttendOptions options = {}) {
  return {std::move(name),
          [&x, mask, score, options] { attend(x.query, x.key, x.value, options, mask, score); }};
}

void compare_policies(double seconds) {
  const Operands x(4096);
  Rng rng(2);
  const Matrix<float> table = normal(Index(32), Index(1), 1.0f, rng),
                      bias = normal(Index(4096), Index(4096), 1.0f, rng);
  const Eigen::Map<const Matrix<float>> view(bias.data(), bias.rows(), bias.cols());
  const auto distance = [](auto s, auto q, auto k) { return s - decltype(s)(0.25) * decltype(s)(q - k); };
  const mask::Causal causal;
  const auto plain = call("causal", x, causal);
  compare("Scores on a causal mask, 4,096 tokens, head_dim 64",
          {plain, call("ALiBi", x, causal, score::Alibi(1)),
           call("T5 bias", x, causal, score::T5Bias<Matrix<float>>(table)),
           call("soft cap", x, causal, score::SoftCap{.limit = 30}),
           call("ALiBi >> soft cap", x, causal, score::Alibi(1) >> score::SoftCap{.limit = 30}),
           call("a lambda", x, causal, score::function(distance)),
           call("dense bias", x, causal, score::dense_bias(view))},
          seconds);
}

void compare_window(double seconds) {
  const Operands x(16384);
  const double pairs = 256.0 * 16384 - 256.0 * 255 / 2;
  Contender window = call("causal window of 256", x, mask::SlidingWindow{.width = 256});
  window.work = pairs / (16384.0 * 16384.0);
  compare("A window, 16,384 tokens, head_dim 64", {call("dense", x), window}, seconds);
}

/// Each block of 64 queries sees 256 keys: neighbours, keys 64 apart, or blocks of a shuffled list.
Plans gathered(Index length, int how) {
  Plan plan;
  std::vector<Index> shuffled(static_cast<std::size_t>(length));
  std::iota(shuffled.begin(), shuffled.end(), Index(0));
  Rng rng(3);
  for (std::size_t i = shuffled.size(); i > 1; --i)
    std::swap(shuffled[i - 1], shuffled[std::size_t(uniform(Index(1), Index(1), 0.0, double(i), rng)(0, 0))]);
  for (Index first = 0; first < length; first += 64) {
    const Index block = first / 64, seen = 256;
    const Index begin = std::min(first, length - seen);
    RowList keys = RowList::contiguous({begin, begin + seen});
    if (how == 1) keys = RowList::affine(block % 64, 64, std::min(seen, length / 64));
    if (how == 2) {
      const auto from = shuffled.begin() + begin;
      std::vector<Index> rows(from, from + seen);
      keys = RowList::of(std::move(rows));
    }
    plan.items.push_back({RowList::contiguous({first, first + 64}), keys});
  }
  return {{plan}, 1, 1};
}

void compare_plans(double seconds) {
  const Index length = 16384;
  const Operands x(length), few(4096);
  const double share = 256.0 / double(length);
  std::vector<Contender> all{call("dense", x)};
  const char* names[] = {"neighbours", "keys 64 apart", "a shuffled list"};
  std::vector<Plans> plans{gathered(length, 0), gathered(length, 1), gathered(length, 2)};
  for (int how = 0; how < 3; ++how)
    all.push_back(
        {names[how], [&, how] { attend_over(plans[std::size_t(how)], x.query, x.key, x.value); }, share});
  compare("Plans of 256 keys for each 64 queries, 16,384 tokens, head_dim 64", std::move(all), seconds);
}

float sum_of(const Matrix<float>& x) { return x.sum(); }

void compare_decoding(double seconds) {
  for (const Index kv_heads : {32, 8}) {
    const Index cache = 32768, columns = kv_heads * 128;
    const Operands x(cache, columns);
    Rng rng(4);
    const Matrix<float> query = normal(Index(1), Index(32 * 128), 1.0f, rng);
    const AttendOptions options{.heads = 32, .kv_heads = kv_heads, .query_offset = align_last};
    volatile float sink = 0;
    compare(("Decoding over 32,768 keys, 32 query heads of 128, key-value heads: " + std::to_string(kv_heads))
                .c_str(),
            {{"reading keys and values", [&] { sink = sum_of(x.key) + sum_of(x.value); }},
             {"one token", [&] { attend(query, x.key, x.value, options, mask::Causal{}); }}},
            seconds);
  }
}

void compare_sets(double seconds) {
  const Operands x(4096);
  const report::Ceilings ceilings = report::measure_ceilings();
  std::printf("\npeak %.1f GFLOP/s with %s\n", ceilings.flops_per_second / 1e9,
              ceilings.instruction_set.c_str());
  std::vector<Contender> sets;
  for (const InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::baseline})
    if (is_available(set))
      sets.push_back(call(name(set), x, mask::None{}, score::None{}, {.instruction_set = set}));
  compare("Dense, 4,096 tokens, head_dim 64, 4.29 GFLOP a call", std::move(sets), seconds);
}

}  // namespace
}  // namespace headwise

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5.0;
  headwise::compare_sets(seconds);
  headwise::compare_policies(seconds);
  headwise::compare_window(seconds);
  headwise::compare_plans(seconds);
  headwise::compare_decoding(seconds);
}
