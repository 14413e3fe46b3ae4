#include "report/attention_calls.hpp"
#include "report/chart.hpp"
#include "report/command_line.hpp"
#include "report/decoder_study.hpp"
#include "report/decoding.hpp"
#include "report/figures.hpp"
#include "report/findings.hpp"
#include "report/gallery.hpp"
#include "report/machine.hpp"
#include "report/memory.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/scaling.hpp"
#include "report/sentences.hpp"
#include "report/sparse.hpp"
#include "report/tables.hpp"
#include "report/training.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

namespace {

using namespace headwise::report;

ScalingOptions scaling_options(const Choices& choices) {
  ScalingOptions options;
  options.longest_forward =
      choices.quick ? std::min<headwise::Index>(2048, choices.max_length) : choices.max_length;
  options.longest_backward = std::min<headwise::Index>(choices.quick ? 2048 : 4096, choices.max_length);
  if (choices.quick) {
    options.rounds = 2;
    options.budget = 0.1;
  }
  return options;
}

SparseOptions sparse_options(const Choices& choices) {
  SparseOptions options;
  options.longest = std::min<headwise::Index>(choices.quick ? 2048 : options.longest, choices.max_length);
  if (choices.quick) options.rounds = 2;
  return options;
}

/// The peak at the beginning and at the end, the better of the two: a busy moment lowers it, nothing raises
/// it.
void keep_better(Ceilings& ceilings, const Ceilings& again) {
  ceilings.flops_per_second = std::max(ceilings.flops_per_second, again.flops_per_second);
  ceilings.bytes_per_second = std::max(ceilings.bytes_per_second, again.bytes_per_second);
}

Results measure_all(const Choices& choices, Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const ScalingOptions scaling = scaling_options(choices);
  Results results;
  results.training = read_training(choices.training);  // first: a mistake shows before minutes of measuring
  results.machine = machine_facts();
  progress.step("peak and bandwidth of one core");
  results.ceilings = measure_ceilings();
  results.longest = scaling.longest_forward;
  for (const Pattern pattern : patterns)
    results.tiles.push_back(explain_pattern(pattern, scaling.longest_forward));
  results.machine.kernel_set = results.tiles.front().instruction_set;
  // Memory first: afterwards the process holds what longer calls needed, and hides what shorter ones take.
  results.memory = measure_memory(scaling.longest_backward, progress);
  results.curves = measure_scaling(scaling, progress);
  results.decoding = measure_decoding(choices.quick ? 1024 : 16384, choices.quick ? 0.1 : 1.0, progress);
  results.sparse = measure_sparse(sparse_options(choices), progress);
  results.decoder = study_decoder(choices.decoder, choices.quick ? 5.0 : 25.0, progress);
  results.sentences = study_sentences(choices.model, choices.quick ? 0.5 : 3.0, progress);
  progress.step("drawing");
  results.masks = draw_masks();
  results.calls = draw_calls();
  results.scores = draw_scores();
  results.positions = draw_positions();
  keep_better(results.ceilings, measure_ceilings());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  results.minutes = elapsed.count() / 60;
  return results;
}

void print(const Results& results) {
  const auto show = [](const Table& table) {
    if (!table.rows.empty()) std::printf("%s\n", to_text(table).c_str());
  };
  show(machine_table(results));
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    show(time_table(results, direction));
    show(throughput_table(results, direction));
  }
  show(exponent_table(results));
  show(tile_table(results));
  show(memory_table(results));
  show(decode_table(results));
  show(sparse_table(results));
  show(sparse_time_table(results));
  show(extrapolation_table(results.training));
  show(decoder_table(results.decoder));
  if (results.sentences.problem.empty()) show(sentence_table(results.sentences));
  for (const std::string& finding : findings(results)) std::printf("- %s\n", finding.c_str());
  std::printf("\n");
}

int run(const Choices& choices) {
  Progress progress;
  if (!gnuplot_is_installed())
    progress.note("gnuplot is not installed: curves are left out, the tables remain.");
  if (!choices.figures.empty()) {
    write_figures(choices.figures, progress);
    return 0;
  }
  expect_writable(choices.out);  // before minutes of measuring, not after
  const Results results = measure_all(choices, progress);
  write_file(choices.out, page(results));
  progress.note("Written in " + duration(60 * results.minutes) + ": " + choices.out);
  print(results);
  if (!results.sentences.problem.empty())
    std::printf("NO REAL SENTENCES: %s\n\n", results.sentences.problem.c_str());
  if (!results.decoder.problem.empty()) std::printf("NO REAL TEXT: %s\n\n", results.decoder.problem.c_str());
  std::printf("The report is in %s\n", choices.out.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Choices choices;
  if (const std::optional<int> exit_code = read_command_line(argc, argv, choices)) return *exit_code;
  try {
    return run(choices);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headwise_report: %s\n", error.what());
    return 1;
  }
}
