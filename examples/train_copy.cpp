// Trains an encoder and a decoder to repeat a sequence, or to say it backwards, until 99 of 100 are right.
//
//     train_copy --task reverse
//     train_copy --small
#include <headwise/autograd/ops.hpp>
#include <headwise/loss/cross_entropy.hpp>
#include <headwise/model/encoder_decoder.hpp>
#include <headwise/model/generate.hpp>
#include <headwise/optimizer/adam.hpp>
#include <headwise/optimizer/clip.hpp>
#include <headwise/optimizer/schedule.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace hw = headwise;

namespace {

using Ids = std::vector<hw::TokenId>;
using Model = hw::model::EncoderDecoder<float>;

constexpr hw::TokenId begin_token = 0, end_token = 1, first_symbol = 2;

struct Settings {
  std::string task = "reverse";
  hw::Index symbols = 10, shortest = 1, longest = 10;
  hw::Index d_model = 64, layers = 2, heads = 4, batch = 64, steps = 1500;
  double rate = 2e-3;
};

/// Sequences of all lengths, one under another; no padding.
struct Batch {
  Ids source, target_in, target_out;  ///< target_in begins with begin_token, target_out ends with end_token
  hw::RaggedRows source_rows, target_rows;
};

Batch drawn(const Settings& settings, hw::Index count, hw::Rng& rng) {
  Batch batch;
  std::vector<hw::Index> source_lengths, target_lengths;
  for (hw::Index i = 0; i < count; ++i) {
    const hw::Index length = settings.shortest + rng.below(settings.longest - settings.shortest + 1);
    Ids symbols;
    for (hw::Index k = 0; k < length; ++k)
      symbols.push_back(first_symbol + hw::TokenId(rng.below(settings.symbols)));
    batch.source.insert(batch.source.end(), symbols.begin(), symbols.end());
    if (settings.task == "reverse") std::reverse(symbols.begin(), symbols.end());
    batch.target_in.push_back(begin_token);
    batch.target_in.insert(batch.target_in.end(), symbols.begin(), symbols.end());
    batch.target_out.insert(batch.target_out.end(), symbols.begin(), symbols.end());
    batch.target_out.push_back(end_token);
    source_lengths.push_back(length);
    target_lengths.push_back(length + 1);
  }
  batch.source_rows = hw::RaggedRows::from_lengths(source_lengths);
  batch.target_rows = hw::RaggedRows::from_lengths(target_lengths);
  return batch;
}

/// One step's loss. The model is the same with and without a tape: what it reads decides.
double train_step(Model& model, hw::optimizer::Adam<float>& adam, const Batch& batch, double rate) {
  hw::autograd::Tape<float> tape;
  const auto memory = model.encode(tape.input(batch.source), {.query_rows = batch.source_rows});
  const auto states = model.decode(tape.input(batch.target_in), memory,
                                   {.query_rows = batch.target_rows, .key_rows = batch.source_rows});
  const auto loss = hw::loss::cross_entropy(model.logits(states), batch.target_out);
  auto gradients = backward(loss);
  hw::optimizer::clip_global_norm(gradients, 1.0);
  adam.step(model, gradients, rate);
  return double(loss.value()(0, 0));
}

/// What the model says of one source, the most likely symbol each time, until it ends.
Ids answer(const Model& model, const Ids& source, hw::Index longest) {
  auto decoding = model.begun(model.encode(source));
  Ids said, next{begin_token};
  while (hw::Index(said.size()) <= longest) {
    auto [states, gone_on] = model.step(next, std::move(decoding));
    decoding = std::move(gone_on);
    const hw::TokenId token = hw::model::largest_columns(model.logits(states)).front();
    said.push_back(token);
    if (token == end_token) break;
    next.assign(1, token);
  }
  return said;
}

/// The share of answers that are right to the last symbol, over sequences that were drawn anew.
double exact_match(const Model& model, const Settings& settings, hw::Index count, hw::Rng& rng) {
  const Batch batch = drawn(settings, count, rng);
  const auto part = [](const Ids& ids, hw::Range rows) {
    return Ids(ids.begin() + rows.begin, ids.begin() + rows.end);
  };
  hw::Index right = 0;
  for (hw::Index i = 0; i < count; ++i) {
    const Ids expected = part(batch.target_out, batch.target_rows[i]);
    right += answer(model, part(batch.source, batch.source_rows[i]), settings.longest) == expected ? 1 : 0;
  }
  return double(right) / double(count);
}

int run(const Settings& settings) {
  hw::Rng rng(1);
  Model model({.vocab_size = first_symbol + settings.symbols,
               .d_model = settings.d_model,
               .heads = settings.heads,
               .encoder_layers = settings.layers,
               .decoder_layers = settings.layers,
               .d_ff = 4 * settings.d_model,
               .positions = hw::layer::InputPositions::sinusoidal,
               .wiring = hw::layer::Wiring::pre_norm},
              rng);
  hw::optimizer::Adam<float> adam(model, {.beta2 = 0.98});
  const hw::optimizer::Cosine rate{
      .peak = settings.rate, .warm_up = settings.steps / 10, .steps = settings.steps, .floor = 0.02};
  const auto start = std::chrono::steady_clock::now();
  for (hw::Index step = 1; step <= settings.steps; ++step) {
    const double loss = train_step(model, adam, drawn(settings, settings.batch, rng), rate(step));
    if (step % std::max<hw::Index>(settings.steps / 10, 1) != 0) continue;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("step %5td   loss %.4f   exact %5.1f %%   %6.1f s\n", step, loss,
                100 * exact_match(model, settings, 100, rng), seconds);
    std::fflush(stdout);
  }
  const double exact = exact_match(model, settings, 1000, rng);
  std::printf("%s: %.1f %% of 1000 new sequences are right to the last symbol\n", settings.task.c_str(),
              100 * exact);
  return exact >= 0.99 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool small = false;
  CLI::App app(
      "Trains an encoder and a decoder to copy or reverse sequences; fails below 99 % exact answers.");
  app.add_option("--task", settings.task, "copy or reverse")
      ->check(CLI::IsMember({"copy", "reverse"}))
      ->capture_default_str();
  app.add_option("--longest", settings.longest, "Longest sequence")->capture_default_str();
  app.add_option("--steps", settings.steps, "Steps")->capture_default_str();
  app.add_option("--rate", settings.rate, "Highest learning rate")->capture_default_str();
  app.add_flag("--small", small, "Three symbols, three at most: seconds");
  CLI11_PARSE(app, argc, argv);
  if (small) {
    settings.symbols = 3;
    settings.longest = 3;
    settings.d_model = 32;
    settings.layers = 1;
    settings.batch = 32;
    settings.steps = 300;
    settings.rate = 5e-3;
  }
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_copy: %s\n", error.what());
    return 1;
  }
}
