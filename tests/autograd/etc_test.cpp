#include <headwise/autograd/etc.hpp>
#include <headwise/autograd/rows.hpp>

#include "autograd/laws.hpp"
#include "support/etc_any_mask.hpp"

#include <algorithm>

namespace headwise::etc_test {
namespace {

using check::near;
using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}
/// A hard mask of the long input.
check::AnyMask even_keys() {
  return [](Index, Index k) { return k % 2 == 0; };
}

/// Two texts of 6 and 4 long tokens, with 2 and 1 global ones.
EtcOptions options() {
  EtcOptions o{.global_rows = RaggedRows::from_lengths({2, 1}), .radius = 1};
  o.attend.heads = 2;
  o.attend.query_rows = RaggedRows::from_lengths({6, 4});
  return o;
}

/// long query, key, value, global query, key, value; both sides share their keys.
laws::Inputs inputs() {
  return {random(10, 6, 1), random(10, 6, 2), random(10, 4, 3),
          random(3, 6, 4),  random(3, 6, 5),  random(3, 4, 6)};
}

const auto both = [](const auto& x) {
  const auto pieces = etc_pieces(etc_piece(x[1], x[2], even_keys()), etc_piece(x[4], x[5], everything()),
                                 etc_piece(x[4], x[5], everything()), etc_piece(x[1], x[2], everything()));
  return attend_etc(x[0], x[3], pieces, options());
};

TEST(RecordedEtc, HasTheGradientsOfBothSides) {
  laws::expect_gradients(
      [](const auto& x) {
        const auto [from_long, from_global] = both(x);
        return concatenate_rows(from_long.output, from_global.output);
      },
      inputs());
}

TEST(RecordedEtc, IsOneNodeForEachInput) {
  autograd::Tape<double> tape;
  std::vector<autograd::Var<double>> x;
  for (const auto& each : inputs()) x.push_back(tape.input(each));
  const auto [from_long, from_global] = both(x);
  EXPECT_EQ(tape.size(), 8u);
  // A loss of one side alone reaches nothing that the other side looks with.
  const auto gradients = backward(from_long.output, random(10, 4, 7));
  EXPECT_TRUE(gradients.of(x[3]).isZero(0));
  EXPECT_FALSE(gradients.of(x[4]).isZero(0));
}

TEST(RecordedEtc, GradientsOfABatchAreTheSumOfThoseOfItsTexts) {
  const auto gradients_of = [](const laws::Inputs& numbers, const Matrix<double>& d, const EtcOptions& o) {
    autograd::Tape<double> tape;
    const auto l = tape.input(numbers[0]), g = tape.input(numbers[3]);
    const auto pieces = etc_pieces(etc_piece(l, l, everything()), etc_piece(g, g, everything()),
                                   etc_piece(g, g, everything()), etc_piece(l, l, everything()));
    const auto [from_long, from_global] = attend_etc(l, g, pieces, o);
    const auto gradients = backward(concatenate_rows(from_long.output, from_global.output), d);
    return laws::Inputs{gradients.of(l), gradients.of(g)};
  };
  const laws::Inputs x = inputs();
  const auto d = random(13, 6, 8);
  const laws::Inputs batch = gradients_of(x, d, options());
  EtcOptions single{.radius = 1};
  single.attend.heads = 2;
  for (const bool first : {true, false}) {
    const Range l = first ? Range{0, 6} : Range{6, 10}, g = first ? Range{0, 2} : Range{2, 3};
    laws::Inputs text = x;
    text[0] = x[0].middleRows(l.begin, l.size());
    text[3] = x[3].middleRows(g.begin, g.size());
    Matrix<double> d_text(l.size() + g.size(), 6);
    d_text << d.middleRows(l.begin, l.size()), d.middleRows(10 + g.begin, g.size());
    const laws::Inputs alone = gradients_of(text, d_text, single);
    EXPECT_TRUE(near(Matrix<double>(batch[0].middleRows(l.begin, l.size())), alone[0], 1e-13));
    EXPECT_TRUE(near(Matrix<double>(batch[1].middleRows(g.begin, g.size())), alone[1], 1e-13));
  }
}

}  // namespace
}  // namespace headwise::etc_test
