#include "report/command_line.hpp"

#include <CLI/CLI.hpp>

namespace headwise::report {

std::optional<int> read_command_line(int argc, char** argv, Choices& choices) {
  CLI::App app{"Measures what attention costs on this machine, runs a real model, and writes one HTML page."};
  app.add_option("--model", choices.model,
                 "folder of all-MiniLM-L6-v2: model.safetensors, config.json, vocab.txt")
      ->envname("HEADWISE_MODEL_DIR");
  app.add_option("--decoder", choices.decoder,
                 "GGUF file of a language model, such as SmolLM2-135M-Instruct.Q4_1.gguf");
  app.add_option("--training", choices.training,
                 "what train_char_lm --curve and extrapolate --results have written, to be shown");
  app.add_option("--out", choices.out, "the page to write")->capture_default_str();
  app.add_option("--max-length", choices.max_length, "longest sequence to time, in tokens")
      ->check(CLI::Range(256, 1 << 20))
      ->capture_default_str();
  app.add_flag("--quick", choices.quick, "lengths up to 2,048 and few repeats: a look, not a measurement");
  app.add_option("--figures", choices.figures, "only draw the figures of the docs, into this folder");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

}  // namespace headwise::report
