#pragma once

#include <headwise/attention/options.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/kernel/problem.hpp>

#include <cmath>
#include <string>
#include <string_view>

/// The border: options become a Problem, or a ShapeError that says what to change. Nothing below it checks
/// again.
namespace headwise::attention {

/// True when positions of queries matter to the mask or the score.
template <class Scalar, class Mask, class Score>
constexpr bool needs_query_position() {
  if constexpr (!headwise::needs_query_position<Mask>()) {
    using Bound = decltype(bind_score<Scalar>(std::declval<const Score&>(), Context{}));
    return coordinates_of<Bound>() == Coordinates::positions && reads_query<Score>() && reads_query<Bound>();
  } else {
    return true;
  }
}

/// Checks under the name of the verb that was called: "attend_backward: heads is 0, ...". Names are put
/// together for an error only.
struct Border {
  std::string_view verb;

  std::string of(std::string_view what) const { return std::string(verb).append(": ").append(what); }

  void positive(std::string_view what, Index got, std::string_view remedy = {}) const {
    if (got <= 0) expect_positive(of(what), got, remedy);
  }
  void not_negative(std::string_view what, Index got, std::string_view remedy = {}) const {
    if (got < 0) expect_not_negative(of(what), got, remedy);
  }
  void equal(std::string_view what, Index got, Index expected, std::string_view remedy = {}) const {
    if (got != expected) expect_equal(of(what), got, expected, remedy);
  }
  void multiple(std::string_view what, Index got, Index divisor, std::string_view divisor_name,
                std::string_view remedy = {}) const {
    if (divisor <= 0 || got % divisor != 0) expect_multiple(of(what), got, divisor, divisor_name, remedy);
  }
};

namespace detail {

inline Index kv_heads_of(const AttendOptions& o) { return o.kv_heads == 0 ? o.heads : o.kv_heads; }

inline void check_heads(const Border& border, const AttendOptions& o, Index query_cols, Index key_cols,
                        Index value_cols) {
  border.positive("heads", o.heads);
  border.not_negative("kv_heads", o.kv_heads, "0 means as many as heads");
  const Index kv_heads = kv_heads_of(o);
  border.multiple("heads", o.heads, kv_heads, "kv_heads");
  border.positive("query columns", query_cols, "a row holds heads * head_dim numbers");
  border.multiple("query columns", query_cols, o.heads, "heads");
  border.multiple("key columns", key_cols, kv_heads, "kv_heads", "set .kv_heads for grouped keys");
  border.equal("head_dim of key", key_cols / kv_heads, query_cols / o.heads,
               "query and key have heads of one size; set .heads and .kv_heads");
  border.multiple("value columns", value_cols, kv_heads, "kv_heads");
}

inline void check_positions(const Border& border, const AttendOptions& o, Index q_rows, Index k_rows) {
  const bool given = !o.query_positions.empty() || !o.key_positions.empty();
  if (!given) return;
  if (o.query_offset) {
    throw ShapeError(
        border.of("query_offset is given together with query_positions, expected one of them; "
                  "positions say all that an offset does"));
  }
  border.equal("query_positions", Index(o.query_positions.size()), q_rows, "one a query row");
  border.equal("key_positions", Index(o.key_positions.size()), k_rows, "one a key row");
}

inline void check_numbers(const Border& border, const AttendOptions& o) {
  if (o.scale && !std::isfinite(*o.scale))
    fail_shape(border.of("scale"), std::to_string(*o.scale), "a finite number");
  if (!(o.dropout.rate >= 0 && o.dropout.rate < 1))
    fail_shape(border.of("dropout.rate"), std::to_string(o.dropout.rate), "at least 0 and below 1");
  border.not_negative("dropout.layer", o.dropout.layer);
}

inline void check_length(const Border& border, std::string_view what, Index length) {
  constexpr Index longest = std::numeric_limits<Position>::max();
  if (length > longest) fail_shape(border.of(what), std::to_string(length), "at most 2^31 - 1");
}

/// Unequal lengths leave open where the queries stand; a policy that compares positions must be told.
inline void check_offset(const Border& border, const AttendOptions& o, Index sequence, Index q_len,
                         Index k_len, bool needed) {
  check_length(border, "query length", q_len);
  check_length(border, "key length", k_len);
  const Index offset = !o.query_offset ? 0 : *o.query_offset == align_last ? k_len - q_len : *o.query_offset;
  check_length(border, "|query_offset|", std::abs(offset));  // the sum below fits in an Index
  check_length(border, "|query_offset| + query length", std::abs(offset) + q_len);
  if (!needed || q_len == k_len || o.query_offset || !o.query_positions.empty()) return;
  throw ShapeError(
      border.of("sequence ") + std::to_string(sequence) + " has " + std::to_string(q_len) + " queries and " +
      std::to_string(k_len) +
      " keys, expected to be told where the queries stand; set .query_offset (0: first with first; "
      "align_last: last with last, as with a cache), or .query_positions and .key_positions");
}

}  // namespace detail

/// Checks one call and fills in every default. Throws ShapeError that names argument, value, expectation and
/// remedy; `verb` is what the caller wrote. The problem refers to the operands' and options' memory.
template <class Scalar, class Mask, class Score>
kernel::Problem<Scalar> make_problem(kernel::Operand<const Scalar> query, kernel::Operand<const Scalar> key,
                                     kernel::Operand<const Scalar> value, const AttendOptions& options,
                                     const Mask& mask, const Score& score, std::string_view verb = "attend") {
  const Border border{verb};
  detail::check_heads(border, options, query.cols, key.cols, value.cols);
  detail::check_numbers(border, options);
  border.equal("value rows", value.rows, key.rows, "one value a key");
  detail::check_positions(border, options, query.rows, key.rows);

  kernel::Problem<Scalar> p;
  p.query = query;
  p.key = key;
  p.value = value;
  p.heads = options.heads;
  p.kv_heads = detail::kv_heads_of(options);
  p.head_dim = query.cols / p.heads;
  p.value_dim = value.cols / p.kv_heads;
  p.query_rows = options.query_rows.over(query.rows, border.of("query"));
  const bool same = options.key_rows.whole() && !options.query_rows.whole();
  p.key_rows = (same ? options.query_rows : options.key_rows).over(key.rows, border.of("key"));
  border.equal("sequences in key_rows", p.key_rows.sequences(), p.query_rows.sequences(),
               "every sequence of queries has its keys, if only none");
  p.scale = options.scale ? Scalar(*options.scale)
                          : Scalar(1) / Scalar(std::sqrt(math::real_of<Scalar>(p.head_dim)));
  p.align_last = options.query_offset == align_last;
  p.query_offset = options.query_offset;
  p.query_positions = options.query_positions;
  p.key_positions = options.key_positions;
  p.dropout = options.dropout;
  p.executor = options.executor;
  p.instruction_set = choose_instruction_set(options.instruction_set);
  for (Index s = 0; s < p.sequences(); ++s) {
    detail::check_offset(border, options, s, p.query_rows[s].size(), p.key_rows[s].size(),
                         needs_query_position<Scalar, Mask, Score>());
    const Context context = p.context(s, 0);
    check_mask(mask, context);
    check_score(score, context);
  }
  return p;
}

/// Checks that plans fit the problem, and lets it use them.
template <class Scalar>
void use_plans(kernel::Problem<Scalar>& problem, const Plans& plans) {
  if (plans.heads != 1)
    expect_equal("Plans: heads", plans.heads, problem.heads, "1 shares a plan between heads");
  if (plans.sequences != 1)
    expect_equal("Plans: sequences", plans.sequences, problem.sequences(),
                 "1 shares a plan between sequences");
  expect_equal("Plans: plans", Index(plans.plans.size()), plans.heads * plans.sequences,
               "heads * sequences of them");
  for (Index s = 0; s < problem.sequences(); ++s)
    for (Index h = 0; h < plans.heads; ++h)
      kernel::check_plan(plans.at(s, h), problem.query_rows[s].size(), problem.key_rows[s].size());
  problem.plans = &plans;
}

}  // namespace headwise::attention
