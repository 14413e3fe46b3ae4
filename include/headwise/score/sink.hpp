#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>

#include <array>
#include <span>
#include <type_traits>
#include <utility>

namespace headwise::score {

/// Attention sink: one logit a head that takes part in the softmax and has no value, so that a query may
/// attend to nothing.
///
///     weight of key j  =  exp(s_j) / (exp(sink[head]) + sum over keys of exp(s))
///
/// logits [heads, 1], a matrix or a parameter; zeros are the "softmax plus one", -inf is no sink. The LSE
/// includes it, also where no key is seen. It is the last of a chain: scores change before it, never the
/// sink. Cost: one exponential a query. Throws ShapeError when there is not one logit for each query head.
/// Paper: Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2023, section 3.3.
template <class Table>
class Sink {
 public:
  using policy = ScoreTag;
  static constexpr bool reads_query = false;
  static constexpr bool has_sink = true;

  explicit Sink(Table logits) : logits_(std::move(logits)) {
    expect_equal("Sink: columns of logits", logits_.cols(), 1, "logits are [heads, 1]");
  }

  template <class Scalar>
  class Bound {
   public:
    static constexpr bool has_sink = true;
    static constexpr bool identity = true;
    static constexpr std::array learned{Learned::sink};

    constexpr Bound(Scalar logit, Index head) noexcept : logit_(logit), head_(head) {}

    constexpr Scalar sink() const noexcept { return logit_; }

    constexpr Scalar operator()(Scalar s, Position, Position) const noexcept { return s; }
    constexpr PullBack<Scalar, 1> pull_back(Scalar, Position, Position, Scalar d) const noexcept {
      return {d, {Scalar(0)}};
    }

    void fold(std::span<const LearnedSum<Scalar>> sums, std::span<Matrix<Scalar>> gradients) const {
      gradients[0](head_, 0) += sums[0].number;
    }

   private:
    Scalar logit_;
    Index head_;
  };

  template <class Scalar>
  Bound<Scalar> bind(const Context& context) const requires OperandOf<Table, Scalar> {
    return {Scalar(value_of(logits_).coeff(context.head, 0)), context.head};
  }

  void check(const Context& context) const {
    expect_equal("Sink: rows of logits", logits_.rows(), context.heads, "one logit for each query head");
  }

  void for_each_operand(auto&& visit) const { visit(logits_); }
  auto map_operands(auto&& f) const {
    using Mapped = std::remove_cvref_t<decltype(f(logits_))>;
    return Sink<Mapped>(f(logits_));
  }

 private:
  Table logits_;
};

}  // namespace headwise::score
