#include "report/decoder_study.hpp"

#include <headwise/io/gguf_llama.hpp>
#include <headwise/io/gguf_tokenizer.hpp>
#include <headwise/layer/rolling.hpp>
#include <headwise/model/likelihood.hpp>

#include "report/stopwatch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace headwise::report {

namespace {

struct Swap {
  const char* name;
  layer::Rolling rolling;
};

/// A window that is wider than any text is dense attention, and the same code.
constexpr std::array<Swap, 4> swaps{{
    {"dense", {.window = std::numeric_limits<Position>::max()}},
    {"window:256", {.window = 256}},
    {"window:64", {.window = 64}},
    {"window:64 + sinks:4", {.window = 64, .sinks = 4}},
}};

std::string missing(const std::filesystem::path& file) {
  if (file.empty()) {
    return "no decoder was given. Pass --decoder FILE, SmolLM2-135M-Instruct.Q4_1.gguf for instance; the "
           "likelihood of a real text is left out.";
  }
  if (std::filesystem::is_regular_file(file)) return "";
  return "there is no file " + file.string() + "; the likelihood of a real text is left out.";
}

TextLikelihood read_under(const io::StoredDecoder& decoder, std::span<const TokenId> ids, const Swap& swap) {
  const double start = processor_seconds();
  const std::vector<double> each = model::negative_log_likelihood(decoder, ids, {}, swap.rolling.mask());
  const double seconds = processor_seconds() - start;
  double sum = 0;
  for (const double nll : each) sum += nll;
  return {swap.name, sum / double(each.size()), double(ids.size()) / seconds};
}

/// As many tokens as fit into the budget, from the speed over the first of them.
std::span<const TokenId> within(std::span<const TokenId> ids, const io::StoredDecoder& decoder,
                                double budget) {
  constexpr std::size_t probe = 64, least = 320;
  if (ids.size() <= least) return ids;
  (void)read_under(decoder, ids.first(probe), swaps[0]);  // reads the weights from the disk
  const double rate = read_under(decoder, ids.first(probe), swaps[0]).tokens_per_second;
  const double fits = rate * budget / double(swaps.size());
  return ids.first(std::size_t(std::clamp(fits, double(least), double(ids.size()))));
}

}  // namespace

DecoderStudy study_decoder(const std::filesystem::path& file, double budget, Progress& progress) {
  DecoderStudy study;
  study.problem = missing(file);
  if (!study.problem.empty()) return study;
  study.model = file.filename().string();
  progress.step("real decoder", "reading " + file.string());
  try {
    const io::Gguf gguf(file.string());
    const std::vector<TokenId> all = io::load_byte_pair(gguf).encode(excerpt());
    const io::StoredDecoder decoder = io::load_stored_llama(gguf);
    const std::span<const TokenId> ids = within(all, decoder, budget);
    study.tokens = Index(ids.size());
    for (const Swap& swap : swaps) {
      progress.step("real decoder", swap.name);
      study.rows.push_back(read_under(decoder, ids, swap));
    }
  } catch (const FormatError& error) {
    study.problem = std::string("the decoder could not be read: ") + error.what();
  }
  return study;
}

}  // namespace headwise::report
