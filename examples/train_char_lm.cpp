// Trains a small causal Transformer on the characters of a book, until it knows them better than a 3-gram
// model.
//
//     train_char_lm --text examples/data/alice.txt --weights alice.safetensors --curve curve.json
//     train_char_lm --small
#include <headwise/core/thread_pool.hpp>
#include <headwise/io/state_dict.hpp>
#include <headwise/model/decoder.hpp>
#include <headwise/optimizer/adam.hpp>
#include <headwise/optimizer/clip.hpp>
#include <headwise/optimizer/schedule.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "char_text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hw = headwise;

namespace {

using example::Corpus;
using example::Ids;
using Model = hw::model::Decoder<float>;

struct Settings {
  std::string text = "examples/data/alice.txt", weights = "train_char_lm.safetensors", curve{};
  hw::Index d_model = 128, layers = 4, heads = 4, length = 128, batch = 16, steps = 600;
  double rate = 3e-3;
  int threads = 2;
  hw::Index ngram = 3;  ///< the order of the model to beat
  std::uint64_t seed = 1;
};

/// Counts of what follows each context, smoothed by Witten and Bell's interpolation with the shorter context.
class NgramModel {
 public:
  NgramModel(const Ids& text, hw::Index order, std::size_t alphabet)
      : order_(std::size_t(order)), alphabet_(alphabet) {
    for (std::size_t i = 0; i < text.size(); ++i)
      for (std::size_t n = 0; n < order_ && n <= i; ++n) ++counts_[context(text, i, n)][text[i]];
  }

  /// The mean of -log p(character | the order - 1 characters before it), in nats.
  double entropy(const Ids& text) const {
    double sum = 0;
    for (std::size_t i = order_ - 1; i < text.size(); ++i) sum -= std::log(probability(text, i));
    return sum / double(text.size() - order_ + 1);
  }

 private:
  using Followers = std::map<hw::TokenId, int>;

  static Ids context(const Ids& text, std::size_t i, std::size_t n) {
    return {text.begin() + std::ptrdiff_t(i - n), text.begin() + std::ptrdiff_t(i)};
  }

  double probability(const Ids& text, std::size_t i) const {
    double p = 1 / double(alphabet_);
    for (std::size_t n = 0; n < order_; ++n) {
      const auto found = counts_.find(context(text, i, n));
      if (found == counts_.end()) break;
      const Followers& followers = found->second;
      double total = 0;
      for (const auto& [token, count] : followers) total += count;
      const auto seen = followers.find(text[i]);
      const double kinds = double(followers.size());
      p = ((seen == followers.end() ? 0 : seen->second) + kinds * p) / (total + kinds);
    }
    return p;
  }

  std::size_t order_, alphabet_;
  std::map<Ids, Followers> counts_;
};

Model made(const Settings& settings, std::size_t alphabet, const hw::layer::Initial& initial) {
  return Model({.vocab_size = hw::Index(alphabet),
                .d_model = settings.d_model,
                .layers = settings.layers,
                .heads = settings.heads,
                .rotary = hw::position::Rotary({.head_dim = settings.d_model / settings.heads})},
               initial);
}

/// Trains, and returns the curve: what a picture of the training needs.
nlohmann::json train(Model& model, const Corpus& corpus, const Settings& settings,
                     const hw::Executor& executor) {
  hw::Rng rng(settings.seed + 1);
  hw::optimizer::Adam<float> adam(model, {.beta2 = 0.99, .weight_decay = 0.1});
  const hw::optimizer::Cosine rate{
      .peak = settings.rate, .warm_up = settings.steps / 20, .steps = settings.steps, .floor = 0.05};
  nlohmann::json curve = nlohmann::json::array();
  const auto start = std::chrono::steady_clock::now();
  double recent = 0;
  for (hw::Index step = 1; step <= settings.steps; ++step) {
    const auto begins = example::drawn_windows(corpus.train, settings.batch, settings.length, rng);
    auto [gradients, loss] = example::gradients_of(model, corpus.train, begins, settings.length, executor);
    hw::optimizer::clip_global_norm(gradients, 1.0);
    adam.step(model, gradients, rate(step));
    recent = step == 1 ? loss : 0.9 * recent + 0.1 * loss;
    if (step % std::max<hw::Index>(settings.steps / 20, 1) != 0 && step != 1) continue;
    const double validation = example::evaluate(model, corpus.validation, settings.length, executor);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    curve.push_back({{"step", step}, {"train", recent}, {"validation", validation}, {"seconds", seconds}});
    std::printf("step %5td   train %.3f   validation %.3f nats   %6.1f s\n", step, recent, validation,
                seconds);
    std::fflush(stdout);
  }
  return curve;
}

/// One of the tokens, drawn by the softmax of logits / 0.8; the last row of logits decides.
hw::TokenId drawn(const hw::Matrix<float>& logits, hw::Rng& rng) {
  const hw::Index row = logits.rows() - 1;
  const auto weight = [&](hw::Index k) { return std::exp(double(logits(row, k)) / 0.8); };
  double left = 0;
  for (hw::Index k = 0; k < logits.cols(); ++k) left += weight(k);
  left *= rng.unit();
  for (hw::Index k = 0; k + 1 < logits.cols(); ++k) {
    left -= weight(k);
    if (left < 0) return hw::TokenId(k);
  }
  return hw::TokenId(logits.cols() - 1);
}

/// Goes on from a prompt, one drawn character after another, each with as many before it as in training.
std::string sample(const Model& model, const std::string& alphabet, const std::string& prompt,
                   hw::Index length, int characters) {
  hw::Rng rng(7);
  Ids ids;
  for (const char c : prompt) ids.push_back(hw::TokenId(alphabet.find(c)));
  for (int i = 0; i < characters; ++i) {
    const std::size_t seen = std::min(ids.size(), std::size_t(length));
    ids.push_back(drawn(model(std::span<const hw::TokenId>(ids).last(seen)), rng));
  }
  std::string text;
  for (const hw::TokenId id : ids) text += alphabet[std::size_t(id)];
  return text;
}

/// 0 when the model beat the n-gram model.
int run(const Settings& settings) {
  const Corpus corpus = example::read_corpus(settings.text);
  const double bound =
      NgramModel(corpus.train, settings.ngram, corpus.alphabet.size()).entropy(corpus.validation);
  std::printf(
      "%zu characters to learn from, %zu to validate, alphabet of %zu; a %td-gram model has %.3f nats\n",
      corpus.train.size(), corpus.validation.size(), corpus.alphabet.size(), settings.ngram, bound);

  hw::Rng rng(settings.seed);
  Model model = made(settings, corpus.alphabet.size(), hw::layer::Initial::drawn(rng, 0.05));
  hw::ThreadPool pool(settings.threads);
  const nlohmann::json curve = train(model, corpus, settings, pool.executor());
  hw::io::save_state_dict(model, settings.weights, {{"alphabet", corpus.alphabet}});

  Model loaded = made(settings, corpus.alphabet.size(), hw::layer::Initial::zeros());
  hw::io::load_state_dict(loaded, hw::io::SafeTensors(settings.weights));
  const double validation = example::evaluate(loaded, corpus.validation, settings.length, pool.executor());
  const std::string text = sample(loaded, corpus.alphabet, "Alice ", settings.length, 400);
  std::printf("validation %.3f nats, %d-gram %.3f nats, weights in %s\n\n%s\n", validation,
              int(settings.ngram), bound, settings.weights.c_str(), text.c_str());
  if (!settings.curve.empty()) {
    const nlohmann::json result{{"text", settings.text},  {"ngram", settings.ngram},
                                {"ngram_entropy", bound}, {"validation", validation},
                                {"curve", curve},         {"sample", text}};
    std::ofstream(settings.curve) << result.dump(2) << '\n';
  }
  return validation < bound ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool small = false;
  CLI::App app(
      "Trains a small causal Transformer on the characters of a text; fails unless it beats an n-gram "
      "model.");
  app.add_option("--text", settings.text, "The text")->capture_default_str();
  app.add_option("--weights", settings.weights, "Where the weights go")->capture_default_str();
  app.add_option("--curve", settings.curve, "Where the loss curve goes, as JSON");
  app.add_option("--steps", settings.steps, "Steps")->capture_default_str();
  app.add_option("--batch", settings.batch, "Windows a step, an even number")->capture_default_str();
  app.add_option("--length", settings.length, "Characters a window")->capture_default_str();
  app.add_option("--layers", settings.layers, "Layers")->capture_default_str();
  app.add_option("--width", settings.d_model, "Columns of the model")->capture_default_str();
  app.add_option("--rate", settings.rate, "Highest learning rate")->capture_default_str();
  app.add_option("--threads", settings.threads, "Threads, this one included")->capture_default_str();
  app.add_flag("--small", small, "A model that beats 2-grams in seconds");
  CLI11_PARSE(app, argc, argv);
  if (small) {
    settings.d_model = 48;
    settings.layers = 1;
    settings.length = 32;
    settings.batch = 16;
    settings.steps = 240;
    settings.rate = 1e-2;
    settings.ngram = 2;
  }
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_char_lm: %s\n", error.what());
    return 1;
  }
}
