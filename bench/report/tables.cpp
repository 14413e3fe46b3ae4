#include "report/tables.hpp"

#include "report/numbers.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace headwise::report {

namespace {

const char* name_of(Direction direction) { return direction == Direction::forward ? "forward" : "backward"; }

std::string power(double exponent, double standard_error) {
  return "L^(" + with_error(exponent, standard_error) + ")";
}

std::set<Index> lengths_of(const Results& results, Direction direction) {
  std::set<Index> lengths;
  for (const Curve& curve : results.curves) {
    if (curve.direction != direction) continue;
    for (const Sample& sample : curve.samples) lengths.insert(sample.seq_len);
    lengths.insert(curve.skipped.begin(), curve.skipped.end());
  }
  return lengths;
}

/// A table with one column a pattern and one row a length; `cell` writes a sample.
template <class Cell>
Table by_length(const Results& results, Direction direction, const std::string& caption, Cell&& cell) {
  Table table{caption, {"tokens"}, {}};
  for (const Pattern pattern : patterns) table.head.emplace_back(report::name_of(pattern));
  for (const Index length : lengths_of(results, direction)) {
    std::vector<std::string> row{grouped(length)};
    for (const Pattern pattern : patterns) {
      const Curve* curve = find(results, pattern, direction);
      const Sample* sample = curve == nullptr ? nullptr : find(*curve, length);
      row.push_back(sample == nullptr ? "too long" : cell(*sample));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

const Curve* find(const Results& results, Pattern pattern, Direction direction) {
  for (const Curve& curve : results.curves)
    if (curve.pattern == pattern && curve.direction == direction) return &curve;
  return nullptr;
}

const Sample* find(const Curve& curve, Index seq_len) {
  for (const Sample& sample : curve.samples)
    if (sample.seq_len == seq_len) return &sample;
  return nullptr;
}

Table machine_table(const Results& results) {
  const MachineFacts& machine = results.machine;
  return {"The machine and its measured limits, one core",
          {"what", "value"},
          {{"processor", machine.cpu},
           {"cores", std::to_string(machine.cores) + " (every measurement uses one)"},
           {"system", machine.system},
           {"compiler", machine.compiler},
           {"program compiled for", machine.compiled_for},
           {"attention computed with", machine.kernel_set},
           {"peak, multiply-adds in registers", scaled(results.ceilings.flops_per_second, "FLOP/s") +
                                                    " with " + results.ceilings.instruction_set},
           {"memory bandwidth, triad", scaled(results.ceilings.bytes_per_second, "B/s") + " over " +
                                           bytes(results.ceilings.triad_bytes)},
           {"date", machine.date}},
          true};
}

Table exponent_table(const Results& results) {
  Table table{"Growth with the number of tokens L, fitted from " + grouped(fitted_from) + " tokens on",
              {"pattern", "direction", "time grows as", "fastest run as", "work grows as", "r²", "lengths"},
              {}};
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const Pattern pattern : patterns) {
      const Curve* curve = find(results, pattern, direction);
      if (curve == nullptr || !curve->time_law || !curve->fastest_law || !curve->work_law) continue;
      table.rows.push_back({std::string(report::name_of(pattern)), name_of(direction),
                            power(curve->time_law->exponent, curve->time_law->standard_error),
                            power(curve->fastest_law->exponent, curve->fastest_law->standard_error),
                            "L^" + fixed(curve->work_law->exponent, 2), fixed(curve->time_law->r_squared, 4),
                            std::to_string(curve->time_law->points)});
    }
  }
  return table;
}

Table time_table(const Results& results, Direction direction) {
  return by_length(results, direction, std::string("Time of one call, ") + name_of(direction),
                   [](const Sample& sample) { return duration(sample.timing.seconds); });
}

Table throughput_table(const Results& results, Direction direction) {
  const double peak = results.ceilings.flops_per_second;
  return by_length(results, direction,
                   std::string("GFLOP/s, and share of the measured peak, ") + name_of(direction),
                   [peak](const Sample& sample) {
                     const double rate = sample.flops / sample.timing.seconds;
                     return significant(rate / 1e9) + " (" + fixed(100 * rate / peak, 0) + " %)";
                   });
}

Table pair_table(const Results& results) {
  return by_length(results, Direction::forward, "Pairs of query and key that one head evaluates, exactly",
                   [](const Sample& sample) {
                     // Work is a fixed number of FLOPs a pair and head: dividing it out is exact below 2^53.
                     return grouped(Index(sample.flops / (4.0 * double(head_dim) * double(heads))));
                   });
}

Table tile_table(const Results& results) {
  Table table{"How tiles cover the patterns, one head",
              {"pattern", "tokens", "pairs allowed", "pairs computed", "skipped tiles", "tested tiles",
               "trusted tiles"},
              {}};
  for (const TileUse& use : results.tiles) {
    table.rows.push_back({std::string(report::name_of(use.pattern)), grouped(use.seq_len), grouped(use.pairs),
                          grouped(use.computed_pairs), grouped(use.skipped), grouped(use.partial),
                          grouped(use.full)});
  }
  return table;
}

Table decode_table(const Results& results) {
  Table table{"Decoding: one query of 32 heads of 128 numbers over a cache",
              {"cache", "key-value heads", "time", "reads", "of the triad", "GFLOP/s, share of peak"},
              {}};
  for (const DecodeSample& sample : results.decoding) {
    const double seconds = sample.timing.seconds, rate = sample.flops / seconds;
    table.rows.push_back(
        {grouped(sample.cache), std::to_string(sample.kv_heads), duration(seconds),
         scaled(sample.bytes / seconds, "B/s"),
         fixed(100 * sample.bytes / seconds / results.ceilings.bytes_per_second, 0) + " %",
         significant(rate / 1e9) + " (" + fixed(100 * rate / results.ceilings.flops_per_second, 0) + " %)"});
  }
  return table;
}

Table memory_table(const Results& results) {
  Table table{"Peak memory of one call beyond its operands (results included)",
              {"pattern", "tokens", "forward", "forward and backward", "the weights, were they formed"},
              {}};
  for (const MemoryUse& use : results.memory) {
    const double weights = double(sizeof(float)) * double(heads) * double(use.seq_len) * double(use.seq_len);
    table.rows.push_back({std::string(report::name_of(use.pattern)), grouped(use.seq_len),
                          bytes(use.forward_bytes), bytes(use.backward_bytes), bytes(weights)});
  }
  return table;
}

std::size_t nearest(const SentenceStudy& study, std::size_t sentence) {
  std::size_t best = sentence == 0 ? 1 : 0;
  for (std::size_t other = 0; other < study.sentences.size(); ++other) {
    if (other == sentence) continue;
    if (study.similarity(Index(sentence), Index(other)) > study.similarity(Index(sentence), Index(best)))
      best = other;
  }
  return best;
}

Table sentence_table(const SentenceStudy& study) {
  Table table{"Each sentence and the one that the model finds most similar",
              {"", "sentence", "topic", "tokens", "most similar", "cosine"},
              {},
              true};
  for (std::size_t i = 0; i < study.sentences.size(); ++i) {
    const std::size_t other = nearest(study, i);
    table.rows.push_back({std::to_string(i + 1), study.sentences[i], study.topics[i],
                          std::to_string(study.tokens[i]), std::to_string(other + 1),
                          fixed(study.similarity(Index(i), Index(other)), 2)});
  }
  return table;
}

}  // namespace headwise::report
