// Talks with a real language model: a prompt in, tokens out as they are made.
//
//     chat --model SmolLM2-135M-Instruct.Q4_1.gguf "What is gravity?"
//     chat --raw --temperature 0 "The capital of France is"
//     chat --weights BF16 --window 256 --sinks 4            (asks for a line at a time)
#include <headwise/core/thread_pool.hpp>
#include <headwise/io/chat_text.hpp>
#include <headwise/io/gguf_llama.hpp>
#include <headwise/io/gguf_tokenizer.hpp>
#include <headwise/layer/rolling.hpp>
#include <headwise/model/sample.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hw = headwise;

namespace {

struct Settings {
  std::string model, prompt, weights = "file";
  std::string system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
  bool raw = false, quiet = false;
  hw::Index new_tokens = 256, window = 0, sinks = 0;
  std::uint64_t seed = 1;
  int threads = 1;
  hw::model::SampleOptions sample{.temperature = 0.2, .top_p = 0.9};
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the weights are kept as, and how fast that is, on the error stream.
struct Speed {
  double prompt_seconds = 0, text_seconds = 0;
  std::size_t prompt_tokens = 0, text_tokens = 0;

  void print() const {
    std::fprintf(stderr, "\n[prompt: %zu tokens, %.1f a second; text: %zu tokens, %.1f a second]\n",
                 prompt_tokens, double(prompt_tokens) / prompt_seconds, text_tokens,
                 double(text_tokens) / text_seconds);
  }
};

template <class Decoder>
class Talk {
 public:
  Talk(const Decoder& decoder, const hw::io::BytePair& tokenizer, const Settings& settings)
      : decoder_(decoder),
        tokenizer_(tokenizer),
        settings_(settings),
        rng_(settings.seed),
        pool_(settings.threads) {}

  /// Goes on from all that was said before.
  void answer(const std::vector<hw::TokenId>& prompt) {
    Speed speed;
    const double begin = seconds();
    hw::TokenId token = next(prompt);
    const double read = seconds();
    const hw::TokenId stop = tokenizer_.special("<|im_end|>");
    std::size_t count = 0;
    for (; token != stop && hw::Index(count) < settings_.new_tokens; ++count) {
      std::fputs(tokenizer_.bytes(token).c_str(), stdout);
      std::fflush(stdout);
      token = next({token});
    }
    speed = {read - begin, seconds() - read, prompt.size(), count};
    std::putchar('\n');
    if (!settings_.quiet) speed.print();
  }

 private:
  hw::TokenId next(const std::vector<hw::TokenId>& ids) {
    const hw::layer::Rolling rolling{.window = settings_.window, .sinks = settings_.sinks};
    const hw::AttendOptions options{.executor = pool_.executor()};
    auto [states, cache] = settings_.window > 0
                               ? decoder_.step(ids, std::move(cache_), options, rolling.mask())
                               : decoder_.step(ids, std::move(cache_), options);
    if (settings_.window > 0) rolling.roll(cache);
    cache_ = std::move(cache);
    const hw::Matrix<float> last = states.bottomRows(1);
    return hw::model::sample(decoder_.logits(last, options.executor), settings_.sample, rng_);
  }

  const Decoder& decoder_;
  const hw::io::BytePair& tokenizer_;
  const Settings& settings_;
  hw::Rng rng_;
  hw::ThreadPool pool_;
  typename Decoder::Cache cache_;
};

template <class Decoder>
void talk(const Decoder& decoder, const hw::io::BytePair& tokenizer, const Settings& settings) {
  Talk<Decoder> talk(decoder, tokenizer, settings);
  const auto tokens = [&](const std::string& text, bool first) {
    if (settings.raw) return tokenizer.encode(text);
    if (first) return hw::io::chat_tokens(tokenizer, {{"user", text}}, settings.system);
    std::vector<hw::TokenId> ids = tokenizer.encode("<|im_end|>\n");  // of the assistant's last turn
    const auto turn = hw::io::chat_tokens(tokenizer, {{"user", text}}, "");
    ids.insert(ids.end(), turn.begin(), turn.end());
    return ids;
  };
  if (!settings.prompt.empty()) return talk.answer(tokens(settings.prompt, true));
  bool first = true;
  for (std::string line; std::fputs("> ", stderr), std::getline(std::cin, line);) {
    if (line.empty()) continue;
    talk.answer(tokens(line, first));
    first = false;
  }
}

void run(const Settings& settings) {
  std::optional<hw::stored::Format> format;
  for (const hw::stored::FormatFacts& known : hw::stored::formats)
    if (known.name == settings.weights) format = known.format;
  const std::string& path = settings.model;
  // [docs io/gguf]
  const hw::io::Gguf file(path);  // tensors, settings and vocabulary
  const hw::io::BytePair tokenizer = hw::io::load_byte_pair(file);
  const auto decoder = hw::io::load_stored_llama(file, format);  // no format: as the file has it
  // [docs end]
  talk(decoder, tokenizer, settings);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app(
      "Writes on from a prompt, or talks, with a language model in a GGUF file (Llama architecture).");
  app.add_option("prompt", settings.prompt, "What to answer; asks for a line at a time when there is none");
  app.add_option("--model", settings.model, "The GGUF file")->envname("HEADWISE_GGUF")->required();
  app.add_option("--weights", settings.weights, "How weights are kept in memory")
      ->check(CLI::IsMember({"file", "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"}))
      ->capture_default_str();
  app.add_flag("--raw", settings.raw, "Write on from the prompt as it is, without a chat around it");
  app.add_option("--system", settings.system, "What the model is told first");
  app.add_option("--tokens", settings.new_tokens, "At most so many new tokens")->capture_default_str();
  app.add_option("--temperature", settings.sample.temperature, "0 always takes the likeliest token")
      ->capture_default_str();
  app.add_option("--top-k", settings.sample.top_k, "Draw among so many of the likeliest; 0: all")
      ->capture_default_str();
  app.add_option("--top-p", settings.sample.top_p, "Draw among the fewest of this probability")
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the draws")->capture_default_str();
  app.add_option("--window", settings.window,
                 "Tokens that attention reaches back, with a cache that rolls; 0: all");
  app.add_option("--sinks", settings.sinks, "First tokens that stay in sight of a window");
  app.add_option("--threads", settings.threads, "Threads, this one included")->capture_default_str();
  app.add_flag("--quiet", settings.quiet, "No tokens a second");
  CLI11_PARSE(app, argc, argv);
  try {
    run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chat: %s\n", error.what());
    return 1;
  }
}
