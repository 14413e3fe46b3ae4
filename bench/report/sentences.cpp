#include "report/sentences.hpp"

#include <headwise/io/sentence_encoder.hpp>

#include "report/stopwatch.hpp"

#include <array>
#include <string>
#include <utility>

namespace headwise::report {

namespace {

struct Example {
  const char* topic;
  const char* sentence;
};

/// Three sentences a topic, which share meaning rather than words.
constexpr std::array<Example, 12> examples{{
    {"weather", "It has been raining since early this morning."},
    {"weather", "Heavy showers are expected all afternoon."},
    {"weather", "Take an umbrella, the sky is full of dark clouds."},
    {"cooking", "Chop the onions and fry them in butter."},
    {"cooking", "Let the soup simmer for half an hour."},
    {"cooking", "This recipe needs two eggs and a little flour."},
    {"music", "The orchestra played a symphony by Brahms."},
    {"music", "She practises the violin every evening."},
    {"music", "The pianist forgot the last notes of the sonata."},
    {"computing", "The program crashes because of a null pointer."},
    {"computing", "Our new compiler makes the code run faster."},
    {"computing", "Sorting a million numbers takes a tenth of a second."},
}};

std::string missing_part(const std::filesystem::path& folder) {
  if (folder.empty()) {
    return "no model folder was given. Pass --model DIR or set HEADWISE_MODEL_DIR to the folder of "
           "all-MiniLM-L6-v2; "
           "the figures on real sentences are left out.";
  }
  for (const char* file : {"config.json", "model.safetensors", "vocab.txt"}) {
    if (std::filesystem::exists(folder / file)) continue;
    return "the model folder " + folder.string() + " has no " + file +
           "; the figures on real sentences are left out.";
  }
  return "";
}

template <class Encoder>
void embed(const Encoder& encoder, double budget, SentenceStudy& study) {
  Index total = 0;
  for (const std::string& sentence : study.sentences) {
    study.tokens.push_back(Index(encoder.tokenized(sentence).size()));
    total += study.tokens.back();
  }
  Matrix<float> embeddings;
  const Timing timing = summarise(repeat([&] { embeddings = encoder(study.sentences); }, budget, 50));
  study.similarity = multiply_transposed(embeddings, embeddings).template cast<double>();
  study.dimensions = embeddings.cols();
  study.seconds_per_sentence = timing.seconds / double(study.sentences.size());
  study.tokens_per_second = double(total) / timing.seconds;
}

}  // namespace

SentenceStudy study_sentences(const std::filesystem::path& folder, double budget, Progress& progress) {
  SentenceStudy study;
  study.problem = missing_part(folder);
  if (!study.problem.empty()) return study;
  for (const Example& example : examples) {
    study.sentences.emplace_back(example.sentence);
    study.topics.emplace_back(example.topic);
  }
  study.model = std::filesystem::canonical(folder).filename().string();
  progress.step("real sentences", "reading " + folder.string());
  try {
    const auto encoder = io::load_sentence_encoder<float>(folder.string());
    progress.step("real sentences", "embedding");
    embed(encoder, budget, study);
  } catch (const FormatError& error) {
    study.problem = std::string("the model could not be read: ") + error.what();
  }
  return study;
}

}  // namespace headwise::report
