#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utf8proc.h>
#include <vector>

namespace headwise::io {

struct BertTextOptions {
  bool lower_case = true;               ///< do_lower_case of the published configuration
  std::optional<bool> strip_accents{};  ///< as lower_case when not given
};

namespace detail {

using CodePoint = utf8proc_int32_t;

struct CodePoints {
  CodePoint first, last;
};

/// What newer editions of Unicode call marks, punctuation, controls or composed, and the edition that the
/// tokenizer was defined with does not. The gaps between are filled with what both agree on, so that the same
/// text gives the same tokens with any edition that utf8proc brings (checked against every code point of
/// Unicode 18).
inline constexpr std::array<CodePoints, 44> newer_code_points{{
    {0x5C8, 0x5C9},     {0x61D, 0x61D},     {0x7FD, 0x7FD},     {0x890, 0x8E2},     {0x9FD, 0x9FE},
    {0xA76, 0xA76},     {0xAFA, 0xAFF},     {0xB53, 0xB55},     {0xC04, 0xC3C},     {0xC77, 0xC77},
    {0xC84, 0xC84},     {0xD00, 0xD00},     {0xD3B, 0xD3C},     {0xD81, 0xD81},     {0xEBA, 0xEBA},
    {0xECE, 0xECE},     {0x180F, 0x1886},   {0x1ABF, 0x1AF0},   {0x1B4E, 0x1B4F},   {0x1B7D, 0x1B7F},
    {0x1DF6, 0x1DFB},   {0x2E43, 0x2E63},   {0xA82C, 0xA82C},   {0xA8C5, 0xA8C5},   {0xA8FF, 0xA8FF},
    {0xA9BD, 0xA9BD},   {0x105C9, 0x105E4}, {0x10D24, 0x10F89}, {0x11070, 0x11074}, {0x110C2, 0x110CD},
    {0x111CF, 0x111CF}, {0x1123E, 0x11241}, {0x1133B, 0x1133B}, {0x11383, 0x1145E}, {0x11660, 0x1166C},
    {0x116B9, 0x116B9}, {0x1182F, 0x11FFF}, {0x12FF1, 0x1612F}, {0x16D68, 0x16F4F}, {0x16FE2, 0x16FE4},
    {0x1CF00, 0x1D128}, {0x1D25B, 0x1D25C}, {0x1E000, 0x1E6F5}, {0x1E944, 0x1E95F},
}};

/// The ideographs, by block; each becomes a word of its own. Kana and Hangul do not.
inline constexpr std::array<CodePoints, 7> ideographs{{
    {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},
    {0xF900, 0xFAFF},
    {0x20000, 0x2A6DF},
    {0x2A700, 0x2B81F},
    {0x2B920, 0x2CEAF},
    {0x2F800, 0x2FA1F},
}};

template <std::size_t N>
constexpr bool contains(const std::array<CodePoints, N>& ranges, CodePoint c) noexcept {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](CodePoint point, const CodePoints& range) { return point < range.first; });
  return after != ranges.begin() && c <= (after - 1)->last;
}

/// Spaces, and the three controls that count as such.
inline bool is_space(CodePoint c) noexcept {
  if (c < 0x80) return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  const utf8proc_category_t category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

/// Controls, invisible formats and private use; unassigned code points are kept.
inline bool is_control(CodePoint c) noexcept {
  const utf8proc_category_t category = utf8proc_category(c);
  return (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
          category == UTF8PROC_CATEGORY_CO) &&
         !contains(newer_code_points, c);
}

/// Marks that take no room of their own. Two have since been reclassified, one was punctuation before.
inline bool is_mark(CodePoint c) noexcept {
  if (c == 0x1734 || c == 0x1171E) return true;
  return utf8proc_category(c) == UTF8PROC_CATEGORY_MN && c != 0x111C9 && !contains(newer_code_points, c);
}

/// Unicode's punctuation and, in ASCII, all that is neither letter, digit, space nor control: '$', '+', '~',
/// too.
inline bool is_punctuation(CodePoint c) noexcept {
  if (c < 0x80)
    return (33 <= c && c <= 47) || (58 <= c && c <= 64) || (91 <= c && c <= 96) || (123 <= c && c <= 126);
  if (c == 0x166D || c == 0x111C9) return true;
  const utf8proc_category_t category = utf8proc_category(c);
  return UTF8PROC_CATEGORY_PC <= category && category <= UTF8PROC_CATEGORY_PO &&
         !contains(newer_code_points, c);
}

/// Every byte that is not part of valid UTF-8 reads as U+FFFD.
inline std::vector<CodePoint> decode_utf8(std::string_view text) {
  std::vector<CodePoint> points;
  points.reserve(text.size());
  const auto* at = static_cast<const utf8proc_uint8_t*>(static_cast<const void*>(text.data()));
  const utf8proc_uint8_t* const end = at + text.size();
  while (at != end) {
    CodePoint point = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(at, end - at, &point);
    points.push_back(length > 0 ? point : 0xFFFD);
    at += length > 0 ? length : 1;
  }
  return points;
}

inline void append_utf8(std::string& text, CodePoint point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(point, bytes.data());
  for (utf8proc_ssize_t i = 0; i < length; ++i) text += static_cast<char>(bytes[std::size_t(i)]);
}

/// Without controls and replacement characters, every space ' ', ideographs between spaces.
inline std::vector<CodePoint> clean(const std::vector<CodePoint>& text) {
  std::vector<CodePoint> result;
  result.reserve(text.size());
  for (CodePoint c : text) {
    if (is_space(c)) {
      result.push_back(' ');
    } else if (contains(ideographs, c)) {
      result.insert(result.end(), {' ', c, ' '});
    } else if (c != 0 && c != 0xFFFD && !is_control(c)) {
      result.push_back(c);
    }
  }
  return result;
}

/// Canonically decomposed (NFD), without the marks.
inline std::vector<CodePoint> without_accents(const std::vector<CodePoint>& text) {
  std::vector<CodePoint> result;
  result.reserve(text.size());
  for (CodePoint c : text) {
    std::array<CodePoint, 8> parts{c};  // four at most
    utf8proc_ssize_t count = 1;
    if (c >= 0x80 && !contains(newer_code_points, c)) {
      int boundary = 0;
      count = utf8proc_decompose_char(c, parts.data(), utf8proc_ssize_t(parts.size()), UTF8PROC_DECOMPOSE,
                                      &boundary);
    }
    result.insert(result.end(), parts.begin(), parts.begin() + count);
  }
  // The marks after a letter have an order of their own, by combining class; equal ones stay as written.
  const auto order = [](CodePoint c) {
    return c < 0x80 || contains(newer_code_points, c) ? 0 : int(utf8proc_get_property(c)->combining_class);
  };
  for (auto at = result.begin(); at != result.end();) {
    const auto marks_end = std::find_if(at, result.end(), [&](CodePoint c) { return order(c) == 0; });
    std::stable_sort(at, marks_end, [&](CodePoint a, CodePoint b) { return order(a) < order(b); });
    at = marks_end == result.end() ? marks_end : marks_end + 1;
  }
  std::erase_if(result, is_mark);
  return result;
}

/// Letter by letter; only the Turkish capital I with a dot becomes two.
inline std::vector<CodePoint> lower_case(const std::vector<CodePoint>& text) {
  std::vector<CodePoint> result;
  result.reserve(text.size());
  for (CodePoint c : text) {
    if (c == 0x130) {
      result.insert(result.end(), {'i', 0x307});
    } else {
      result.push_back(utf8proc_tolower(c));
    }
  }
  return result;
}

}  // namespace detail

/// The words of a text, as BERT's WordPiece sees them, in UTF-8: cleaned, lower-cased, without accents, split
/// at spaces and around every punctuation mark and ideograph. "Zoë's café" gives zoe ' s cafe.
///
/// Invalid UTF-8 is dropped byte by byte. Cost: O(length).
/// Paper: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019; the rules are those
/// of its code.
inline std::vector<std::string> bert_words(std::string_view text, const BertTextOptions& options = {}) {
  std::vector<detail::CodePoint> points = detail::clean(detail::decode_utf8(text));
  if (options.strip_accents.value_or(options.lower_case)) points = detail::without_accents(points);
  if (options.lower_case) points = detail::lower_case(points);

  std::vector<std::string> words;
  bool inside = false;
  for (detail::CodePoint c : points) {
    const bool alone = detail::is_punctuation(c);
    if (c == ' ') {
      inside = false;
      continue;
    }
    if (alone || !inside) words.emplace_back();
    detail::append_utf8(words.back(), c);
    inside = !alone;
  }
  return words;
}

}  // namespace headwise::io
