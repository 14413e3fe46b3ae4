#include "report/scaling.hpp"

#include "report/attention_calls.hpp"
#include "report/growth.hpp"
#include "report/numbers.hpp"

#include <algorithm>
#include <stdexcept>

namespace headwise::report {

namespace {

void expect_same_pairs(Pattern pattern, Index seq_len) {
  const Index counted = explain_pattern(pattern, seq_len).pairs, known = pairs(pattern, seq_len);
  if (counted == known) return;
  throw std::logic_error("explain counts " + grouped(counted) + " pairs for " +
                         std::string(name_of(pattern)) + " attention over " + std::to_string(seq_len) +
                         " tokens, the closed form " + grouped(known));
}

double flops_of(Direction direction, Pattern pattern, Index seq_len) {
  return direction == Direction::forward ? forward_flops(pattern, seq_len) : backward_flops(pattern, seq_len);
}

/// A call's time at the next length, from the last one and the work of both.
bool would_take_too_long(const Curve& curve, double flops, double longest_call) {
  if (curve.samples.empty()) return false;
  const Sample& last = curve.samples.back();
  return last.timing.seconds * flops / last.flops > longest_call;
}

void measure_length(Curve& curve, const Operands& operands, const ScalingOptions& options) {
  const Index seq_len = operands.query.rows();
  const double flops = flops_of(curve.direction, curve.pattern, seq_len);
  if (would_take_too_long(curve, flops, options.longest_call)) {
    curve.skipped.push_back(seq_len);
    return;
  }
  Timing timing;
  volatile float sink = 0;
  if (curve.direction == Direction::forward) {
    timing = measure([&] { sink = run_forward(curve.pattern, operands).output(0, 0); }, options.budget,
                     options.most_runs);
  } else {
    const Attended<float> attended = run_forward(curve.pattern, operands);
    timing = measure([&] { sink = run_backward(curve.pattern, operands, attended); }, options.budget,
                     options.most_runs);
  }
  curve.samples.push_back({seq_len, timing, flops});
}

}  // namespace

std::vector<Curve> measure_scaling(const ScalingOptions& options, Progress& progress) {
  std::vector<Curve> curves;
  for (const Direction direction : {Direction::forward, Direction::backward})
    for (const Pattern pattern : patterns) curves.push_back({pattern, direction, {}, {}, {}, {}});

  // Patterns take turns within a length: what the machine does meanwhile meets all of them alike.
  for (const Index seq_len : lengths_up_to(std::max(options.longest_forward, options.longest_backward))) {
    const Operands operands = make_operands(seq_len);
    for (Curve& curve : curves) {
      const bool forward = curve.direction == Direction::forward;
      if (seq_len > (forward ? options.longest_forward : options.longest_backward)) continue;
      progress.step("timing " + grouped(seq_len) + " tokens",
                    std::string(name_of(curve.pattern)) + (forward ? ", forward" : ", backward"));
      if (forward) expect_same_pairs(curve.pattern, seq_len);
      measure_length(curve, operands, options);
    }
  }
  for (Curve& curve : curves) fit(curve);
  return curves;
}

}  // namespace headwise::report
