#pragma once

#include <headwise/core/product.hpp>
#include <headwise/loss/cross_entropy.hpp>

#include <cstddef>
#include <vector>

namespace headwise::loss {

/// InfoNCE of scores: each context is to pick its own candidate among all.
///
///     -mean_i (f_ii - log sum_j exp f_ij)        mutual information >= log(candidates) - loss
///
/// scores [n, candidates], f_ij of context i and candidate j; the first n candidates are the right ones, more
/// are only negatives. A matrix -> the number; a variable -> a variable [1, 1].
/// Throws ShapeError when there are fewer candidates than contexts.
/// Paper: van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018,
/// equation 4.
template <Sequence Scores>
auto info_nce(const Scores& scores) {
  if (scores.cols() < scores.rows()) {
    fail_shape("info_nce: columns of scores", std::to_string(scores.cols()),
               "at least " + std::to_string(scores.rows()), "one candidate for each context");
  }
  std::vector<TokenId> own(static_cast<std::size_t>(scores.rows()));
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = TokenId(i);
  return cross_entropy(scores, own);
}

/// The same of contexts and candidates, f_ij = z_j^T W c_i.
///   context [n, c], candidate [candidates, z], weight [z, c]; of any of the three a variable
template <Sequence Context, Sequence Candidate, class Weight>
auto info_nce(const Context& context, const Candidate& candidate, const Weight& weight) {
  return info_nce(multiply_transposed(multiply_transposed(context, weight), candidate));
}

}  // namespace headwise::loss
