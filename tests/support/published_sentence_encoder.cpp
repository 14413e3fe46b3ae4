#include <headwise/io/sentence_encoder.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::SentenceEncoder<io::WordPiece, Scalar> load_sentence_encoder(const std::string& folder) {
  return io::load_sentence_encoder<Scalar>(folder);
}

template model::SentenceEncoder<io::WordPiece, float> load_sentence_encoder(const std::string&);
template model::SentenceEncoder<io::WordPiece, double> load_sentence_encoder(const std::string&);

}  // namespace headwise::published
