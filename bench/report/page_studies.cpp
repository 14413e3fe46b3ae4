#include "report/charts.hpp"
#include "report/findings.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"
#include "report/page_parts.hpp"
#include "report/tables.hpp"

namespace headwise::report {

std::string sparse_section(const Results& results) {
  if (results.sparse.empty()) return section("sparse", "Sparse patterns", warning("Not measured."));
  std::string inside = paragraph(
      "Patterns that skip most pairs, one head of 64 numbers, each beside the full attention that it stands "
      "in for. The lists of who sees whom of Fixed and Big Bird are made before; Strided and Longformer make "
      "theirs in the call, and hashing (LSH) and clustering (Routing) are part of the time as well.");
  inside += side_by_side(chart_figure(sparse_chart(results, SparsePattern::dense), "sparse-both-",
                                      sparse_finding(results, SparsePattern::dense)) +
                         chart_figure(sparse_chart(results, SparsePattern::causal), "sparse-causal-",
                                      sparse_finding(results, SparsePattern::causal)));
  inside += to_html(sparse_table(results));
  inside += paragraph(
      "A pattern is faster from the first measured length on at which its call took less time than that of "
      "full attention. The last column is taken at the longest length; where the share of the time is above "
      "that of the pairs, gathering rows, hidden pairs of tiles, hashing and clustering cost the difference. "
      "Blocks whose number is fixed leave attention quadratic, at a fraction.");
  inside += folded("What each pattern is", to_html(sparse_meaning_table(results)));
  inside += folded("All times of sparse patterns", to_html(sparse_time_table(results)));
  return section("sparse", "Sparse patterns", inside);
}

std::string training_section(const TrainingStudy& study) {
  if (!study.curve && !study.extrapolation) {
    return section("training", "Training",
                   warning("No training is shown. Run the examples train_char_lm --curve curve.json and "
                           "extrapolate --results extrapolation.json, and pass both files to the report: "
                           "--training curve.json extrapolation.json"));
  }
  std::string charts;
  if (study.curve) charts += chart_figure(loss_chart(*study.curve), "loss-", loss_finding(study));
  if (study.extrapolation)
    charts += chart_figure(extrapolation_chart(*study.extrapolation), "reach-", extrapolation_finding(study));
  std::string inside = paragraph(
      "Small models that were trained from nothing with the library's own gradients and optimizer, by the "
      "examples train_char_lm and extrapolate. Their loss is the mean of -log p of the next character.");
  inside += side_by_side(charts);
  if (study.extrapolation) inside += to_html(extrapolation_table(study));
  if (study.curve) inside += folded("What the trained model wrote", paragraph(study.curve->sample));
  return section("training", "Training", inside);
}

std::string decoder_section(const DecoderStudy& study) {
  const char* title = "A real text under other attention";
  if (study.rows.empty()) return section("decoder", title, warning("Not measured: " + study.problem));
  return section(
      "decoder", title,
      paragraph(
          "A published language model, read from its file of four-bit weights, predicts the beginning of a "
          "well-known book token by token: once as it was trained, and with its attention cut to a "
          "window without any retraining. Sinks are the first tokens, kept visible. The lower the "
          "perplexity, the better it predicts.") +
          to_html(decoder_table(study)) + paragraph(decoder_finding(study)));
}

}  // namespace headwise::report
