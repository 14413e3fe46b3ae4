#include "report/findings.hpp"
#include "report/numbers.hpp"
#include "report/sparse.hpp"

#include <cmath>

namespace headwise::report {

std::string sparse_finding(const Results& results, SparsePattern full) {
  const SparseCurve* other = find(results.sparse, full);
  if (other == nullptr || other->samples.empty()) return "";
  std::string list;
  for (const SparseCurve& curve : results.sparse) {
    if (curve.pattern == full || full_attention_of(curve.pattern) != full || curve.samples.empty()) continue;
    list += (list.empty() ? "" : ", ") + std::string(name_of(curve.pattern)) + " " +
            percent(curve.samples.back().timing.seconds / other->samples.back().timing.seconds);
  }
  if (list.empty()) return "";
  return "Over " + grouped(other->samples.back().seq_len) + " tokens, sparse patterns take of the time of " +
         std::string(name_of(full)) + " attention: " + list + ".";
}

std::string loss_finding(const TrainingStudy& study) {
  if (!study.curve) return "";
  const LossCurve& curve = *study.curve;
  const LossPoint& last = curve.points.back();
  const bool better = last.validation < curve.ngram_entropy;
  return "Trained from nothing for " + grouped(last.step) + " steps on the characters of " + curve.text +
         ", a small Transformer comes to " + fixed(last.validation, 2) +
         " nats a character on what it has not seen, " + (better ? "better" : "no better") + " than a " +
         std::to_string(curve.ngram) + "-gram model with " + fixed(curve.ngram_entropy, 2) + ".";
}

std::string extrapolation_finding(const TrainingStudy& study) {
  if (!study.extrapolation) return "";
  const WindowLoss &first = study.extrapolation->losses.front(), &last = study.extrapolation->losses.back();
  return "Trained on windows of " + grouped(study.extrapolation->trained_on) +
         " characters and read in windows of " + grouped(last.window) + ", ALiBi goes from " +
         fixed(first.alibi, 2) + " to " + fixed(last.alibi, 2) + " nats, sinusoidal positions from " +
         fixed(first.sinusoidal, 2) + " to " + fixed(last.sinusoidal, 2) + ".";
}

std::string decoder_finding(const DecoderStudy& study) {
  if (!study.problem.empty() || study.rows.empty()) return "";
  std::string text =
      "Over " + grouped(study.tokens) + " tokens of a book, " + study.model + " has a perplexity of ";
  for (std::size_t i = 0; i < study.rows.size(); ++i)
    text += (i == 0 ? "" : ", ") + significant(std::exp(study.rows[i].nll)) + " (" + study.rows[i].attention +
            ")";
  return text + ".";
}

}  // namespace headwise::report
