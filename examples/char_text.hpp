#pragma once

#include <headwise/autograd/ops.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/loss/cross_entropy.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// What the examples that learn the characters of a text share: the text as tokens, windows of it, and one
/// step's gradients on two threads.
namespace example {

namespace hw = headwise;

using Ids = std::vector<hw::TokenId>;

struct Corpus {
  std::string alphabet;  ///< character i is token i
  Ids train, validation;
};

/// The first nine tenths of a text to learn from, the rest to validate.
inline Corpus read_corpus(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() < 1000) throw std::runtime_error(path + ": no text to learn from");
  Corpus corpus;
  corpus.alphabet = text;
  std::sort(corpus.alphabet.begin(), corpus.alphabet.end());
  corpus.alphabet.erase(std::unique(corpus.alphabet.begin(), corpus.alphabet.end()), corpus.alphabet.end());
  Ids ids;
  for (const char c : text) ids.push_back(hw::TokenId(corpus.alphabet.find(c)));
  const auto border = ids.begin() + std::ptrdiff_t(ids.size() * 9 / 10);
  corpus.train.assign(ids.begin(), border);
  corpus.validation.assign(border, ids.end());
  return corpus;
}

/// Windows of a text, one under another, and for each character the one that follows it.
struct Batch {
  Ids ids, next;
  hw::RaggedRows rows;
};

inline Batch batch_of(const Ids& text, std::span<const hw::Index> begins, hw::Index length) {
  Batch batch;
  batch.rows = hw::RaggedRows::uniform(hw::Index(begins.size()), length);
  for (const hw::Index begin : begins) {
    const auto first = text.begin() + begin;
    batch.ids.insert(batch.ids.end(), first, first + length);
    batch.next.insert(batch.next.end(), first + 1, first + length + 1);
  }
  return batch;
}

/// Where the windows of a step begin.
inline std::vector<hw::Index> drawn_windows(const Ids& text, hw::Index count, hw::Index length,
                                            hw::Rng& rng) {
  std::vector<hw::Index> begins;
  for (hw::Index i = 0; i < count; ++i) begins.push_back(rng.below(hw::Index(text.size()) - length));
  return begins;
}

/// The mean loss over all windows of a text, side by side.
template <class Model>
double evaluate(const Model& model, const Ids& text, hw::Index length, const hw::Executor& executor) {
  std::vector<hw::Index> begins;
  for (hw::Index begin = 0; begin + length < hw::Index(text.size()); begin += length) begins.push_back(begin);
  std::vector<double> losses(begins.size());
  executor(hw::Index(begins.size()), [&](hw::Index i) {
    const Batch batch = batch_of(text, std::span(begins).subspan(std::size_t(i), 1), length);
    losses[std::size_t(i)] = double(hw::loss::cross_entropy(model(batch.ids), batch.next));
  });
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / double(losses.size());
}

struct Step {
  hw::autograd::Gradients<float> gradients;
  double loss;
};

/// The mean loss over some windows, and its gradients. There are always two shards, each with a tape of its
/// own, whatever the number of threads: the same settings give the same bits.
template <class Model>
Step gradients_of(const Model& model, const Ids& text, std::span<const hw::Index> begins, hw::Index length,
                  const hw::Executor& executor) {
  std::array<hw::autograd::Gradients<float>, 2> gradients;
  std::array<double, 2> losses{};
  executor(2, [&](hw::Index shard) {
    const auto s = std::size_t(shard);
    const std::size_t count = begins.size() / 2;
    const Batch batch = batch_of(text, begins.subspan(s * count, count), length);
    hw::autograd::Tape<float> tape;
    const auto logits = model(tape.input(batch.ids), {.query_rows = batch.rows});
    const auto loss = hw::loss::cross_entropy(logits, batch.next);
    gradients[s] = backward(loss);
    losses[s] = double(loss.value()(0, 0));
  });
  gradients[0] += gradients[1];
  gradients[0] *= 0.5;
  return {std::move(gradients[0]), (losses[0] + losses[1]) / 2};
}

}  // namespace example
