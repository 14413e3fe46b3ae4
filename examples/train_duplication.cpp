// The Reformer paper's duplication task: 0w0w, where the second w must be said from the first. Trains one
// small model with full attention and one for each number of hash rounds, and evaluates each with every
// number of rounds.
//
//     train_duplication
//     train_duplication --small
#include <headwise/autograd/lsh.hpp>
#include <headwise/autograd/ops.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/layer/feed_forward.hpp>
#include <headwise/layer/layer_norm.hpp>
#include <headwise/layer/lsh_attention.hpp>
#include <headwise/layer/token_embedding.hpp>
#include <headwise/loss/cross_entropy.hpp>
#include <headwise/mask/causal.hpp>
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

struct Settings {
  hw::Index word = 31, symbols = 31;  ///< length of w, and what its symbols are drawn from, 1 and up
  hw::Index chunk_len = 16, d_model = 64, heads = 4, batch = 32, steps = 1200;
  double rate = 3e-3;
  int threads = 2;
  std::vector<hw::Index> trained_rounds{0, 4, 2, 1}, evaluated_rounds{0, 8, 4, 2, 1};  ///< 0: full attention

  hw::Index length() const { return 2 * word + 1; }  ///< the last symbol is only a target
};

/// The Reformer's layer, with as many rounds as a call asks for, in front of a feed-forward layer.
class Model {
 public:
  Model(const Settings& settings, hw::Rng& rng)
      : settings_(settings),
        embedding_({.vocab_size = settings.symbols + 1,
                    .d_model = settings.d_model,
                    .positions = hw::layer::InputPositions::learned,
                    .max_positions = settings.length()},
                   rng),
        query_key_({.in = settings.d_model, .out = settings.d_model, .bias = false}, rng),
        value_({.in = settings.d_model, .out = settings.d_model, .bias = false}, rng),
        output_({.in = settings.d_model, .out = settings.d_model, .bias = false}, rng),
        feed_forward_({.d_model = settings.d_model, .d_ff = settings.d_model}, rng),
        before_attention_({.width = settings.d_model}),
        before_feed_forward_({.width = settings.d_model}),
        before_logits_({.width = settings.d_model}),
        logits_({.in = settings.d_model, .out = settings.symbols + 1}, rng) {}

  /// ids [n] of whole sequences -> [n, symbols + 1]. Rotations are drawn anew for every `draw`; rounds 0: one
  /// chunk of all tokens, which is full attention with a shared query and key.
  auto operator()(const auto& ids, const hw::RaggedRows& rows, hw::Index rounds, hw::Index draw,
                  const hw::Executor& executor) const {
    using hw::add;  // of matrices; a variable brings its own
    std::vector<hw::Position> positions;
    for (hw::Index i = 0; i < hw::Index(ids.size()); ++i)
      positions.push_back(hw::Position(i % settings_.length()));
    const auto x = embedding_(ids, positions);
    const auto normed = before_attention_(x);
    const auto query = query_key_(normed);
    const hw::LshOptions lsh{.chunk_len = rounds == 0 ? settings_.length() : settings_.chunk_len};
    const auto attended =
        attend_lsh(query, value_(normed), buckets(query, rounds, draw), lsh,
                   {.heads = settings_.heads, .query_rows = rows, .executor = executor}, hw::mask::Causal{});
    const auto y = add(x, output_(attended.output));
    return logits_(before_logits_(add(y, feed_forward_(before_feed_forward_(y)))));
  }

  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  hw::LshBuckets buckets(const auto& query, hw::Index rounds, hw::Index draw) const {
    if (rounds == 0) {
      hw::LshBuckets one{query.rows(), settings_.heads, 1, {}};
      one.numbers.assign(std::size_t(query.rows() * settings_.heads), 0);
      return one;
    }
    return lsh_buckets(query, hw::lsh_rotations<float>(
                                  {.factors = hw::lsh_factors(settings_.length() + 1, settings_.chunk_len),
                                   .rounds = rounds,
                                   .heads = settings_.heads,
                                   .head_dim = settings_.d_model / settings_.heads,
                                   .seed = 1,
                                   .layer = draw}));
  }

  static void visit_all(auto& self, auto&& visit) {
    using hw::layer::visit_part;
    visit_part("embedding", self.embedding_, visit);
    visit_part("query_key", self.query_key_, visit);
    visit_part("value", self.value_, visit);
    visit_part("output", self.output_, visit);
    visit_part("feed_forward", self.feed_forward_, visit);
    visit_part("before_attention", self.before_attention_, visit);
    visit_part("before_feed_forward", self.before_feed_forward_, visit);
    visit_part("before_logits", self.before_logits_, visit);
    visit_part("logits", self.logits_, visit);
  }

  Settings settings_;
  hw::layer::TokenEmbedding<float> embedding_;
  hw::layer::Linear<float> query_key_, value_, output_;
  hw::layer::FeedForward<float> feed_forward_;
  hw::layer::LayerNorm<float> before_attention_, before_feed_forward_, before_logits_;
  hw::layer::Linear<float> logits_;
};

/// Words, written as 0w0w and cut to what is read and what is to be said; only the second w counts.
struct Batch {
  Ids read, said;
  hw::RaggedRows rows;
};

constexpr hw::TokenId not_counted = -100;

Batch drawn(const Settings& settings, hw::Index count, hw::Rng& rng) {
  Batch batch;
  for (hw::Index i = 0; i < count; ++i) {
    Ids whole{0};
    for (hw::Index k = 0; k < settings.word; ++k)
      whole.push_back(1 + hw::TokenId(rng.below(settings.symbols)));
    whole.insert(whole.end(), whole.begin(), whole.end());
    batch.read.insert(batch.read.end(), whole.begin(), whole.end() - 1);
    std::fill_n(whole.begin(), settings.word + 2, not_counted);
    batch.said.insert(batch.said.end(), whole.begin() + 1, whole.end());
  }
  batch.rows = hw::RaggedRows::from_lengths(std::vector<hw::Index>(std::size_t(count), settings.length()));
  return batch;
}

/// The share of the second w that is said right, over words that were drawn anew.
double accuracy(const Model& model, const Settings& settings, hw::Index rounds,
                const hw::Executor& executor) {
  hw::Rng rng(1000);
  const hw::Index count = 100, draw = 1'000'000;  // rotations that training has not seen
  const Batch batch = drawn(settings, count, rng);
  const Ids said = hw::model::largest_columns(model(batch.read, batch.rows, rounds, draw, executor));
  hw::Index right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) right += said[i] == batch.said[i] ? 1 : 0;
  return double(right) / double(count * settings.word);
}

Model trained(const Settings& settings, hw::Index rounds, const hw::Executor& executor) {
  hw::Rng rng(1);
  Model model(settings, rng);
  hw::optimizer::Adam<float> adam(model, {.beta2 = 0.98});
  const hw::optimizer::Cosine rate{
      .peak = settings.rate, .warm_up = settings.steps / 20, .steps = settings.steps, .floor = 0.02};
  for (hw::Index step = 1; step <= settings.steps; ++step) {
    const Batch batch = drawn(settings, settings.batch, rng);
    hw::autograd::Tape<float> tape;
    const auto logits = model(tape.input(batch.read), batch.rows, rounds, step, executor);
    const auto loss = hw::loss::cross_entropy(logits, batch.said, {.ignored = not_counted});
    auto gradients = backward(loss);
    hw::optimizer::clip_global_norm(gradients, 1.0);
    adam.step(model, gradients, rate(step));
  }
  return model;
}

std::string name_of(hw::Index rounds) { return rounds == 0 ? "full" : "LSH-" + std::to_string(rounds); }

/// 0 when every model says what it was trained for: more than 95 of 100 with as many rounds as in training or
/// more.
int run(const Settings& settings) {
  hw::ThreadPool pool(settings.threads);
  const hw::Executor executor = pool.executor();
  std::printf("%% of the second w right, %td symbols of %td; rows: training, columns: evaluation\n      ",
              settings.word, settings.symbols);
  for (const hw::Index rounds : settings.evaluated_rounds) std::printf("%8s", name_of(rounds).c_str());
  std::printf("  seconds\n");
  bool learned = true;
  for (const hw::Index rounds : settings.trained_rounds) {
    const auto start = std::chrono::steady_clock::now();
    const Model model = trained(settings, rounds, executor);
    std::printf("%-6s", name_of(rounds).c_str());
    for (const hw::Index evaluated : settings.evaluated_rounds) {
      const double right = accuracy(model, settings, evaluated, executor);
      std::printf("%8.1f", 100 * right);
      const bool counts = rounds == 0 ? evaluated == 0 : evaluated >= std::max<hw::Index>(rounds, 4);
      if (counts && right < 0.95) learned = false;
    }
    std::printf("%9.1f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
  }
  return learned ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool small = false;
  CLI::App app("Trains on the duplication task with different numbers of hash rounds, and compares them.");
  app.add_option("--steps", settings.steps, "Training steps a model")->capture_default_str();
  app.add_option("--rate", settings.rate, "Highest learning rate")->capture_default_str();
  app.add_option("--word", settings.word, "Symbols of w")->check(CLI::Range(1, 511))->capture_default_str();
  app.add_option("--threads", settings.threads, "Threads")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_flag("--small", small, "Short words, full attention and four rounds only: seconds");
  CLI11_PARSE(app, argc, argv);
  if (small) {
    settings.word = 7;
    settings.symbols = 7;
    settings.chunk_len = 4;
    settings.d_model = 32;
    settings.steps = 200;
    settings.trained_rounds = {0, 4};
  }
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_duplication: %s\n", error.what());
    return 1;
  }
}
