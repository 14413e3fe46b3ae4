// Sentence embeddings of a real model: one line of numbers for each sentence, or how alike they are.
//
//     embed --model all-MiniLM-L6-v2 "A cat sat." "A dog ran." --similarity
//     embed --threads 4 < sentences.txt > embeddings.txt
#include <headwise/core/thread_pool.hpp>
#include <headwise/io/sentence_encoder.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace hw = headwise;

namespace {

void print_rows(const hw::Matrix<float>& x, int decimals) {
  for (hw::Index row = 0; row < x.rows(); ++row) {
    for (hw::Index column = 0; column < x.cols(); ++column) {
      if (column > 0) std::putchar(' ');
      std::printf("%.*f", decimals, double(x(row, column)));
    }
    std::putchar('\n');
  }
}

void run(const std::string& model, std::vector<std::string> sentences, int threads, bool similarity) {
  if (sentences.empty()) {
    for (std::string line; std::getline(std::cin, line);) sentences.push_back(line);
  }
  // [docs model/sentence_encoder]
  const auto encoder = hw::io::load_sentence_encoder<float>(model);  // a folder
  hw::ThreadPool pool(threads);
  const hw::Matrix<float> embeddings = encoder(sentences, pool.executor());  // a row a sentence
  // [docs end]
  if (similarity) {
    print_rows(hw::multiply_transposed(embeddings, embeddings), 4);
  } else {
    print_rows(embeddings, 7);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string model;
  std::vector<std::string> sentences;
  int threads = 1;
  bool similarity = false;

  CLI::App app(
      "Embeds sentences with a BERT-like sentence encoder, from the command line or standard input.");
  app.add_option("sentences", sentences, "The sentences; standard input, one a line, when there are none");
  app.add_option("--model", model, "Folder with config.json, model.safetensors and vocab.txt")
      ->envname("HEADWISE_MODEL_DIR")
      ->required();
  app.add_option("--threads", threads, "Threads, this one included")->capture_default_str();
  app.add_flag("--similarity", similarity, "Print the matrix of cosines instead of the embeddings");
  CLI11_PARSE(app, argc, argv);

  try {
    run(model, std::move(sentences), threads, similarity);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return 1;
  }
}
