#include <headwise/autograd/strided.hpp>

#include "autograd/laws.hpp"
#include "support/strided_any_mask.hpp"

namespace headwise::strided_test {
namespace {

using check::near;
using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

const auto strided = [](const auto& x) {
  return attend_strided(3, x[0], x[1], x[2],
                        AttendOptions{.heads = 2, .query_rows = RaggedRows::from_lengths({8, 0, 3})},
                        everything())
      .output;
};

TEST(RecordedStrided, HasTheGradientsOfQueryKeyAndValue) {
  laws::expect_gradients(strided, {random(11, 6, 1), random(11, 6, 2), random(11, 4, 3)});
}

TEST(RecordedStrided, IsTheOneBackwardOfTheCall) {
  const auto q = random(20, 8, 1), k = random(20, 4, 2), v = random(20, 3, 3), d = random(20, 6, 4);
  const AttendOptions options{.heads = 2, .kv_heads = 1};
  autograd::Tape<double> tape;
  const auto query = tape.input(q), key = tape.input(k), value = tape.input(v);
  const auto y = attend_strided(4, query, key, value, options, everything()).output;
  EXPECT_EQ(tape.size(), 4u);
  const auto attended = attend_strided(4, q, k, v, options, everything());
  EXPECT_EQ(y.value(), attended.output);
  const auto expected = attend_strided_backward(4, q, k, v, attended, d, options, everything());
  const auto got = backward(y, d);
  EXPECT_EQ(got.of(query), expected.query);
  EXPECT_EQ(got.of(key), expected.key);
  EXPECT_EQ(got.of(value), expected.value);
}

TEST(RecordedStrided, GradientsOfABatchAreTheSumOfThoseOfItsTexts) {
  const auto x = random(11, 6, 1), d = random(11, 6, 2);
  const auto gradient_of = [](const Matrix<double>& rows, const Matrix<double>& d_rows,
                              const AttendOptions& options) {
    autograd::Tape<double> tape;
    const auto input = tape.input(rows);
    return backward(attend_strided(3, input, input, input, options, everything()).output, d_rows).of(input);
  };
  const Matrix<double> batch =
      gradient_of(x, d, {.heads = 2, .query_rows = RaggedRows::from_lengths({8, 3})});
  EXPECT_TRUE(near(batch.topRows(8), gradient_of(x.topRows(8), d.topRows(8), {.heads = 2}), 1e-13));
  EXPECT_TRUE(near(batch.bottomRows(3), gradient_of(x.bottomRows(3), d.bottomRows(3), {.heads = 2}), 1e-13));
}

}  // namespace
}  // namespace headwise::strided_test
