// expect: satisfaction of 'SinkComesLast<|does not satisfy 'SinkComesLast'
// A sink is the end of a chain: a score after it would have to change a logit that belongs to no pair.
#include <headwise/score/chain.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>

int main() {
  const headwise::Matrix<float> logits = headwise::Matrix<float>::Zero(1, 1);
  const headwise::score::Sink sink(logits);
  const headwise::score::SoftCap cap{.limit = 30};
#ifdef HEADWISE_CONTROL
  (void)(cap >> sink);
#else
  (void)(sink >> cap);
#endif
}
