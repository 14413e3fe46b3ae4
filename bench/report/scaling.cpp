#include "report/scaling.hpp"

#include "report/attention_calls.hpp"
#include "report/growth.hpp"
#include "report/numbers.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

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

/// One call that is timed, and what its runs took so far.
struct Point {
  Pattern pattern{};
  Direction direction{};
  Index seq_len = 0;
  double flops = 0;
  std::vector<double> seconds{};
  bool skipped = false;

  double fastest() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

std::vector<Point> all_points(const ScalingOptions& options) {
  std::vector<Point> points;
  for (const Index seq_len : lengths_up_to(std::max(options.longest_forward, options.longest_backward))) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const bool forward = direction == Direction::forward;
      if (seq_len > (forward ? options.longest_forward : options.longest_backward)) continue;
      for (const Pattern pattern : patterns)
        points.push_back({pattern, direction, seq_len, flops_of(direction, pattern, seq_len)});
    }
  }
  return points;
}

/// Whether the point would exceed the limit if it ran as fast as the next shorter one of its curve.
bool would_take_too_long(const std::vector<Point>& points, const Point& point, double longest_call) {
  const Point* shorter = nullptr;
  for (const Point& other : points) {
    const bool same_curve = other.pattern == point.pattern && other.direction == point.direction;
    if (same_curve && other.seq_len < point.seq_len) shorter = &other;
  }
  if (shorter == nullptr) return false;
  return shorter->skipped || shorter->fastest() * point.flops / shorter->flops > longest_call;
}

void time_point(Point& point, const Operands& operands, const ScalingOptions& options) {
  volatile float sink = 0;
  std::vector<double> seconds;
  if (point.direction == Direction::forward) {
    seconds = repeat([&] { sink = run_forward(point.pattern, operands).output(0, 0); }, options.budget,
                     options.most_runs);
  } else {
    const Attended<float> attended = run_forward(point.pattern, operands);
    seconds = repeat([&] { sink = run_backward(point.pattern, operands, attended); }, options.budget,
                     options.most_runs);
  }
  point.seconds.insert(point.seconds.end(), seconds.begin(), seconds.end());
}

/// Patterns take turns within a length: what the machine does meanwhile meets all of them alike.
void time_round(int round, std::vector<Point>& points, const Operands& longest, const ScalingOptions& options,
                Progress& progress) {
  Operands operands;
  const std::string stage =
      "timing, round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds);
  for (Point& point : points) {
    if (round == 0) {
      expect_same_pairs(point.pattern, point.seq_len);
      point.skipped = would_take_too_long(points, point, options.longest_call);
    }
    if (point.skipped || (round > 0 && point.fastest() > options.once_above)) continue;
    progress.step(stage, std::string(name_of(point.pattern)) +
                             (point.direction == Direction::forward ? " forward, " : " backward, ") +
                             grouped(point.seq_len) + " tokens");
    if (operands.query.rows() != point.seq_len) operands = first_rows(longest, point.seq_len);
    time_point(point, operands, options);
  }
}

std::vector<Curve> curves_of(const std::vector<Point>& points) {
  std::vector<Curve> curves;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const Pattern pattern : patterns) {
      Curve curve{pattern, direction, {}, {}, {}, {}, {}};
      for (const Point& point : points) {
        if (point.pattern != pattern || point.direction != direction) continue;
        if (point.skipped) {
          curve.skipped.push_back(point.seq_len);
        } else {
          curve.samples.push_back({point.seq_len, summarise(point.seconds), point.flops});
        }
      }
      fit(curve);
      curves.push_back(std::move(curve));
    }
  }
  return curves;
}

}  // namespace

std::vector<Curve> measure_scaling(const ScalingOptions& options, Progress& progress) {
  std::vector<Point> points = all_points(options);
  if (points.empty()) return {};
  progress.step("random operands");
  const Operands longest = make_operands(points.back().seq_len);
  for (int round = 0; round < options.rounds; ++round) time_round(round, points, longest, options, progress);
  return curves_of(points);
}

}  // namespace headwise::report
