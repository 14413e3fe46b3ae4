#include <headwise/core/error.hpp>
#include <headwise/core/score_queries.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <vector>

namespace headwise::score_queries_test {
namespace {

constexpr auto add_distance = [](auto s, Position q, Position k) { return s + decltype(s)(k - q); };
const auto by_head = [](double s, Position, Position, Index head, Index sequence) {
  return s + double(10 * head + sequence);
};

Context at(Index head, Index sequence) {
  Context context;
  context.head = head;
  context.sequence = sequence;
  return context;
}

TEST(ScoreQueries, ABareCallableIsBoundToItsHeadAndSequence) {
  EXPECT_EQ(bind_score<double>(add_distance, Context{})(0.5, 7, 3), -3.5);
  EXPECT_EQ(bind_score<double>(by_head, at(2, 3))(0.5, 0, 0), 23.5);
}

TEST(ScoreQueries, ABareCallableHasNoDerivative) {
  static_assert(!has_pull_back<decltype(bind_score<float>(add_distance, Context{})), float>());
}

TEST(ScoreQueries, SmallCallablesAreCopiedAndOthersReferredTo) {
  const float factor = 2;
  const auto small = [factor](float s, Position, Position) { return factor * s; };
  const std::array<double, 100> table{1, 2, 3};
  const auto large = [table](double s, Position, Position k) { return s + table[std::size_t(k)]; };
  const auto owning = [numbers = std::vector<double>{1, 2, 3}](double s, Position, Position k) {
    return s + numbers[std::size_t(k)];
  };
  static_assert(!lends_memory<decltype(small)>());
  static_assert(lends_memory<decltype(large)>());
  static_assert(lends_memory<decltype(owning)>());
  EXPECT_LE(sizeof(bind_score<double>(large, Context{})), 4 * sizeof(void*));
  EXPECT_EQ(bind_score<float>(small, Context{})(1.5f, 0, 0), 3.0f);
  EXPECT_EQ(bind_score<double>(large, Context{})(0.5, 0, 2), 3.5);
  EXPECT_EQ(bind_score<double>(owning, Context{})(0.5, 0, 1), 2.5);
}

/// One learned matrix, added nowhere; its memory is lent to a view.
template <class Table>
struct Sample {
  using policy = ScoreTag;
  Table table;

  struct View {
    const double* first;
    double operator()(double s, Position, Position) const { return s + *first; }
    PullBack<double> pull_back(double, Position, Position, double d) const { return {d, {}}; }
  };
  struct Bound {
    std::vector<double> copy;
    View view() const { return {copy.data()}; }
    double operator()(double s, Position q, Position k) const { return view()(s, q, k); }
    PullBack<double> pull_back(double s, Position q, Position k, double d) const {
      return view().pull_back(s, q, k, d);
    }
  };
  template <class Scalar>
  Bound bind(const Context&) const requires OperandOf<Table, Scalar> {
    return {{double(value_of(table)(0, 0))}};
  }
  void check(const Context& context) const {
    if (context.heads != 1) throw ShapeError("Sample: one head only");
  }
  void for_each_operand(auto&& visit) const { visit(table); }
  auto map_operands(auto&& f) const { return Sample<std::remove_cvref_t<decltype(f(table))>>{f(table)}; }
};

const Sample<Matrix<double>> sample{Matrix<double>::Constant(2, 3, 4.0)};

TEST(ScoreQueries, LanesSeeTheViewOfWhatOwnsMemory) {
  const auto bound = bind_score<double>(sample, Context{});
  static_assert(HasLaneView<decltype(bound)>);
  static_assert(std::is_same_v<decltype(lane_view(bound)), Sample<Matrix<double>>::View>);
  EXPECT_EQ(lane_view(bound)(1.0, 0, 0), 5.0);
  static_assert(has_pull_back<decltype(lane_view(bound)), double>());
}

TEST(ScoreQueries, ARecipeChecksTheCallAndACallableHasNothingToCheck) {
  Context two_heads;
  two_heads.heads = 2;
  EXPECT_NO_THROW(check_score(sample, Context{}));
  EXPECT_THROW(check_score(sample, two_heads), ShapeError);
  EXPECT_NO_THROW(check_score(add_distance, two_heads));
}

TEST(ScoreQueries, OperandsAreVisitedAndMapped) {
  Index cols = 0;
  headwise::for_each_operand(sample, [&](const auto& operand) { cols = operand.cols(); });
  EXPECT_EQ(cols, 3);
  EXPECT_EQ(operand_count(sample), 1u);
  const auto mapped =
      headwise::map_operands(sample, [](const auto& table) { return Parameter<double>{table}; });
  EXPECT_EQ(bind_score<double>(mapped, Context{})(0.0, 0, 0), 4.0);
}

TEST(ScoreQueries, ACallableHasNoOperandsAndIsMappedToItself) {
  EXPECT_EQ(operand_count(add_distance), 0u);
  const auto same = headwise::map_operands(by_head, [](const auto& x) { return x; });
  EXPECT_EQ(bind_score<double>(same, at(1, 0))(0.0, 0, 0), 10.0);
}

TEST(ScoreQueries, OperandsHaveTheScalarOfTheCallOrAWiderOneReadsThem) {
  static_assert(OperandOf<Matrix<float>, float>);
  static_assert(OperandOf<Parameter<double>, double>);
  static_assert(!OperandOf<Matrix<double>, float>);
  static_assert(!OperandOf<Matrix<float>, double>);
  static_assert(OperandOf<Matrix<double>, long double>);
  static_assert(OperandOf<Matrix<double>, std::complex<double>>);
  static_assert(!OperandOf<Matrix<std::complex<double>>, double>);
  static_assert(!OperandOf<std::vector<double>, double>);
  static_assert(!ScorePolicy<decltype(sample), float>);
}

}  // namespace
}  // namespace headwise::score_queries_test
