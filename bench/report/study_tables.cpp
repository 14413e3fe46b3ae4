#include "report/numbers.hpp"
#include "report/sparse.hpp"
#include "report/tables.hpp"

#include <cmath>
#include <string>

namespace headwise::report {

namespace {

std::string power(const PowerLaw& law) { return "L^(" + with_error(law.exponent, law.standard_error) + ")"; }

std::string power(const std::optional<PowerLaw>& law) { return law ? "L^" + fixed(law->exponent, 2) : ""; }

/// Time, and work, beside those of full attention at the longest length of both.
std::string share(const SparseCurve& curve, const SparseCurve& full) {
  const Sample &mine = curve.samples.back(), &other = full.samples.back();
  return percent(mine.timing.seconds / other.timing.seconds) + " (" + percent(mine.flops / other.flops) + ")";
}

std::string break_even_cell(const Results& results, SparsePattern pattern) {
  const Index length = break_even(results.sparse, pattern);
  return length == 0 ? "at no length" : grouped(length) + " tokens";
}

}  // namespace

Table sparse_table(const Results& results) {
  Table table{"Sparse patterns, one head, forward: growth of time and of exact pairs, and what they save",
              {"pattern", "in place of", "time grows as", "pairs grow as", "the paper says", "faster from",
               "time of full (pairs)"},
              {}};
  for (const SparseCurve& curve : results.sparse) {
    const SparsePattern full = full_attention_of(curve.pattern);
    const SparseCurve* other = find(results.sparse, full);
    if (!curve.time_law || other == nullptr) continue;
    std::string promise(promise_of(curve.pattern));
    if (promise == "L log L") promise += ", here " + power(curve.promised_law);
    std::vector<std::string> row{std::string(name_of(curve.pattern)), std::string(name_of(full)),
                                 power(*curve.time_law), power(curve.work_law), promise};
    const bool is_full = curve.pattern == full;
    row.push_back(is_full ? "" : break_even_cell(results, curve.pattern));
    row.push_back(is_full ? "" : share(curve, *other));
    if (is_full) row[1] = "";
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table sparse_time_table(const Results& results) {
  Table table{"Time of one call, one head, forward", {"tokens"}, {}};
  if (results.sparse.empty()) return table;
  for (const SparseCurve& curve : results.sparse) table.head.emplace_back(name_of(curve.pattern));
  for (std::size_t i = 0; i < results.sparse.front().samples.size(); ++i) {
    std::vector<std::string> row{grouped(results.sparse.front().samples[i].seq_len)};
    for (const SparseCurve& curve : results.sparse)
      row.push_back(duration(curve.samples.at(i).timing.seconds));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table sparse_meaning_table(const Results& results) {
  Table table{"The sparse patterns", {"pattern", "a token sees"}, {}, true};
  for (const SparseCurve& curve : results.sparse)
    table.rows.push_back({std::string(name_of(curve.pattern)), std::string(meaning_of(curve.pattern))});
  return table;
}

Table extrapolation_table(const TrainingStudy& study) {
  Table table{"Validation loss in nats a character", {"window", "ALiBi", "sinusoidal"}, {}};
  if (!study.extrapolation) return table;
  for (const WindowLoss& loss : study.extrapolation->losses)
    table.rows.push_back({grouped(loss.window), fixed(loss.alibi, 3), fixed(loss.sinusoidal, 3)});
  return table;
}

Table decoder_table(const DecoderStudy& study) {
  Table table{study.model + " reads " + grouped(study.tokens) + " tokens of a book, one core",
              {"attention", "nats a token", "perplexity", "tokens a second"},
              {}};
  for (const TextLikelihood& row : study.rows)
    table.rows.push_back({row.attention, fixed(row.nll, 3), significant(std::exp(row.nll)),
                          significant(row.tokens_per_second)});
  return table;
}

}  // namespace headwise::report
