#pragma once

#include <headwise/io/dtype.hpp>
#include <headwise/io/mapped_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// What a tensor file says of one tensor, checked against the file.
///
/// As a matrix, a tensor of rank 0 is [1, 1], of rank 1 [1, n], of rank 2 [rows, cols], and of a higher rank
/// [first dimension, product of the others]; the numbers are row-major in either case.
struct TensorInfo {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  Index rows = 1, cols = 1;          ///< as a matrix
  std::uint64_t begin = 0, end = 0;  ///< its bytes, counted from the start of the file
  std::uint64_t entry = 0;           ///< where the header describes it: the byte after its name
};

struct SafetensorsHeader {
  std::map<std::string, TensorInfo, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

namespace detail {

/// A forward iterator over the header that leaves its position where the handler of events can see it.
struct CountingCursor {
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;

  const char* at = nullptr;
  const char** furthest = nullptr;

  reference operator*() const { return *at; }
  CountingCursor& operator++() {
    *furthest = ++at;
    return *this;
  }
  friend bool operator==(const CountingCursor& a, const CountingCursor& b) { return a.at == b.at; }
  friend bool operator!=(const CountingCursor& a, const CountingCursor& b) { return a.at != b.at; }
};

/// Takes the events of the JSON parser. It knows at every place what must come next, and refuses all else at
/// once: nothing is built from what does not belong, whatever its depth or size.
class HeaderEvents {
 public:
  HeaderEvents(const std::string& file, std::string_view header) : file_(file), begin_(header.data()) {
    position_ = begin_;
  }

  CountingCursor cursor(const char* at) { return {at, &position_}; }
  SafetensorsHeader take() { return std::move(header_); }

  bool null() { return refuse("null"); }
  bool boolean(bool value) { return refuse(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return refuse(std::to_string(value)); }
  bool number_float(double, const std::string& digits) { return refuse("the number " + digits); }
  bool binary(const std::vector<std::uint8_t>&) { return refuse("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (place_ == Place::in_shape) {
      if (!std::in_range<Index>(value)) refuse(std::to_string(value));
      if (shape_->size() == max_rank) fail("has more than " + std::to_string(max_rank) + " dimensions");
      shape_->push_back(Index(value));
    } else if (place_ == Place::in_offsets && offsets_->size() < 2) {
      offsets_->push_back(value);
    } else {
      refuse(std::to_string(value));
    }
    return true;
  }

  bool string(const std::string& value) {
    if (place_ == Place::metadata_text) {
      header_.metadata.insert_or_assign(field_, value);
      place_ = Place::in_metadata;
    } else if (place_ == Place::dtype) {
      const auto known =
          std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& d) { return d.name == value; });
      if (known == dtypes.end()) refuse(in_quotes(value));
      dtype_ = known->dtype;
      place_ = Place::in_entry;
    } else {
      refuse(in_quotes(value));
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (place_ == Place::start) return go(Place::in_file);
    if (place_ == Place::metadata) return go(Place::in_metadata);
    if (place_ != Place::entry) return refuse("an object");
    entry_ = byte();
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
    return go(Place::in_entry);
  }

  bool key(const std::string& name) {
    if (place_ == Place::in_file) return begin_tensor(name);
    if (place_ == Place::in_metadata) {
      if (header_.metadata.contains(name)) fail("has the key " + in_quotes(name) + " twice");
      field_ = name;
      return go(Place::metadata_text);
    }
    if (name == "dtype" && !dtype_) return go(Place::dtype);
    if (name == "shape" && !shape_) return go(Place::shape);
    if (name == "data_offsets" && !offsets_) return go(Place::offsets);
    const bool twice = name == "dtype" || name == "shape" || name == "data_offsets";
    fail(twice ? "has the key " + in_quotes(name) + " twice"
               : "has the key " + in_quotes(name) + ", expected only dtype, shape and data_offsets");
  }

  bool end_object() {
    if (place_ == Place::in_entry) {
      end_tensor();
      return go(Place::in_file);
    }
    return go(place_ == Place::in_metadata ? Place::in_file : Place::finish);
  }

  bool start_array(std::size_t) {
    if (place_ == Place::shape) {
      shape_.emplace();
      return go(Place::in_shape);
    }
    if (place_ != Place::offsets) return refuse("an array");
    offsets_.emplace();
    return go(Place::in_offsets);
  }

  bool end_array() {
    if (place_ == Place::in_offsets && offsets_->size() != 2) {
      fail("data_offsets has " + std::to_string(offsets_->size()) + " numbers, expected [begin, end]");
    }
    return go(Place::in_entry);
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    fail("is not valid JSON (UTF-8, without comments or trailing commas)");
  }

 private:
  /// Where in the grammar the next event falls.
  enum class Place {
    start,
    in_file,
    metadata,
    in_metadata,
    metadata_text,
    entry,
    in_entry,
    dtype,
    shape,
    in_shape,
    offsets,
    in_offsets,
    finish
  };
  static constexpr std::size_t max_rank = 64;

  bool go(Place place) {
    place_ = place;
    return true;
  }

  bool begin_tensor(const std::string& name) {
    tensor_ = name;
    if (name == "__metadata__") {
      if (std::exchange(has_metadata_, true)) fail("occurs twice");
      return go(Place::metadata);
    }
    if (header_.tensors.contains(name)) fail("occurs twice");
    return go(Place::entry);
  }

  void end_tensor() {
    if (!dtype_) fail("has no dtype");
    if (!shape_) fail("has no shape");
    if (!offsets_) fail("has no data_offsets");
    TensorInfo info;
    info.dtype = *dtype_;
    info.shape = std::move(*shape_);
    info.begin = (*offsets_)[0];
    info.end = (*offsets_)[1];
    info.entry = entry_;
    header_.tensors.emplace(tensor_, std::move(info));
    tensor_.clear();
  }

  std::string_view expected() const {
    switch (place_) {
      case Place::start:
        return "an object of tensors";
      case Place::metadata:
        return "an object of strings";
      case Place::metadata_text:
        return "a string";
      case Place::entry:
        return "an object with dtype, shape and data_offsets";
      case Place::dtype:
        return "dtype to be BOOL, U8, I8, I16, F16, BF16, I32, F32, F64, I64 or a relative of these";
      case Place::shape:
        return "shape to be an array";
      case Place::in_shape:
        return "shape to hold integers from 0 to 2^63 - 1";
      case Place::offsets:
        return "data_offsets to be an array";
      case Place::in_offsets:
        return "data_offsets to be two integers, [begin, end]";
      default:
        return "the end";
    }
  }

  /// The byte of the file at which reading stands: the header begins at 8.
  std::uint64_t byte() const { return 8 + std::uint64_t(position_ - begin_); }

  [[noreturn]] bool refuse(std::string_view got) const {
    fail(std::string("has ").append(got).append(", expected ").append(expected()));
  }

  [[noreturn]] void fail(std::string_view text) const {
    std::string subject = "header";
    if (place_ != Place::start && place_ != Place::finish && !tensor_.empty()) {
      subject = tensor_ == "__metadata__" ? tensor_ : "tensor " + in_quotes(tensor_);
    }
    fail_format(file_, subject.append(" before byte ").append(std::to_string(byte())), text);
  }

  const std::string& file_;
  const char* begin_;
  const char* position_;
  Place place_ = Place::start;
  bool has_metadata_ = false;
  std::string tensor_, field_;
  std::uint64_t entry_ = 0;
  std::optional<Dtype> dtype_;
  std::optional<std::vector<Index>> shape_;
  std::optional<std::vector<std::uint64_t>> offsets_;
  SafetensorsHeader header_;
};

[[noreturn]] inline void fail_tensor(const std::string& file, std::string_view name, const TensorInfo& info,
                                     const std::string& text) {
  fail_format(file, "tensor " + in_quotes(name) + " at byte " + std::to_string(info.entry), text);
}

/// Fills in rows and cols, and checks that the bytes are as many as the shape needs. A dimension of zero
/// empties a tensor but does not excuse its other dimensions.
inline void check_size(const std::string& file, const std::string& name, TensorInfo& info) {
  const Index limit = std::numeric_limits<Index>::max() / Index(facts(info.dtype).size);
  Index product = 1;
  bool empty = false;
  for (std::size_t i = 0; i < info.shape.size(); ++i) {
    const Index n = info.shape[i];
    empty |= n == 0;
    if (n > 0 && product > limit / n) {
      fail_tensor(file, name, info, describe(info.dtype, info.shape) + " is more than 2^63 - 1 bytes");
    }
    if (n > 0) product *= n;
  }
  const std::uint64_t needed = empty ? 0 : std::uint64_t(product) * facts(info.dtype).size;
  if (info.shape.size() == 1) {
    info.cols = info.shape[0];
  } else if (info.shape.size() > 1) {
    info.rows = info.shape[0];
    for (std::size_t i = 1; i < info.shape.size(); ++i) info.cols *= info.shape[i];
  }
  if (info.begin > info.end || info.end - info.begin != needed) {
    fail_tensor(file, name, info,
                "data_offsets is [" + std::to_string(info.begin) + ", " + std::to_string(info.end) +
                    "], expected " + std::to_string(needed) + " bytes for " +
                    describe(info.dtype, info.shape));
  }
}

/// Checks that the tensors, in the order of their offsets, fill the data without overlap or hole, then counts
/// their offsets from the start of the file.
inline void check_layout(const std::string& file, SafetensorsHeader& header, std::uint64_t data_begin,
                         std::uint64_t data_size) {
  using Entry = std::pair<const std::string, TensorInfo>;
  std::vector<Entry*> order;
  for (Entry& entry : header.tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t filled = 0;
  for (Entry* entry : order) {
    auto& [name, info] = *entry;
    check_size(file, name, info);
    if (info.begin != filled) {
      fail_tensor(file, name, info,
                  "data_offsets begin at " + std::to_string(info.begin) + ", expected " +
                      std::to_string(filled) +
                      (info.begin < filled ? "; tensors must not overlap" : "; tensors leave no hole"));
    }
    if (info.end > data_size) {
      fail_tensor(file, name, info,
                  "data_offsets end at " + std::to_string(info.end) + ", expected at most " +
                      std::to_string(data_size) + ", the bytes after the header");
    }
    filled = info.end;
    info.begin += data_begin;
    info.end += data_begin;
  }
  if (filled != data_size) {
    fail_format(file, "data at byte " + std::to_string(data_begin + filled),
                std::to_string(data_size - filled) + " bytes belong to no tensor");
  }
}

/// The header's text: its length field is believed only after it fits the file.
inline std::string_view header_text(std::string_view bytes, const std::string& file) {
  if (bytes.size() < 8) {
    fail_format(file, "header length at byte 0",
                "the file has " + std::to_string(bytes.size()) + " bytes, expected at least 8");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const std::uint64_t most = std::min<std::uint64_t>(max_header_bytes, bytes.size() - 8);
  if (length > most) {
    fail_format(file, "header length at byte 0",
                "is " + std::to_string(length) + ", expected at most " + std::to_string(most) +
                    (most == max_header_bytes ? "" : ", the bytes that follow"));
  }
  const std::string_view header = bytes.substr(8, std::size_t(length));
  if (!header.starts_with('{')) fail_format(file, "header at byte 8", "does not begin with '{'");
  // The parser takes a NUL for the end; the format pads with spaces, and whatever hides behind a NUL is
  // hostile.
  if (const auto nul = header.find('\0'); nul != header.npos) {
    fail_format(file, "header at byte " + std::to_string(8 + nul),
                "has a NUL; a header is padded with spaces");
  }
  return header;
}

}  // namespace detail

/// Reads and checks the header of a safetensors file that is given as its whole bytes; `file` names it in
/// errors.
///
/// The tensors must fill the data exactly: offsets in order, no overlap, no hole, as many bytes as the shape
/// needs. Throws FormatError naming file, tensor and byte otherwise. Cost: the header is read once; memory is
/// proportional to the header, never to a number that it claims.
inline SafetensorsHeader read_safetensors_header(std::string_view bytes, const std::string& file) {
  const std::string_view text = detail::header_text(bytes, file);
  detail::HeaderEvents events(file, text);
  nlohmann::json::sax_parse(events.cursor(text.data()), events.cursor(text.data() + text.size()), &events);
  SafetensorsHeader header = events.take();
  const std::uint64_t data_begin = 8 + text.size();
  detail::check_layout(file, header, data_begin, bytes.size() - data_begin);
  return header;
}

}  // namespace headwise::io
