// A C interface to the real decoder, for smollm2.py.
#include <headwise/core/thread_pool.hpp>
#include <headwise/io/gguf_llama.hpp>
#include <headwise/model/generate.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace {

using namespace headwise;

std::optional<ThreadPool> pool;
std::unique_ptr<io::StoredDecoder> decoder;
io::StoredDecoder::Cache prompt_cache;
Matrix<float> last_logits;
double weight_bytes = 0;

AttendOptions call() {
  AttendOptions options;
  if (pool) options.executor = pool->executor();
  return options;
}

}  // namespace

/// Threads of prefill and decode, the caller's included; 1 until it is called.
extern "C" void headwise_threads(int count) { pool.emplace(count); }

/// Loads a GGUF file, its weights as they are or in the named format. Returns 0 when it fails.
extern "C" int headwise_load(const char* path, const char* format_name) {
  try {
    std::optional<stored::Format> format;
    for (const stored::FormatFacts& known : stored::formats)
      if (known.name == format_name) format = known.format;
    decoder = std::make_unique<io::StoredDecoder>(io::load_stored_llama(io::Gguf(path), format));
    weight_bytes = 0;
    decoder->for_each_parameter([](std::string_view, const auto& parameter) {
      if constexpr (requires { parameter.bytes(); }) {
        weight_bytes += double(parameter.bytes());
      } else {
        weight_bytes += 4.0 * double(parameter.rows() * parameter.cols());
      }
    });
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 0;
  }
}

/// The bytes that a token reads: every weight once, and the cache of `context` tokens.
extern "C" double headwise_bytes_a_token(long context) {
  const model::DecoderOptions& o = decoder->options();
  return weight_bytes + 4.0 * double(2 * o.layers * o.kv_heads * o.head_dim * context);
}

/// All hidden states of a prompt and the logits of its last token; its cache is kept.
extern "C" void headwise_prefill(const int* ids, long count) {
  auto [states, cache] = decoder->step(std::span<const TokenId>(ids, std::size_t(count)), {}, call());
  const Matrix<float> last = states.bottomRows(1);
  last_logits = decoder->logits(last, call().executor);
  prompt_cache = std::move(cache);
}

/// `count` greedy tokens after the prompt.
extern "C" void headwise_decode(long count) {
  io::StoredDecoder::Cache cache = prompt_cache;
  std::vector<TokenId> token = model::largest_columns(last_logits);
  for (long i = 0; i < count; ++i) {
    auto [states, longer] = decoder->step(token, std::move(cache), call());
    cache = std::move(longer);
    token = model::largest_columns(decoder->logits(states, call().executor));
  }
}

/// logits [vocab_size] of the last prompt's last token.
extern "C" const float* headwise_logits() { return last_logits.data(); }

/// a = b + 3 c, three arrays of `count` floats, in eight parts.
extern "C" void headwise_triad(float* a, const float* b, const float* c, long count) {
  call().executor(8, [&](Index part) {
    for (long i = count * part / 8; i < count * (part + 1) / 8; ++i) a[i] = b[i] + 3 * c[i];
  });
}
