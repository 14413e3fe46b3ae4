#pragma once

#include "report/growth.hpp"
#include "report/results.hpp"

#include <cmath>
#include <string>

namespace headwise::report {

/// Results of a machine that does not exist: exact power laws, hostile names, four sentences in two topics.
inline Results made_up_results(Index longest = 4096) {
  Results results;
  results.machine = {"A <fast> & \"cheap\" CPU", "System", "Compiler", "2026-01-01", "AVX", "AVX", 2};
  results.ceilings = {200e9, 20e9, "AVX", 1e8};
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const Pattern pattern : patterns) {
      Curve curve{pattern, direction, {}, {}, {}, {}, {}};
      for (const Index length : lengths_up_to(longest)) {
        const double flops = direction == Direction::forward ? forward_flops(pattern, length)
                                                             : backward_flops(pattern, length);
        curve.samples.push_back({length, {flops / 100e9, flops / 100e9, 3}, flops});
      }
      fit(curve);
      results.curves.push_back(curve);
    }
  }
  results.memory.push_back({Pattern::dense, 4096, 20.0 * 1024 * 1024, 50.0 * 1024 * 1024});
  results.tiles.push_back({Pattern::dense, 4096, 16777216, 16777216, 0, 0, 4096, 64, 64, "AVX"});
  SentenceStudy& study = results.sentences;
  study.model = "a model";
  study.sentences = {"It rains <hard>.", "It snows & hails.", "Add salt.", "Stir \"well\"."};
  study.topics = {"weather", "weather", "cooking", "cooking"};
  study.tokens = {5, 6, 4, 4};
  study.similarity = Matrix<double>(4, 4);
  study.similarity << 1, 0.8, 0.1, -0.1, 0.8, 1, 0.2, 0, 0.1, 0.2, 1, 0.7, -0.1, 0, 0.7, 1;
  study.dimensions = 8;
  study.seconds_per_sentence = 0.005;
  study.tokens_per_second = 1000;
  results.masks.push_back({"mask/causal", "Causal", "The past.", "<svg viewBox=\"0 0 1 1\"></svg>"});
  results.calls.push_back(
      {"attention/lsh", "LSH", "What a hash puts near.", "<svg viewBox=\"0 0 1 1\"></svg>"});
  results.longest = longest;
  results.minutes = 2.5;
  return results;
}

}  // namespace headwise::report
