#include "report/sparse.hpp"

#include <headwise/core/random.hpp>

#include "report/growth.hpp"
#include "report/numbers.hpp"

#include <stdexcept>
#include <utility>

namespace headwise::report {

namespace {

Operands one_head(Index seq_len) {
  Rng rng(7);
  const auto one = [&] { return normal(seq_len, head_dim, 1.0f, rng); };
  return {one(), one(), one(), {}};
}

Operands first_of(const Operands& x, Index seq_len) {
  return {x.query.topRows(seq_len), x.key.topRows(seq_len), x.value.topRows(seq_len), {}};
}

void expect_closed_form(SparsePattern pattern, Index seq_len, const SparseCall& call) {
  const Index counted = call.pairs(), known = pairs(pattern, seq_len);
  if (counted == known) return;
  throw std::logic_error("explain counts " + grouped(counted) + " pairs for " +
                         std::string(name_of(pattern)) + " attention over " + std::to_string(seq_len) +
                         " tokens, the closed form " + grouped(known));
}

/// What the calls of one pattern at one length took so far.
struct SparsePoint {
  SparsePattern pattern{};
  Index seq_len = 0;
  std::vector<double> seconds{};
};

void time_round(int round, std::vector<SparsePoint>& points, const Operands& longest,
                const SparseOptions& options, Progress& progress) {
  volatile float sink = 0;
  Operands operands;
  const std::string stage =
      "timing sparse patterns, round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds);
  for (SparsePoint& point : points) {
    if (round > 0 && summarise(point.seconds).fastest > options.once_above) continue;
    progress.step(stage, std::string(name_of(point.pattern)) + ", " + grouped(point.seq_len) + " tokens");
    if (operands.query.rows() != point.seq_len) operands = first_of(longest, point.seq_len);
    const SparseCall call = make_call(point.pattern, operands);
    if (round == 0) expect_closed_form(point.pattern, point.seq_len, call);
    const auto seconds = repeat([&] { sink = call.run(); }, options.budget, options.most_runs);
    point.seconds.insert(point.seconds.end(), seconds.begin(), seconds.end());
  }
}

}  // namespace

SparseCall make_call(SparsePattern pattern, const Operands& x) {
  return full_attention_of(pattern) == SparsePattern::causal ? make_causal_call(pattern, x)
                                                             : make_bidirectional_call(pattern, x);
}

std::vector<SparseCurve> measure_sparse(const SparseOptions& options, Progress& progress) {
  std::vector<SparsePoint> points;
  for (const Index seq_len : lengths_up_to(options.longest))
    for (const SparsePattern pattern : sparse_patterns)
      if (seq_len >= fitted_from) points.push_back({pattern, seq_len});
  if (points.empty()) return {};
  const Operands longest = one_head(points.back().seq_len);
  for (int round = 0; round < options.rounds; ++round) time_round(round, points, longest, options, progress);

  std::vector<SparseCurve> curves;
  for (const SparsePattern pattern : sparse_patterns) {
    SparseCurve& curve = curves.emplace_back();
    curve.pattern = pattern;
    for (const SparsePoint& point : points) {
      if (point.pattern != pattern) continue;
      const double flops = 4.0 * double(head_dim) * double(pairs(pattern, point.seq_len));
      curve.samples.push_back({point.seq_len, summarise(point.seconds), flops});
    }
    fit(curve);
  }
  return curves;
}

void fit(SparseCurve& curve) {
  std::vector<double> length, seconds, work, promise;
  for (const Sample& sample : curve.samples) {
    if (!(sample.timing.seconds > 0)) continue;
    length.push_back(double(sample.seq_len));
    seconds.push_back(sample.timing.seconds);
    work.push_back(double(pairs(curve.pattern, sample.seq_len)));
    promise.push_back(promised_cost(curve.pattern, sample.seq_len));
  }
  if (length.size() < 3) return;
  curve.time_law = fit_power_law(length, seconds);
  curve.work_law = fit_power_law(length, work);
  curve.promised_law = fit_power_law(length, promise);
}

const SparseCurve* find(const std::vector<SparseCurve>& curves, SparsePattern pattern) {
  for (const SparseCurve& curve : curves)
    if (curve.pattern == pattern) return &curve;
  return nullptr;
}

Index break_even(const std::vector<SparseCurve>& curves, SparsePattern pattern) {
  const SparseCurve* sparse = find(curves, pattern);
  const SparseCurve* full = find(curves, full_attention_of(pattern));
  if (sparse == nullptr || full == nullptr) return 0;
  for (const Sample& sample : sparse->samples)
    for (const Sample& other : full->samples)
      if (other.seq_len == sample.seq_len && sample.timing.seconds < other.timing.seconds)
        return sample.seq_len;
  return 0;
}

}  // namespace headwise::report
