#pragma once

#include <headwise/core/error.hpp>
#include <headwise/io/mapped_file.hpp>
#include <headwise/io/utf8.hpp>
#include <headwise/stored/format.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// What a metadata value of a GGUF file is stored as, by its number in the file.
enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

/// A metadata value, checked against the file and left there: read when it is asked for.
struct GgufValue {
  GgufType type = GgufType::u8;
  GgufType element = GgufType::u8;  ///< of an array
  std::uint64_t count = 1;          ///< elements of an array
  std::uint64_t begin = 0;          ///< of its bytes, from the start of the file; past the count of an array
  std::uint64_t entry = 0;          ///< where its key begins
};

/// What a GGUF file says of one tensor, checked against the file.
///
/// The file lists dimensions innermost first; here the outermost comes first, and the numbers are row-major.
/// As a matrix, rank 1 is [1, n] and a higher rank [product of the others, last dimension].
struct GgufTensor {
  stored::Format format = stored::Format::f32;
  std::vector<Index> shape;
  Index rows = 1, cols = 1;          ///< as a matrix
  std::uint64_t begin = 0, end = 0;  ///< its bytes, counted from the start of the file
  std::uint64_t entry = 0;           ///< where the header describes it
};

struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, GgufTensor, std::less<>> tensors;
};

/// "Q4_1 [1536, 576]".
inline std::string describe(const GgufTensor& tensor) {
  std::string text(stored::facts(tensor.format).name);
  text += " [";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(std::to_string(tensor.shape[i]));
  return text + "]";
}

namespace detail {

struct GgufTypeFacts {
  std::string_view name;
  std::uint64_t size;  ///< the least that a value takes
};

/// By the type's number.
inline constexpr std::array<GgufTypeFacts, 13> gguf_types{{{"UINT8", 1},
                                                           {"INT8", 1},
                                                           {"UINT16", 2},
                                                           {"INT16", 2},
                                                           {"UINT32", 4},
                                                           {"INT32", 4},
                                                           {"FLOAT32", 4},
                                                           {"BOOL", 1},
                                                           {"STRING", 8},
                                                           {"ARRAY", 12},
                                                           {"UINT64", 8},
                                                           {"INT64", 8},
                                                           {"FLOAT64", 8}}};

constexpr const GgufTypeFacts& facts(GgufType type) noexcept {
  return gguf_types[static_cast<std::size_t>(type)];
}

/// The types of tensors by their numbers in ggml, so that one that is not read is refused by its name.
inline constexpr std::array<std::string_view, 41> ggml_types{
    "F32",   "F16",        "Q4_0",       "Q4_1",       "Q4_2",     "Q4_3",     "Q5_0",
    "Q5_1",  "Q8_0",       "Q8_1",       "Q2_K",       "Q3_K",     "Q4_K",     "Q5_K",
    "Q6_K",  "Q8_K",       "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",  "IQ1_S",    "IQ4_NL",
    "IQ3_S", "IQ2_S",      "IQ4_XS",     "I8",         "I16",      "I32",      "I64",
    "F64",   "IQ1_M",      "BF16",       "Q4_0_4_4",   "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",
    "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",    "NVFP4"};

/// Walks over a header, and never past the end of the file: a number that claims more than there is left is
/// refused before anything is made of it.
class GgufReader {
 public:
  GgufReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  GgufHeader read() {
    const auto [tensors, values] = read_counts();
    for (std::uint64_t i = 0; i < values; ++i) read_entry(i);
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor(i);
    place_tensors();
    return std::move(header_);
  }

 private:
  std::pair<std::uint64_t, std::uint64_t> read_counts() {
    subject_ = "header";
    if (!bytes_.starts_with("GGUF")) fail(0, "does not begin with 'GGUF'");
    at_ = 4;
    const auto version = number<std::uint32_t>("the version");
    if (version == 0x02000000u || version == 0x03000000u)
      fail(4, "is of a big-endian file, expected little-endian");
    if (version != 2 && version != 3) fail(4, "has version " + std::to_string(version) + ", expected 2 or 3");
    const auto tensors = number<std::uint64_t>("the number of tensors");
    const auto values = number<std::uint64_t>("the number of metadata entries");
    // The least that a tensor and an entry take.
    expect_room(8, tensors, 8 + 4 + 8 + 4 + 8, "tensors");
    expect_room(16, values, 8 + 4 + 1, "metadata entries");
    return {tensors, values};
  }

  void read_entry(std::uint64_t i) {
    subject_ = "metadata entry " + std::to_string(i);
    GgufValue value;
    value.entry = at_;
    const std::string key(text("the key"));
    subject_ = "metadata " + in_quotes(key);
    if (key.empty()) fail(value.entry, "has no key");
    value.type = type("its type");
    value.begin = at_;
    if (value.type == GgufType::array) {
      value.element = type("the type of its elements");
      value.count = number<std::uint64_t>("the number of its elements");
      expect_room(at_ - 8, value.count, facts(value.element).size, "elements");
      if (value.element == GgufType::array)
        fail(value.begin, "is an array of arrays, expected of numbers or texts");
      value.begin = at_;
    }
    const GgufType kind = value.type == GgufType::array ? value.element : value.type;
    if (kind == GgufType::text) {
      for (std::uint64_t n = 0; n < value.count; ++n) (void)text("a text");
    } else {
      skip(value.count * facts(kind).size, "its value");  // does not wrap: there is room for the elements
    }
    if (!header_.metadata.emplace(key, value).second) fail(value.entry, "occurs twice");
  }

  void read_tensor(std::uint64_t i) {
    subject_ = "tensor " + std::to_string(i);
    GgufTensor tensor;
    tensor.entry = at_;
    const std::string name(text("the name"));
    subject_ = "tensor " + in_quotes(name);
    const std::uint64_t at_rank = at_;
    const auto rank = number<std::uint32_t>("the number of dimensions");
    if (rank > max_rank) fail(at_rank, "has " + std::to_string(rank) + " dimensions, expected at most 4");
    for (std::uint32_t d = 0; d < rank; ++d) {
      const auto dimension = number<std::uint64_t>("a dimension");
      if (!std::in_range<Index>(dimension))
        fail(at_ - 8, "has a dimension of " + std::to_string(dimension) + ", expected at most 2^63 - 1");
      tensor.shape.push_back(Index(dimension));
    }
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    tensor.format = format(number<std::uint32_t>("the type"));
    const std::uint64_t offset_at = at_;
    tensor.begin = number<std::uint64_t>("the offset");
    check_size(tensor, offset_at);
    if (!header_.tensors.emplace(name, std::move(tensor)).second) fail(offset_at, "occurs twice");
  }

  stored::Format format(std::uint32_t number) const {
    for (const stored::FormatFacts& known : stored::formats)
      if (number < ggml_types.size() && ggml_types[number] == known.name) return known.format;
    const std::string name =
        number < ggml_types.size() ? std::string(ggml_types[number]) : "of an unknown type";
    fail(at_ - 4,
         "is " + name + " (" + std::to_string(number) + "), expected F32, F16, BF16, Q8_0, Q4_0 or Q4_1");
  }

  /// Fills in rows and cols, and the number of bytes as `end`, which place_tensors counts from the start.
  void check_size(GgufTensor& tensor, std::uint64_t at) const {
    const auto& facts = stored::facts(tensor.format);
    Index numbers = 1;
    for (const Index n : tensor.shape) {
      if (n > 0 && numbers > std::numeric_limits<Index>::max() / 4 / n) {
        fail(tensor.entry, describe(tensor) + " is more than 2^63 - 1 bytes");
      }
      numbers *= std::max<Index>(n, 1);  // a dimension of zero does not excuse the others
    }
    if (!tensor.shape.empty()) tensor.cols = tensor.shape.back();
    for (std::size_t d = 0; d + 1 < tensor.shape.size(); ++d) tensor.rows *= tensor.shape[d];
    if (tensor.cols % facts.block != 0) {
      fail(tensor.entry, describe(tensor) + " has rows of " + std::to_string(tensor.cols) +
                             ", expected a multiple of " + std::to_string(facts.block));
    }
    tensor.end = stored::bytes_of(tensor.format, tensor.rows * tensor.cols);
    if (tensor.end > bytes_.size() || tensor.begin > bytes_.size() - tensor.end) {
      fail(at, "needs " + std::to_string(tensor.end) + " bytes at offset " + std::to_string(tensor.begin) +
                   ", expected to fit the file of " + std::to_string(bytes_.size()));
    }
  }

  /// Offsets count from the end of the header, rounded up to the alignment. Tensors may leave holes, as
  /// padding does, but share no byte.
  void place_tensors() {
    const std::uint64_t alignment = read_alignment();
    // Does not wrap: at_ is within the file, and the alignment 32 bits.
    const std::uint64_t data = (at_ + alignment - 1) / alignment * alignment;
    std::vector<std::pair<const std::string, GgufTensor>*> order;
    for (auto& entry : header_.tensors) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
    });
    std::uint64_t filled = 0;
    for (auto* entry : order) {
      GgufTensor& tensor = entry->second;
      subject_ = "tensor " + in_quotes(entry->first);
      const std::string place = "begins at offset " + std::to_string(tensor.begin) + ", expected ";
      if (tensor.begin % alignment != 0)
        fail(tensor.entry, place + "a multiple of " + std::to_string(alignment));
      if (tensor.end > 0 && tensor.begin < filled) {
        fail(tensor.entry, place + "at least " + std::to_string(filled) + "; tensors must not overlap");
      }
      tensor.end += tensor.begin;
      filled = std::max(filled, tensor.end);
      tensor.begin += data;
      tensor.end += data;
      if (tensor.end > bytes_.size()) {
        fail(tensor.entry, "ends at byte " + std::to_string(tensor.end) + ", expected at most " +
                               std::to_string(bytes_.size()) + ", the length of the file");
      }
    }
  }

  std::uint64_t read_alignment() {
    const auto found = header_.metadata.find("general.alignment");
    if (found == header_.metadata.end()) return 32;
    subject_ = "metadata 'general.alignment'";
    if (found->second.type != GgufType::u32)
      fail(found->second.entry, "is " + std::string(facts(found->second.type).name) + ", expected UINT32");
    std::uint32_t alignment = 0;
    std::memcpy(&alignment, bytes_.data() + found->second.begin, sizeof alignment);
    if (alignment == 0 || alignment % 8 != 0)
      fail(found->second.begin, "is " + std::to_string(alignment) + ", expected a positive multiple of 8");
    return alignment;
  }

  // ---- What the header is made of ------------------------------------------------------------------------

  std::uint64_t left() const noexcept { return bytes_.size() - at_; }

  void skip(std::uint64_t count, std::string_view what) {
    if (count > left()) {
      fail(at_, "ends within " + std::string(what) + ": " + std::to_string(count) + " bytes are needed, " +
                    std::to_string(left()) + " are left in the file");
    }
    at_ += count;
  }

  template <class Number>
  Number number(std::string_view what) {
    const std::uint64_t begin = at_;
    skip(sizeof(Number), what);
    Number value;
    std::memcpy(&value, bytes_.data() + begin, sizeof value);
    return value;
  }

  std::string_view text(std::string_view what) {
    const auto length = number<std::uint64_t>(what);
    const std::uint64_t begin = at_;
    skip(length, what);
    const std::string_view result = bytes_.substr(std::size_t(begin), std::size_t(length));
    if (!is_utf8(result))
      fail(begin, "has " + in_quotes(result) + " as " + std::string(what) + ", expected UTF-8");
    return result;
  }

  GgufType type(std::string_view what) {
    const auto value = number<std::uint32_t>(what);
    if (value >= gguf_types.size())
      fail(at_ - 4, "has " + std::to_string(value) + " as " + std::string(what) + ", expected 0 to 12");
    return GgufType(value);
  }

  void expect_room(std::uint64_t at, std::uint64_t count, std::uint64_t least, std::string_view what) const {
    if (count > left() / least) {
      fail(at, "claims " + std::to_string(count) + " " + std::string(what) + ", expected at most " +
                   std::to_string(left() / least) + " in the " + std::to_string(left()) +
                   " bytes that follow");
    }
  }

  [[noreturn]] void fail(std::uint64_t at, const std::string& message) const {
    fail_format(file_, subject_ + " at byte " + std::to_string(at), message);
  }

  static constexpr std::uint32_t max_rank = 4;

  std::string_view bytes_;
  const std::string& file_;
  std::uint64_t at_ = 0;
  std::string subject_;
  GgufHeader header_;
};

}  // namespace detail

/// Reads and checks the header of a GGUF file, version 2 or 3, that is given as its whole bytes; `file` names
/// it in errors.
///
/// Throws FormatError, naming file, tensor or key, and byte, for whatever is not as the format says, for
/// tensors that overlap, leave the file or are of a type that is not read, and for texts that are not UTF-8.
/// Cost: the header is read once; memory is proportional to its bytes, never to a number that it claims.
inline GgufHeader read_gguf_header(std::string_view bytes, const std::string& file) {
  return detail::GgufReader(bytes, file).read();
}

}  // namespace headwise::io
