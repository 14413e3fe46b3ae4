// How well a language model predicts a text, and what becomes of that when its attention is swapped for
// another.
//
//     perplexity --model SmolLM2-135M-Instruct.Q4_1.gguf book.txt --context 512,1024
//     perplexity book.txt --attention dense --attention window:256 --attention window:256+sinks:4
#include <headwise/core/thread_pool.hpp>
#include <headwise/io/gguf_llama.hpp>
#include <headwise/io/gguf_tokenizer.hpp>
#include <headwise/layer/rolling.hpp>
#include <headwise/model/likelihood.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hw = headwise;

namespace {

struct Settings {
  std::string model, text, weights = "file";
  std::vector<std::string> attention{"dense"};
  std::vector<hw::Index> context{512};
  hw::Index tokens = 0;
  int threads = 1;
};

hw::Index number(const std::string& text, const std::string& whole) {
  try {
    std::size_t end = 0;
    const long long value = std::stoll(text, &end);
    if (end == text.size() && value >= 0) return hw::Index(value);
  } catch (const std::logic_error&) {
    // said below
  }
  throw std::runtime_error("--attention " + whole + ": expected dense, window:N or window:N+sinks:M");
}

/// "dense", "window:256" or "window:256+sinks:4". A window that is wider than any text is dense attention.
hw::layer::Rolling rolling_of(const std::string& text) {
  if (text == "dense") return {.window = std::numeric_limits<hw::Position>::max()};
  const std::string window = "window:", sinks = "+sinks:";
  const std::size_t plus = text.find('+');
  if (!text.starts_with(window)) number("", text);
  hw::layer::Rolling rolling{.window = number(text.substr(window.size(), plus - window.size()), text)};
  if (plus == text.npos) return rolling;
  if (text.compare(plus, sinks.size(), sinks) != 0) number("", text);
  rolling.sinks = number(text.substr(plus + sinks.size()), text);
  return rolling;
}

/// The text is cut into pieces of `context` tokens, each predicted by itself; what is left at the end is
/// passed over.
template <class Decoder>
double mean_of(const Decoder& decoder, std::span<const hw::TokenId> ids, hw::Index context,
               const hw::layer::Rolling& rolling, hw::Executor executor) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin + std::size_t(context) <= ids.size(); begin += std::size_t(context)) {
    const auto piece = ids.subspan(begin, std::size_t(context));
    for (const double each :
         hw::model::negative_log_likelihood(decoder, piece, {.executor = executor}, rolling.mask())) {
      sum += each;
      ++count;
    }
  }
  return count == 0 ? std::nan("") : sum / double(count);
}

template <class Decoder>
void measure(const Decoder& decoder, std::span<const hw::TokenId> ids, const Settings& settings) {
  hw::ThreadPool pool(settings.threads);
  std::printf("%8s  %-22s  %10s  %10s\n", "context", "attention", "nll", "perplexity");
  for (const hw::Index context : settings.context) {
    for (const std::string& attention : settings.attention) {
      const double mean = mean_of(decoder, ids, context, rolling_of(attention), pool.executor());
      std::printf("%8td  %-22s  %10.5f  %10.2f\n", context, attention.c_str(), mean, std::exp(mean));
      std::fflush(stdout);
    }
  }
}

void run(const Settings& settings) {
  for (const std::string& attention : settings.attention) (void)rolling_of(attention).mask();
  const hw::io::Gguf file(settings.model);
  const hw::io::MappedFile text(settings.text);
  std::vector<hw::TokenId> ids = hw::io::load_byte_pair(file).encode(text.text());
  if (settings.tokens > 0) ids.resize(std::min(ids.size(), std::size_t(settings.tokens)));
  std::printf("%zu tokens of %s\n", ids.size(), settings.text.c_str());
  std::optional<hw::stored::Format> format;
  for (const hw::stored::FormatFacts& known : hw::stored::formats)
    if (known.name == settings.weights) format = known.format;
  measure(hw::io::load_stored_llama(file, format), ids, settings);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("The negative log-likelihood and perplexity of a text under a language model in a GGUF file.");
  app.add_option("text", settings.text, "The text file, in UTF-8")->required();
  app.add_option("--model", settings.model, "The GGUF file")->envname("HEADWISE_GGUF")->required();
  app.add_option("--attention", settings.attention, "dense, window:N or window:N+sinks:M; may be repeated");
  app.add_option("--context", settings.context, "Tokens that are predicted together; several with commas")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--tokens", settings.tokens, "Only so many tokens of the text; 0: all");
  app.add_option("--weights", settings.weights, "How weights are kept in memory")
      ->check(CLI::IsMember({"file", "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"}))
      ->capture_default_str();
  app.add_option("--threads", settings.threads, "Threads, this one included")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "perplexity: %s\n", error.what());
    return 1;
  }
}
