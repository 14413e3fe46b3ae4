// Reads any text as a config.json, and asks it for everything.
#include <headwise/io/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

/// A question may be answered or refused, whatever it is.
void ask(auto&& question) {
  try {
    question();
  } catch (const headwise::FormatError&) {
    // of another kind, or not there
  }
}

void ask_all(const headwise::io::Config& config, int depth) {
  for (const char* key : {"a", "hidden_size", "rope_parameters", ""}) {
    ask([&] { (void)config.integer(key); });
    ask([&] { (void)config.number(key); });
    ask([&] { (void)config.boolean(key); });
    ask([&] { (void)config.text(key); });
    ask([&] { (void)config.integers(key); });
    ask([&] { (void)config.numbers(key); });
    ask([&] { (void)config.texts(key); });
    if (depth < 3) ask([&] { ask_all(config.object(key), depth + 1); });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  ask([&] { ask_all(headwise::io::Config::parse(text, "fuzz"), 0); });
  return 0;
}
