#include <headwise/attention/etc.hpp>
#include <headwise/attention/linear.hpp>
#include <headwise/attention/longformer.hpp>
#include <headwise/attention/lsh.hpp>
#include <headwise/attention/routing.hpp>
#include <headwise/attention/sinkhorn.hpp>
#include <headwise/attention/sinkhorn_sort.hpp>
#include <headwise/attention/strided.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>

#include "report/drawing.hpp"
#include "report/gallery.hpp"
#include "report/numbers.hpp"

#include <limits>
#include <string>
#include <utility>

namespace headwise::report {

namespace {

using Numbers = Matrix<double>;

constexpr Index topics = 4, drawn_dim = 16;

/// A call that is given the rows of the identity as values returns its own weights.
Numbers identity() { return Numbers::Identity(drawn_length, drawn_length); }

/// Tokens of four topics in turn, three in a row: what lies together is not what belongs together.
Index topic_of(Index token) { return token / 3 % topics; }

/// One direction a topic, and some noise on each token.
Numbers tokens_of_topics() {
  Rng rng(5);
  const Numbers directions = normal(topics, drawn_dim, 1.0, rng);
  Numbers tokens = normal(drawn_length, drawn_dim, 0.3, rng);
  for (Index i = 0; i < drawn_length; ++i) tokens.row(i) += directions.row(topic_of(i));
  return tokens;
}

Picture pattern(const std::string& name, const std::string& title, const std::string& meaning,
                const Numbers& weights) {
  const Matrix<bool> seen = (weights.array() > 0).matrix();
  const Index count = count_pairs(seen);
  const std::string caption = meaning + " " + grouped(count) + " of " + grouped(seen.size()) + " pairs, " +
                              percent(double(count) / double(seen.size())) + ".";
  return {"attention/" + name, title, caption, draw_mask(seen, title + ": " + caption)};
}

Picture strided() {
  const Numbers any = Numbers::Zero(drawn_length, drawn_dim);
  return pattern("strided", "attend_strided",
                 "The last 7 tokens, and every seventh before them: two softmaxes, merged.",
                 attend_strided(7, any, any, identity()).output);
}

Picture longformer() {
  const Numbers any = Numbers::Zero(drawn_length, drawn_dim), values = identity();
  LongformerPattern pattern_of{.reach = 4};
  pattern_of.global.assign(std::size_t(drawn_length), false);
  pattern_of.global[0] = pattern_of.global[20] = true;
  return pattern(
      "longformer", "attend_longformer",
      "A window of 4 on each side, and 2 global tokens with projections of their own.",
      attend_longformer(LongformerInputs<double>{any, any, values, any, any, values}, pattern_of).output);
}

/// Eight global rows stand before forty long ones.
Picture etc() {
  const Index global = 8, local = drawn_length - global;
  const Numbers long_rows = Numbers::Zero(local, drawn_dim), global_rows = Numbers::Zero(global, drawn_dim);
  const Numbers values = identity(), global_values = values.topRows(global),
                long_values = values.bottomRows(local);
  const auto pieces = etc_pieces(etc_piece(long_rows, long_values), etc_piece(global_rows, global_values),
                                 etc_piece(global_rows, global_values), etc_piece(long_rows, long_values));
  const auto attended = attend_etc(long_rows, global_rows, pieces, {.radius = 3});
  Numbers weights(drawn_length, drawn_length);
  weights << attended.from_global.output, attended.from_long.output;
  return pattern("etc", "attend_etc",
                 "8 global rows see all and are seen by all; 40 long ones see 3 on each side.", weights);
}

Picture lsh() {
  const Numbers tokens = tokens_of_topics();
  const auto rotations =
      lsh_rotations<double>({.factors = {8}, .heads = 1, .head_dim = drawn_dim, .seed = 2});
  return pattern(
      "lsh", "attend_lsh, and Causal",
      "Tokens of four topics in turn, sorted by a hash into 8 buckets and cut into chunks of 8, each of "
      "which sees the one before it.",
      attend_lsh(tokens, identity(), lsh_buckets(tokens, rotations), {.chunk_len = 8}, {}, mask::Causal{})
          .output);
}

Picture routing() {
  const Numbers tokens = standard_heads(tokens_of_topics(), 1);
  Numbers centroids(topics, drawn_dim);
  for (Index topic = 0; topic < topics; ++topic) centroids.row(topic) = tokens.row(3 * topic);
  const RoutingClusters clusters = routing_clusters(tokens, centroids, drawn_length / topics);
  return pattern(
      "routing", "attend_routing, and Causal",
      "The same tokens; each of four clusters takes the 12 that are nearest to its centroid.",
      attend_routing(tokens, tokens, identity(), clusters, clusters, {}, {}, mask::Causal{}).output);
}

/// Soft: every block adds to what is sorted to a block, most of them next to nothing.
Picture sinkhorn_blocks() {
  const Index block_len = 8, blocks = drawn_length / block_len;
  Rng rng(4);
  const Numbers any = Numbers::Zero(drawn_length, drawn_dim);
  const Numbers sorted = sinkhorn(normal(blocks, blocks, 3.0, rng));
  const Numbers weights = attend_sinkhorn(any, any, identity(), {sorted}, block_len).output;
  const std::string
      title = "attend_sinkhorn",
      caption =
          "Blocks of 8 see themselves and what a network sorts to them: a mixture of blocks, the "
          "stronger the darker.";
  return {"attention/sinkhorn", title, caption,
          draw_numbers(weights, weights.maxCoeff(), {"query", "key"}, title + ": " + caption)};
}

/// Tokens that all look alike, so that what differs is what the gates leave of them.
Picture linear() {
  const Numbers alike = Numbers::Ones(drawn_length, 1);
  Numbers decay = Numbers::Constant(drawn_length, 1, -1.0 / 12);
  decay(30, 0) = -std::numeric_limits<double>::infinity();
  const Numbers weights = attend_linear(alike, alike, identity(), {}, {.decay = decay});
  const std::string
      title = "attend_linear, gated",
      caption =
          "Of tokens that all look alike, each leaves exp(-1/12) of what the ones before it wrote; token 30 "
          "forgets everything.";
  return {"attention/linear", title, caption,
          draw_numbers(weights, 1, {"query", "key"}, title + ": " + caption)};
}

}  // namespace

std::vector<Picture> draw_calls() {
  return {strided(), longformer(), etc(), lsh(), routing(), sinkhorn_blocks(), linear()};
}

}  // namespace headwise::report
