// Opens any bytes as a safetensors file, and reads all that it then says it has.
#include <headwise/io/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headwise;
  try {
    const io::SafeTensors file =
        io::SafeTensors::view({static_cast<const std::byte*>(static_cast<const void*>(data)), size}, "fuzz");
    for (const auto& [name, info] : file.tensors()) {
      if (info.end > size) std::abort();
      const io::NumberKind kind = io::facts(info.dtype).kind;
      if (kind == io::NumberKind::floating) (void)file.matrix<float>(name);
      if (kind == io::NumberKind::integer) (void)file.integers(name);
    }
  } catch (const FormatError&) {
    // what a damaged file deserves
  }
  return 0;
}
