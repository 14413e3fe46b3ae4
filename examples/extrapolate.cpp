// Trains on short windows of a text and reads longer ones: ALiBi against sinusoidal positions.
//
//     extrapolate --text examples/data/alice.txt --results extrapolation.json
//     extrapolate --small
#include <headwise/core/thread_pool.hpp>
#include <headwise/model/decoder.hpp>
#include <headwise/optimizer/adam.hpp>
#include <headwise/optimizer/clip.hpp>
#include <headwise/optimizer/schedule.hpp>
#include <headwise/score/alibi.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "char_text.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace hw = headwise;

namespace {

struct Settings {
  std::string text = "examples/data/alice.txt", results{};
  hw::Index d_model = 96, layers = 2, heads = 4, length = 64, batch = 16, steps = 600;
  double rate = 3e-3;
  int threads = 2;
};

hw::model::DecoderOptions options_of(const Settings& settings, const example::Corpus& corpus) {
  return {.vocab_size = hw::Index(corpus.alphabet.size()),
          .d_model = settings.d_model,
          .layers = settings.layers,
          .heads = settings.heads};
}

template <class Model>
void train(Model& model, const char* name, const example::Corpus& corpus, const Settings& settings,
           const hw::Executor& executor) {
  hw::Rng rng(2);
  hw::optimizer::Adam<float> adam(model, {.beta2 = 0.99, .weight_decay = 0.1});
  const hw::optimizer::Cosine rate{
      .peak = settings.rate, .warm_up = settings.steps / 20, .steps = settings.steps, .floor = 0.05};
  for (hw::Index step = 1; step <= settings.steps; ++step) {
    const auto begins = example::drawn_windows(corpus.train, settings.batch, settings.length, rng);
    auto [gradients, loss] = example::gradients_of(model, corpus.train, begins, settings.length, executor);
    hw::optimizer::clip_global_norm(gradients, 1.0);
    adam.step(model, gradients, rate(step));
    if (step % std::max<hw::Index>(settings.steps / 5, 1) != 0) continue;
    std::printf("%-10s step %5td   train %.3f nats\n", name, step, loss);
    std::fflush(stdout);
  }
}

/// The validation loss in windows of once, twice and four times the length of training.
template <class Model>
std::vector<double> losses_of(const Model& model, const example::Corpus& corpus, const Settings& settings,
                              const hw::Executor& executor) {
  std::vector<double> losses;
  for (const hw::Index times : {1, 2, 4})
    losses.push_back(example::evaluate(model, corpus.validation, times * settings.length, executor));
  return losses;
}

/// 0 when ALiBi reads on as well as before, and better than sinusoidal positions do.
int run(const Settings& settings) {
  const example::Corpus corpus = example::read_corpus(settings.text);
  hw::ThreadPool pool(settings.threads);
  hw::Rng rng(1), same(1);

  hw::model::Decoder<float, hw::score::Alibi<>> alibi(options_of(settings, corpus), rng,
                                                      hw::score::Alibi(settings.heads));
  train(alibi, "alibi", corpus, settings, pool.executor());
  const std::vector<double> with_alibi = losses_of(alibi, corpus, settings, pool.executor());

  hw::model::DecoderOptions options = options_of(settings, corpus);
  options.positions = hw::layer::InputPositions::sinusoidal;
  hw::model::Decoder<float> sinusoidal(options, same);
  train(sinusoidal, "sinusoidal", corpus, settings, pool.executor());
  const std::vector<double> with_sinusoids = losses_of(sinusoidal, corpus, settings, pool.executor());

  std::printf("\nvalidation loss in nats, trained on windows of %td\n%10s %10s %12s\n", settings.length,
              "window", "alibi", "sinusoidal");
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < with_alibi.size(); ++i) {
    const hw::Index window = settings.length << i;
    std::printf("%10td %10.3f %12.3f\n", window, with_alibi[i], with_sinusoids[i]);
    rows.push_back({{"window", window}, {"alibi", with_alibi[i]}, {"sinusoidal", with_sinusoids[i]}});
  }
  if (!settings.results.empty()) {
    const nlohmann::json result{{"text", settings.text}, {"trained_on", settings.length}, {"losses", rows}};
    std::ofstream(settings.results) << result.dump(2) << '\n';
  }
  const bool reads_on = with_alibi[2] < with_alibi[0] + 0.05;
  return reads_on && with_alibi[2] < with_sinusoids[2] ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool small = false;
  CLI::App app(
      "Trains on short windows of a text, with ALiBi and with sinusoidal positions, and reads longer ones.");
  app.add_option("--text", settings.text, "The text")->capture_default_str();
  app.add_option("--results", settings.results, "Where the losses go, as JSON");
  app.add_option("--steps", settings.steps, "Steps of each model")->capture_default_str();
  app.add_option("--length", settings.length, "Characters a window in training")->capture_default_str();
  app.add_option("--threads", settings.threads, "Threads, this one included")->capture_default_str();
  app.add_flag("--small", small, "Small models: seconds");
  CLI11_PARSE(app, argc, argv);
  if (small) {
    settings.d_model = 32;
    settings.layers = 1;
    settings.length = 32;
    settings.batch = 8;
    settings.steps = 120;
    settings.rate = 1e-2;
  }
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "extrapolate: %s\n", error.what());
    return 1;
  }
}
