#include "report/work.hpp"

#include <headwise/core/error.hpp>

namespace headwise::report {

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::dense:
      return "dense";
    case Pattern::causal:
      return "causal";
    case Pattern::windowed:
      return "windowed";
    case Pattern::alibi:
      return "ALiBi";
  }
  return "";
}

std::string_view meaning_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::dense:
      return "every token sees every token";
    case Pattern::causal:
      return "a token sees itself and all before it";
    case Pattern::windowed:
      static_assert(window_width == 256, "the text names the width");
      return "a token sees itself and the 255 before it";
    case Pattern::alibi:
      return "causal, with a penalty that grows with distance";
  }
  return "";
}

Index pairs(Pattern pattern, Index seq_len) {
  expect_not_negative("pairs: seq_len", seq_len);
  const Index triangle = seq_len * (seq_len + 1) / 2;
  switch (pattern) {
    case Pattern::dense:
      return seq_len * seq_len;
    case Pattern::causal:
    case Pattern::alibi:
      return triangle;
    case Pattern::windowed:
      if (seq_len <= window_width) return triangle;
      return window_width * (window_width + 1) / 2 + (seq_len - window_width) * window_width;
  }
  return 0;
}

double forward_flops(Pattern pattern, Index seq_len, Index head_count) {
  return 4.0 * double(head_dim) * double(head_count) * double(pairs(pattern, seq_len));
}

double backward_flops(Pattern pattern, Index seq_len, Index head_count) {
  return 10.0 * double(head_dim) * double(head_count) * double(pairs(pattern, seq_len));
}

}  // namespace headwise::report
