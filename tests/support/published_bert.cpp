#include <headwise/io/bert.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::MaskedLanguageModel<Scalar> load_bert_masked_lm(const std::string& folder) {
  return io::load_bert_masked_lm<Scalar>(folder);
}

template model::MaskedLanguageModel<float> load_bert_masked_lm(const std::string&);
template model::MaskedLanguageModel<double> load_bert_masked_lm(const std::string&);

}  // namespace headwise::published
