#include "report/findings.hpp"

#include "report/numbers.hpp"
#include "report/tables.hpp"

#include <algorithm>
#include <cmath>

namespace headwise::report {

namespace {

/// The longest length that both curves have, or null samples.
struct Pair {
  const Sample* first = nullptr;
  const Sample* second = nullptr;
};

Pair longest_in_common(const Curve* a, const Curve* b) {
  if (a == nullptr || b == nullptr) return {};
  for (auto sample = a->samples.rbegin(); sample != a->samples.rend(); ++sample)
    if (const Sample* other = find(*b, sample->seq_len)) return {&*sample, other};
  return {};
}

std::string share_of_dense(const Results& results, Pattern pattern, Direction direction) {
  const auto [sample, dense] =
      longest_in_common(find(results, pattern, direction), find(results, Pattern::dense, direction));
  if (sample == nullptr) return "";
  return std::string(name_of(pattern)) + " attention takes " +
         percent(sample->timing.seconds / dense->timing.seconds) + " of dense attention's time over " +
         grouped(sample->seq_len) + " tokens (" + percent(sample->flops / dense->flops) + " of its work)";
}

}  // namespace

std::string growth_finding(const Results& results, Direction direction) {
  const Curve* dense = find(results, Pattern::dense, direction);
  const Curve* windowed = find(results, Pattern::windowed, direction);
  if (dense == nullptr || windowed == nullptr || !dense->time_law || !windowed->time_law) return "";
  const std::string what = direction == Direction::forward ? "Forward" : "Backward";
  std::string text = what + ", the time of dense attention grows as L^" +
                     fixed(dense->time_law->exponent, 2) + ", that of a window of " + grouped(window_width) +
                     " tokens as L^" + fixed(windowed->time_law->exponent, 2) +
                     "; the exact work grows as L^" + fixed(dense->work_law->exponent, 2) + " and L^" +
                     fixed(windowed->work_law->exponent, 2) + ".";
  const std::string share = share_of_dense(results, Pattern::windowed, direction);
  if (!share.empty()) text += " Concretely, " + share + ".";
  return text;
}

std::string throughput_finding(const Results& results, Direction direction) {
  const Sample* best = nullptr;
  const Curve* of = nullptr;
  for (const Curve& curve : results.curves) {
    if (curve.direction != direction) continue;
    for (const Sample& sample : curve.samples) {
      if (best != nullptr && sample.flops / sample.timing.seconds <= best->flops / best->timing.seconds)
        continue;
      best = &sample;
      of = &curve;
    }
  }
  if (best == nullptr) return "";
  const double rate = best->flops / best->timing.seconds;
  return std::string(direction == Direction::forward ? "Forward" : "Backward") + " reaches " +
         scaled(rate, "FLOP/s") + " on one core, " + percent(rate / results.ceilings.flops_per_second) +
         " of what its multiply-add units do at most (" + std::string(name_of(of->pattern)) + ", " +
         grouped(best->seq_len) + " tokens).";
}

std::string memory_finding(const Results& results) {
  const MemoryUse* use = nullptr;
  for (const MemoryUse& each : results.memory)
    if (each.pattern == Pattern::dense && (use == nullptr || each.seq_len > use->seq_len)) use = &each;
  if (use == nullptr) return "";
  const double weights = double(sizeof(float)) * double(heads) * double(use->seq_len) * double(use->seq_len);
  return "No L × L matrix is formed: dense attention over " + grouped(use->seq_len) + " tokens takes " +
         bytes(use->forward_bytes) + " forward and " + bytes(use->backward_bytes) +
         " with backward, results included, where the weights alone would fill " + bytes(weights) + ".";
}

std::string sentence_finding(const SentenceStudy& study) {
  if (!study.problem.empty()) return "";
  std::size_t agreeing = 0;
  for (std::size_t i = 0; i < study.sentences.size(); ++i)
    agreeing += study.topics[nearest(study, i)] == study.topics[i];
  return "For " + std::to_string(agreeing) + " of " + std::to_string(study.sentences.size()) +
         " sentences the most similar other one is of the same topic; embedding takes " +
         duration(study.seconds_per_sentence) + " a sentence, " +
         grouped(Index(std::llround(study.tokens_per_second))) + " tokens a second on one core.";
}

std::vector<std::string> findings(const Results& results) {
  std::vector<std::string> all{growth_finding(results, Direction::forward),
                               throughput_finding(results, Direction::forward),
                               throughput_finding(results, Direction::backward),
                               memory_finding(results),
                               sparse_finding(results, SparsePattern::dense),
                               sparse_finding(results, SparsePattern::causal),
                               loss_finding(results.training),
                               extrapolation_finding(results.training),
                               decoder_finding(results.decoder),
                               sentence_finding(results.sentences)};
  const std::string causal = share_of_dense(results, Pattern::causal, Direction::forward);
  if (!causal.empty()) {
    std::string text = causal + ".";
    text[0] = 'C';
    all.insert(all.begin() + 1, text);
  }
  std::erase(all, "");
  return all;
}

}  // namespace headwise::report
