#pragma once

#include <headwise/io/dtype.hpp>
#include <headwise/io/json_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::uint64_t entry = 0;           ///< where the header describes it: the byte after the brace
};

struct SafetensorsHeader {
  std::map<std::string, TensorInfo, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

namespace detail {

/// Follows the JSON of a header. It knows at every place what must come next, and refuses all else at once:
/// nothing is built from what does not belong, whatever its depth or size.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  SafetensorsHeader take() { return std::move(header_); }

  /// Returns false when the parser may forget the value.
  bool operator()(const JsonEvent& event) {
    byte_ = event.byte;
    switch (event.kind) {
      case JsonEvent::Kind::object_start:
        begin_object();
        return true;
      case JsonEvent::Kind::object_end:
        return end_object();
      case JsonEvent::Kind::array_start:
        begin_array();
        return true;
      case JsonEvent::Kind::array_end:
        end_array();
        return true;
      case JsonEvent::Kind::key:
        read_key(event.value.get_ref<const std::string&>());
        return true;
      default:
        read_value(event.value);
        return true;
    }
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
    in_offsets
  };
  static constexpr std::size_t max_rank = 64;

  void begin_object() {
    if (place_ == Place::start) {
      place_ = Place::in_file;
    } else if (place_ == Place::metadata) {
      place_ = Place::in_metadata;
    } else if (place_ == Place::entry) {
      entry_ = byte_;
      dtype_.reset();
      shape_.reset();
      offsets_.reset();
      place_ = Place::in_entry;
    } else {
      refuse("an object");
    }
  }

  bool end_object() {
    if (place_ == Place::in_entry) end_tensor();
    place_ = Place::in_file;
    return false;
  }

  void begin_array() {
    if (place_ == Place::shape) {
      shape_.emplace();
      place_ = Place::in_shape;
    } else if (place_ == Place::offsets) {
      offsets_.emplace();
      place_ = Place::in_offsets;
    } else {
      refuse("an array");
    }
  }

  void end_array() {
    if (place_ == Place::in_offsets && offsets_->size() != 2) {
      fail("data_offsets has " + std::to_string(offsets_->size()) + " numbers, expected [begin, end]");
    }
    place_ = Place::in_entry;
  }

  void read_key(const std::string& key) {
    if (place_ == Place::in_file) {
      begin_tensor(key);
    } else if (place_ == Place::in_metadata) {
      expect_new(key, header_.metadata.contains(key));
      key_ = key;
      place_ = Place::metadata_text;
    } else if (key == "dtype") {
      expect_new(key, dtype_.has_value());
      place_ = Place::dtype;
    } else if (key == "shape") {
      expect_new(key, shape_.has_value());
      place_ = Place::shape;
    } else if (key == "data_offsets") {
      expect_new(key, offsets_.has_value());
      place_ = Place::offsets;
    } else {
      fail("has the key " + in_quotes(key) + ", expected only dtype, shape and data_offsets");
    }
  }

  void begin_tensor(const std::string& name) {
    const bool metadata = name == "__metadata__";
    subject_ = metadata ? name : "tensor " + in_quotes(name);
    if (metadata ? has_metadata_ : header_.tensors.contains(name)) fail("occurs twice");
    has_metadata_ |= metadata;
    tensor_ = name;
    place_ = metadata ? Place::metadata : Place::entry;
  }

  void expect_new(const std::string& key, bool seen) const {
    if (seen) fail("has the key " + in_quotes(key) + " twice");
  }

  void read_value(const nlohmann::json& value) {
    if (place_ == Place::metadata_text && value.is_string()) {
      header_.metadata.emplace(key_, value.get_ref<const std::string&>());
      place_ = Place::in_metadata;
    } else if (place_ == Place::dtype && value.is_string()) {
      const auto& name = value.get_ref<const std::string&>();
      const auto known =
          std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& d) { return d.name == name; });
      if (known == dtypes.end()) refuse(in_quotes(name));
      dtype_ = known->dtype;
      place_ = Place::in_entry;
    } else if (place_ == Place::in_shape && is_natural(value)) {
      if (shape_->size() == max_rank) fail("has more than " + std::to_string(max_rank) + " dimensions");
      shape_->push_back(Index(value.get<std::uint64_t>()));
    } else if (place_ == Place::in_offsets && is_natural(value) && offsets_->size() < 2) {
      offsets_->push_back(value.get<std::uint64_t>());
    } else {
      refuse(json_in_words(value));
    }
  }

  /// 0 to 2^63 - 1; what is larger, negative or broken is none.
  static bool is_natural(const nlohmann::json& value) {
    return value.is_number_unsigned() && std::in_range<Index>(value.get<std::uint64_t>());
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
        return "the dtype BOOL, U8, I8, I16, F16, BF16, I32, F32, F64, I64 or a relative of these";
      case Place::shape:
        return "the shape to be an array";
      case Place::in_shape:
        return "the shape to hold integers from 0 to 2^63 - 1";
      case Place::offsets:
        return "data_offsets to be an array";
      case Place::in_offsets:
        return "data_offsets to be two integers from 0 to 2^63 - 1";
      default:
        return "nothing more";
    }
  }

  [[noreturn]] void refuse(std::string_view got) const {
    fail(std::string("has ").append(got).append(", expected ").append(expected()));
  }

  [[noreturn]] void fail(std::string_view text) const {
    fail_format(file_, subject_ + " before byte " + std::to_string(byte_), text);
  }

  const std::string& file_;
  Place place_ = Place::start;
  std::uint64_t byte_ = 8, entry_ = 8;
  bool has_metadata_ = false;
  std::string subject_ = "header", tensor_, key_;
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
  detail::HeaderReader reader(file);
  (void)parse_json(text, 8, file, std::ref(reader));
  SafetensorsHeader header = reader.take();
  const std::uint64_t data_begin = 8 + text.size();
  detail::check_layout(file, header, data_begin, bytes.size() - data_begin);
  return header;
}

}  // namespace headwise::io
