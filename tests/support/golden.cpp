#include "support/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

static_assert(std::endian::native == std::endian::little,
              "safetensors are little-endian; nothing is swapped here");

namespace headwise::golden {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path source_dir() {
#ifdef HEADWISE_SOURCE_DIR
  return HEADWISE_SOURCE_DIR;
#else
  return fs::current_path();
#endif
}

std::string read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot open " + file.string());
  std::string bytes(std::size_t(fs::file_size(file)), '\0');
  stream.read(bytes.data(), std::streamsize(bytes.size()));
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return bytes;
}

/// From a pair of pointers: json.hpp itself instantiates that form, so its parser is compiled once.
json parsed(std::string_view text) { return json::parse(text.data(), text.data() + text.size()); }

template <class T>
std::vector<double> widened(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = double(value);
  }
  return values;
}

std::vector<double> decoded(const std::string& dtype, std::string_view bytes, const std::string& where) {
  if (dtype == "F64") return widened<double>(bytes);
  if (dtype == "F32") return widened<float>(bytes);
  if (dtype == "I64") return widened<std::int64_t>(bytes);
  if (dtype == "U8") return widened<std::uint8_t>(bytes);
  throw std::runtime_error(where + " has type " + dtype + ", expected F64, F32, I64 or U8");
}

Index product(const std::vector<Index>& shape) {
  Index size = 1;
  for (Index each : shape) size *= each;
  return size;
}

std::string to_text(const std::vector<Index>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

void expect_rank(const Tensor& tensor, Index rank) {
  if (tensor.rank() != rank) {
    throw std::runtime_error("tensor of shape " + to_text(tensor.shape()) + ", expected rank " +
                             std::to_string(rank));
  }
}

const json& manifest(const fs::path& folder) {
  static std::map<fs::path, json> read;
  const auto found = read.find(folder);
  if (found != read.end()) return found->second;
  return read.emplace(folder, parsed(read_bytes(folder / "manifest.json"))).first->second;
}

/// GTEST_SKIP returns from the function it stands in; here that is a function of its own.
void report_skip(const std::string& why) { GTEST_SKIP() << why; }

}  // namespace

Tensor::Tensor(std::vector<Index> shape, std::vector<double> values)
    : shape_(std::move(shape)), values_(std::move(values)) {
  if (product(shape_) != Index(values_.size())) {
    throw std::runtime_error("tensor of shape " + to_text(shape_) + " given " +
                             std::to_string(values_.size()) + " values");
  }
}

Index Tensor::dim(Index axis) const { return shape_.at(std::size_t(axis < 0 ? axis + rank() : axis)); }

double Tensor::at_index(std::initializer_list<Index> index) const {
  if (Index(index.size()) != rank()) throw std::out_of_range("Tensor::at: one index an axis");
  Index offset = 0, axis = 0;
  for (Index i : index) {
    if (i < 0 || i >= dim(axis)) throw std::out_of_range("Tensor::at: index outside " + to_text(shape_));
    offset = offset * dim(axis++) + i;
  }
  return values_[std::size_t(offset)];
}

double Tensor::broadcast(Index batch, Index head, Index query, Index key) const {
  const Index wanted[4] = {batch, head, query, key};
  if (rank() > 4) throw std::out_of_range("Tensor::broadcast: rank above 4");
  Index offset = 0;
  for (Index axis = 0; axis < rank(); ++axis) {
    const Index i = wanted[4 - rank() + axis], n = dim(axis);
    if (n != 1 && (i < 0 || i >= n))
      throw std::out_of_range("Tensor::broadcast: index outside " + to_text(shape_));
    offset = offset * n + (n == 1 ? 0 : i);
  }
  return values_.at(std::size_t(offset));
}

Matrix<double> as_rows(const Tensor& tensor) {
  const Index cols = tensor.rank() == 0 ? 1 : tensor.dim(-1);
  const Index rows = cols == 0 ? 0 : tensor.size() / cols;
  Matrix<double> result(rows, cols);
  std::copy(tensor.values().begin(), tensor.values().end(), result.data());
  return result;
}

Matrix<double> as_heads(const Tensor& tensor) {
  expect_rank(tensor, 4);
  const Index batch = tensor.dim(0), heads = tensor.dim(1), length = tensor.dim(2), dim = tensor.dim(3);
  Matrix<double> result(batch * length, heads * dim);
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < length; ++i)
        for (Index c = 0; c < dim; ++c) result(b * length + i, h * dim + c) = tensor.at(b, h, i, c);
  return result;
}

Matrix<double> as_lse(const Tensor& tensor) {
  expect_rank(tensor, 3);
  const Index batch = tensor.dim(0), heads = tensor.dim(1), length = tensor.dim(2);
  Matrix<double> result(batch * length, heads);
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < length; ++i) result(b * length + i, h) = tensor.at(b, h, i);
  return result;
}

Tensor from_heads(const Matrix<double>& packed, Index batch, Index heads) {
  const Index length = batch == 0 ? 0 : packed.rows() / batch, dim = heads == 0 ? 0 : packed.cols() / heads;
  std::vector<double> values;
  values.reserve(std::size_t(packed.size()));
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < length; ++i)
        for (Index c = 0; c < dim; ++c) values.push_back(packed(b * length + i, h * dim + c));
  return {{batch, heads, length, dim}, std::move(values)};
}

std::map<std::string, Tensor> read_safetensors(const fs::path& file) {
  const std::string bytes = read_bytes(file);
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) throw std::runtime_error(file.string() + " is shorter than 8 bytes");
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (header_size > bytes.size() - sizeof header_size) {
    throw std::runtime_error(file.string() + ": the header ends after the file");
  }
  const auto header = parsed(std::string_view(bytes).substr(sizeof header_size, header_size));
  const std::string_view data = std::string_view(bytes).substr(sizeof header_size + header_size);

  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::string where = file.string() + ": " + name;
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
    if (begin > end || end > data.size()) throw std::runtime_error(where + " lies outside the file");
    auto values = decoded(entry.at("dtype").get<std::string>(), data.substr(begin, end - begin), where);
    tensors.emplace(name, Tensor(entry.at("shape").get<std::vector<Index>>(), std::move(values)));
  }
  return tensors;
}

Case::Case(fs::path folder, const json& entry)
    : folder_(std::move(folder)),
      entry_(std::make_shared<const json>(entry)),
      name_(entry.at("name").get<std::string>()),
      kind_(entry.at("kind").get<std::string>()),
      tolerance_{entry.at("tolerance").at("abs").get<double>(),
                 entry.at("tolerance").at("rel").get<double>()},
      tensors_(read_safetensors(folder_ / entry.at("file").get<std::string>())) {}

const json& Case::config() const {
  static const json none = json::object();
  return entry_->contains("config") ? entry_->at("config") : none;
}

bool Case::has_setting(const std::string& key) const {
  return config().contains(key) && !config().at(key).is_null();
}
Index Case::integer(const std::string& key) const { return config().at(key).get<Index>(); }
double Case::number(const std::string& key) const { return config().at(key).get<double>(); }
bool Case::flag(const std::string& key) const { return config().at(key).get<bool>(); }
std::string Case::text(const std::string& key) const { return config().at(key).get<std::string>(); }
double Case::number_or(const std::string& key, double otherwise) const {
  return has_setting(key) ? number(key) : otherwise;
}
std::string Case::text_or(const std::string& key, const std::string& otherwise) const {
  return has_setting(key) ? text(key) : otherwise;
}

std::string Case::settings_besides(const std::vector<std::string_view>& known) const {
  std::string others;
  for (const auto& [key, value] : config().items()) {
    if (value.is_null() || std::find(known.begin(), known.end(), key) != known.end()) continue;
    others += (others.empty() ? "" : ", ") + key;
  }
  return others;
}

const Tensor& Case::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw std::out_of_range("golden case " + name_ + " has no tensor " + name);
  return found->second;
}

std::vector<std::string> Case::tensor_names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

std::string Case::dtype(const std::string& tensor) const {
  return entry_->at("tensors").at(tensor).at("dtype").get<std::string>();
}

std::vector<Index> Case::integers(const std::string& name) const {
  std::vector<Index> result;
  for (double value : tensor(name).values()) result.push_back(Index(value));
  return result;
}

bool Case::is_model() const { return entry_->contains("weights_file"); }
fs::path Case::weights_file() const { return folder_ / entry_->at("weights_file").get<std::string>(); }
fs::path Case::config_file() const { return folder_ / entry_->at("config_file").get<std::string>(); }

fs::path small_copy() { return source_dir() / "tests" / "data" / "golden"; }

fs::path folder() {
  const char* named = std::getenv("HEADWISE_GOLDEN_DIR");
  if (named != nullptr && *named != '\0') return named;
  return source_dir() / ".." / "shared" / "golden";
}

std::vector<Case> cases_in(const fs::path& folder, const std::string& kind) {
  std::vector<Case> result;
  for (const json& entry : manifest(folder).at("cases"))
    if (entry.at("kind").get<std::string>() == kind) result.emplace_back(folder, entry);
  return result;
}

std::vector<std::string> kinds_in(const fs::path& folder) {
  std::set<std::string> kinds;
  for (const json& entry : manifest(folder).at("cases")) kinds.insert(entry.at("kind").get<std::string>());
  return {kinds.begin(), kinds.end()};
}

std::vector<Case> cases(const std::string& kind) {
  std::vector<Case> result = cases_in(small_copy(), kind);
  const std::string only = "; only the small copy's " + std::to_string(result.size()) + " cases of kind " +
                           kind + " are checked; name a folder in HEADWISE_GOLDEN_DIR";
  if (!fs::exists(folder() / "manifest.json")) {
    report_skip("no golden files: " + (folder() / "manifest.json").string() + " is missing" + only);
    return result;
  }
  std::vector<Case> more = cases_in(folder(), kind);
  if (more.empty()) report_skip("no golden case of kind " + kind + " in " + folder().string() + only);
  result.insert(result.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return result;
}

void skip(const Case& which, const std::string& why) {
  report_skip("golden case " + which.name() + " (" + which.kind() + ") is not checked: " + why);
}

testing::AssertionResult match(const Tensor& got, const Tensor& expected, Tolerance tolerance) {
  if (got.shape() != expected.shape()) {
    return testing::AssertionFailure()
           << "shape " << to_text(got.shape()) << ", expected " << to_text(expected.shape());
  }
  Index worst = -1, wrong = 0;
  double largest = 0;
  for (Index i = 0; i < got.size(); ++i) {
    const double x = got.values()[std::size_t(i)], e = expected.values()[std::size_t(i)];
    if (x == e) continue;  // infinities of one sign, too
    double excess = std::abs(x - e) - (tolerance.abs + tolerance.rel * std::abs(e));
    if (excess <= 0 && !std::isinf(e)) continue;
    if (!std::isfinite(excess)) excess = std::numeric_limits<double>::infinity();
    ++wrong;
    if (worst >= 0 && excess <= largest) continue;
    largest = excess;
    worst = i;
  }
  if (worst < 0) return testing::AssertionSuccess();

  std::vector<Index> place(got.shape().size());
  Index rest = worst;
  for (std::size_t axis = place.size(); axis-- > 0;) {
    place[axis] = rest % got.shape()[axis];
    rest /= got.shape()[axis];
  }
  const double e = expected.values()[std::size_t(worst)];
  return testing::AssertionFailure() << wrong << " of " << got.size() << " values differ, most at "
                                     << to_text(place) << ": " << got.values()[std::size_t(worst)]
                                     << ", expected " << e << ", tolerance "
                                     << tolerance.abs + tolerance.rel * std::abs(e);
}

testing::AssertionResult match(const Matrix<double>& got, const Matrix<double>& expected,
                               Tolerance tolerance) {
  const auto tensor = [](const Matrix<double>& m) {
    return Tensor({m.rows(), m.cols()}, std::vector<double>(m.data(), m.data() + m.size()));
  };
  return match(tensor(got), tensor(expected), tolerance);
}

}  // namespace headwise::golden
