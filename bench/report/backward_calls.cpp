#include <headwise/attention/attend_backward.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/alibi.hpp>

#include "report/attention_calls.hpp"

namespace headwise::report {

float run_backward(Pattern pattern, const Operands& x, const Attended<float>& attended) {
  const AttendOptions options{.heads = heads};
  const auto probe = [](const AttendGradients<float>& gradients) {
    return gradients.query(0, 0) + gradients.key(0, 0) + gradients.value(0, 0);
  };
  switch (pattern) {
    case Pattern::dense:
      return probe(attend_backward(x.query, x.key, x.value, attended, x.d_output, options));
    case Pattern::causal:
      return probe(attend_backward(x.query, x.key, x.value, attended, x.d_output, options, mask::Causal{}));
    case Pattern::windowed:
      return probe(attend_backward(x.query, x.key, x.value, attended, x.d_output, options,
                                   mask::SlidingWindow{.width = window_width}));
    case Pattern::alibi:
      return probe(attend_backward(x.query, x.key, x.value, attended, x.d_output, options, mask::Causal{},
                                   score::Alibi{heads}));
  }
  return 0;
}

}  // namespace headwise::report
