// Opens any bytes as a GGUF file, reads all that it then says it has, and makes a decoder of it.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/io/gguf_llama.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headwise;
  try {
    const io::Gguf file =
        io::Gguf::view({static_cast<const std::byte*>(static_cast<const void*>(data)), size}, "fuzz");
    for (const auto& [name, info] : file.tensors()) {
      if (info.end > size) std::abort();
      if (file.matrix<float>(name).size() != info.rows * info.cols) std::abort();
    }
    for (const auto& [key, value] : file.metadata()) {
      if (value.type == io::GgufType::text) (void)file.text(key);
      if (value.type != io::GgufType::array) continue;
      if (value.element == io::GgufType::text && file.texts(key).size() != value.count) std::abort();
      if (value.element == io::GgufType::i32 && file.integers(key).size() != value.count) std::abort();
    }
    (void)io::load_stored_llama(file);
  } catch (const FormatError&) {
    // what a damaged file deserves
  }
  return 0;
}
