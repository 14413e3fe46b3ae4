#include <headwise/attention/attend.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/function.hpp>
#include <headwise/score/none.hpp>
#include <headwise/score/query_choice.hpp>
#include <headwise/score/query_distance.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include "report/chart.hpp"
#include "report/drawing.hpp"
#include "report/gallery.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headwise::report {

namespace {

constexpr Index drawn_reach = 64;  // tokens back that the curves show

/// One head of a score, asked at single pairs: query at `drawn_reach`, key some tokens before it.
template <class Score>
auto bound_head(const Score& score, Index head, Index heads) {
  Context context;
  context.head = head;
  context.heads = heads;
  context.query_rows = context.key_rows = {0, drawn_reach + 1};
  context.relative = {-drawn_reach, drawn_reach + 1};
  check_score(score, context);
  return [score, context](double s, Index distance) {
    const auto bound = bind_score<double>(score, context);
    const Place query{Position(drawn_reach), Position(drawn_reach)},
        key{Position(drawn_reach - distance), Position(drawn_reach - distance)};
    return apply(bound, s, query, key);
  };
}

using Function = std::function<double(double)>;

Series curve(const std::string& name, int colour, double from, double to, double step, const Function& f) {
  Series series{name, colour, Stroke::line, {}, {}};
  for (double x = from; x <= to + 0.5 * step; x += step) {
    series.x.push_back(x);
    series.y.push_back(f(x));
  }
  return series;
}

/// What a score makes of a score of zero, against the distance.
template <class Head>
Series against_distance(const std::string& name, int colour, const Head& head, double s = 0) {
  return curve(name, colour, 0, double(drawn_reach), 1, [&](double x) { return head(s, Index(x)); });
}

/// What a score makes of scores, at distance 0.
template <class Head>
Series against_score(const std::string& name, int colour, const Head& head, double limit) {
  return curve(name, colour, -limit, limit, limit / 50, [&](double x) { return head(x, 0); });
}

Chart over_distance(const std::string& y, std::vector<Series> series) {
  return {"", {.label = "tokens back", .least = 0.0, .most = double(drawn_reach)}, {y}, std::move(series)};
}

Chart over_scores(const std::string& y, std::vector<Series> series) {
  return {"", {"score before"}, {y}, std::move(series)};
}

Chart alibi() {
  std::vector<Series> series;
  for (const Index head : {0, 1, 3, 7}) {
    series.push_back(against_distance("head " + std::to_string(head + 1) + " of 8", int(series.size()),
                                      bound_head(score::Alibi(8), head, 8)));
  }
  return over_distance("added to the score", std::move(series));
}

Chart soft_cap() {
  return over_scores("score after",
                     {against_score("none", 5, bound_head(score::None{}, 0, 1), 60),
                      against_score("limit 30", 0, bound_head(score::SoftCap{.limit = 30}, 0, 1), 60),
                      against_score("limit 10", 1, bound_head(score::SoftCap{.limit = 10}, 0, 1), 60)});
}

Chart t5_bias() {
  const auto bucket = [](score::T5Direction direction) {
    return [direction](double back) {
      return double(score::t5_bucket(-Index(back), 32, {.direction = direction, .max_distance = 128}));
    };
  };
  return {"",
          {"tokens back"},
          {"bucket, which names the learned number"},
          {curve("causal, 32 buckets", 0, 0, 160, 1, bucket(score::T5Direction::causal)),
           curve("bidirectional, 16 for the past", 1, 0, 160, 1, bucket(score::T5Direction::bidirectional))}};
}

Chart chain() {
  const score::Alibi slopes(8);
  return over_distance("score after, from 20",
                       {against_distance("ALiBi, head 1 of 8", 0, bound_head(slopes, 0, 8), 20),
                        against_distance("ALiBi, then soft cap 10", 1,
                                         bound_head(slopes >> score::SoftCap{.limit = 10}, 0, 8), 20),
                        against_distance("soft cap 10, then ALiBi", 2,
                                         bound_head(score::SoftCap{.limit = 10} >> slopes, 0, 8), 20)});
}

Chart function() {
  const auto recency = score::function(
      [](auto s, Position query, Position key) { return s - decltype(s)(std::log1p(double(query - key))); });
  return over_distance("added to the score",
                       {against_distance("s - log(1 + distance)", 0, bound_head(recency, 0, 1))});
}

/// The weight that one key with the value 1 gets beside a sink is what attention returns.
Chart sink() {
  const auto weight = [](double logit) {
    return [logit](double s) {
      const auto one = [](double x) { return Matrix<double>(Matrix<double>::Constant(1, 1, x)); };
      return attend(one(s), one(1), one(1), {.scale = 1.0}, mask::None{}, score::Sink(one(logit)))(0, 0);
    };
  };
  return {"",
          {"score of the only key"},
          {"its weight"},
          {curve("no sink", 5, -6, 6, 0.1, weight(-math::infinity<double>)),
           curve("sink logit 0", 0, -6, 6, 0.1, weight(0)), curve("sink logit 2", 1, -6, 6, 0.1, weight(2))}};
}

class Gallery {
 public:
  void add(const std::string& name, const std::string& title, const std::string& caption, Chart chart) {
    chart.description = title + ": " + caption;
    if (const auto svg = draw(chart, name + "-"))
      pictures_.push_back({"score/" + name, title, caption, *svg});
  }
  void add_drawing(const std::string& name, const std::string& title, const std::string& caption,
                   const std::string& svg) {
    pictures_.push_back({"score/" + name, title, caption, svg});
  }
  std::vector<Picture> take() { return std::move(pictures_); }

 private:
  std::vector<Picture> pictures_;
};

constexpr Index drawn_side = 40;

/// What a score adds to each pair; a pair that it removes is drawn as one to which nothing is added.
template <class Score>
std::string draw_added(const Score& score, const std::string& description) {
  Context context;
  context.query_rows = context.key_rows = {0, drawn_side};
  const auto bound = bind_score<double>(score, context);
  Matrix<double> added(drawn_side, drawn_side);
  for (Index i = 0; i < drawn_side; ++i) {
    for (Index j = 0; j < drawn_side; ++j) {
      const double s = apply(bound, 0.0, Place{Position(i), Position(i)}, Place{Position(j), Position(j)});
      added(i, j) = std::isfinite(s) ? s : 0.0;
    }
  }
  return draw_numbers(added, 1, {"query", "key"}, description);
}

/// A bias of the caller's own: near and far tokens are favoured in turns.
std::string dense_bias(const std::string& description) {
  Matrix<double> bias(drawn_side, drawn_side);
  for (Index i = 0; i < drawn_side; ++i)
    for (Index j = 0; j < drawn_side; ++j) bias(i, j) = std::cos(double(i - j) / 4);
  return draw_added(score::dense_bias(std::move(bias)), description);
}

/// Later queries look farther back.
std::string query_distance(const std::string& description) {
  constexpr Index reach = 12;
  Matrix<double> table(drawn_side, 2 * reach + 1);
  for (Index i = 0; i < drawn_side; ++i)
    for (Index w = 0; w < table.cols(); ++w)
      table(i, w) = std::cos((double(w - reach) + 10.0 * double(i) / double(drawn_side)) / 4);
  return draw_added(score::QueryDistance(std::move(table)), description);
}

/// Four documents in turns: some queries favour their own, some the others.
std::string query_choice(const std::string& description) {
  std::vector<TokenId> ids;
  for (Index i = 0; i < drawn_side; ++i) ids.push_back(TokenId(i / 5 % 4));
  Matrix<double> table(drawn_side, 2);
  for (Index i = 0; i < drawn_side; ++i)
    table.row(i) << -0.4 * std::sin(double(i) / 6), std::sin(double(i) / 6);
  return draw_added(score::QueryChoice(std::move(table), mask::ScatteredDocuments(ids, ids)), description);
}

}  // namespace

std::vector<Picture> draw_scores() {
  Gallery gallery;
  gallery.add("alibi", "ALiBi", "A penalty that grows with distance, steeper in some heads than in others.",
              alibi());
  gallery.add("t5_bias", "T5 relative bias",
              "Each distance has a bucket, each bucket a learned number; far distances share one, in "
              "logarithmic steps.",
              t5_bias());
  gallery.add("soft_cap", "Soft cap", "Large scores are squeezed below the limit; small ones hardly change.",
              soft_cap());
  gallery.add("chain", "Chain", "Scores are applied in written order, and the order matters.", chain());
  gallery.add("sink", "Sink",
              "A logit without a value takes part in the softmax, so that a query may attend to nothing.",
              sink());
  gallery.add("function", "Any function", "A callable with its derivative is a score, too.", function());
  const std::string bias = "Any matrix of numbers may be added: here a wave over the distance.";
  gallery.add_drawing("dense_bias", "Dense bias", bias, dense_bias(bias));
  const std::string distance =
      "Each query has a number of its own for each distance within reach; keys beyond it are removed.";
  gallery.add_drawing("query_distance", "Query and distance", distance, query_distance(distance));
  const std::string choice =
      "Each query has one number for the keys of its own document and one for the others.";
  gallery.add_drawing("query_choice", "Query and relation", choice, query_choice(choice));
  gallery.add("none", "None", "The score as it is.",
              over_scores("score after", {against_score("none", 0, bound_head(score::None{}, 0, 1), 10)}));
  return gallery.take();
}

}  // namespace headwise::report
