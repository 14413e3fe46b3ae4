#pragma once

#include <headwise/core/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headwise::io {

/// "FILE: SUBJECT: TEXT" as a FormatError.
[[noreturn]] inline void fail_format(std::string_view file, std::string_view subject, std::string_view text) {
  std::string message(file);
  if (!subject.empty()) message.append(": ").append(subject);
  throw FormatError(message.append(": ").append(text));
}

/// A name or text out of a file as an error message shows it: quoted, printable, at most 100 bytes of it.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t limit = 100;
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "'";
  for (char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      result += c;
    } else {
      result.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return result.append(text.size() > limit ? "...'" : "'");
}

/// A whole file as read-only bytes, mapped rather than read: a page comes from the disk when it is first
/// touched.
///
/// Throws FormatError when the path cannot be opened, or is no regular file. POSIX. Whoever shortens a mapped
/// file in place makes its readers fail with SIGBUS: files in use are replaced by renaming, as our writer
/// does.
class MappedFile {
 public:
  explicit MappedFile(std::string path) : path_(std::move(path)) {
    // Without O_NONBLOCK, opening a pipe that nobody writes to would wait forever.
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) fail_format(path_, "", std::string("cannot be opened: ") + std::strerror(errno));
    const std::string failure = map(descriptor);
    ::close(descriptor);  // the mapping stays
    if (!failure.empty()) fail_format(path_, "", failure);
  }

  MappedFile(MappedFile&& other) noexcept
      : path_(std::move(other.path_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}

  MappedFile& operator=(MappedFile other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  const std::string& path() const noexcept { return path_; }
  std::span<const std::byte> bytes() const noexcept { return {static_cast<const std::byte*>(data_), size_}; }
  std::string_view text() const noexcept { return {static_cast<const char*>(data_), size_}; }

 private:
  /// What went wrong, or nothing.
  std::string map(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return std::string("cannot be examined: ") + std::strerror(errno);
    if (!S_ISREG(status.st_mode)) return "is no regular file";
    if (!std::in_range<std::size_t>(status.st_size)) return "is larger than the address space";
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return {};  // an empty mapping is an error, an empty file is not
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) return std::string("cannot be mapped: ") + std::strerror(errno);
    data_ = data;
    size_ = size;
    return {};
  }

  std::string path_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace headwise::io
