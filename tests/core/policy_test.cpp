#include <headwise/core/policy.hpp>

#include <gtest/gtest.h>

#include <array>

namespace headwise::policy_test {
namespace {

struct SeesEarlierPositions {
  constexpr bool allows(Index query, Index key) const { return key <= query; }
};

struct SeesEarlierRows {
  static constexpr Coordinates coordinates = Coordinates::rows;
  static constexpr bool reads_query = false;
  static constexpr bool reads_head = true;
  constexpr bool allows(Index query, Index key) const { return key <= query; }
};

struct SeesPlaces {
  constexpr bool allows(Place query, Place key) const { return query.position == key.row; }
};

struct AddsPositions {
  constexpr double operator()(double s, Position query, Position key) const { return s + 100 * query + key; }
  constexpr PullBack<double> pull_back(double, Position query, Position key, double d) const {
    return {d * (query - key), {}};
  }
};

struct AddsRows : AddsPositions {
  static constexpr Coordinates coordinates = Coordinates::rows;
};

struct AddsPlaces {
  static constexpr std::array<Learned, 2> learned = {Learned::number, Learned::per_pair};
  constexpr double operator()(double s, Place query, Place key) const { return s + query.position + key.row; }
  constexpr PullBack<double, 2> pull_back(double s, Place, Place, double d) const { return {d, {s, 2 * d}}; }
};

constexpr Place query{.position = 10, .row = 2}, key{.position = 5, .row = 4};

TEST(Policy, AnswersInTheCoordinatesThatItDeclares) {
  EXPECT_TRUE(allows(SeesEarlierPositions{}, query, key)) << "position 5 comes before 10";
  EXPECT_FALSE(allows(SeesEarlierRows{}, query, key)) << "row 4 comes after row 2";
  EXPECT_FALSE(allows(SeesPlaces{}, query, key));
  EXPECT_TRUE(allows(SeesPlaces{}, Place{4, 0}, key));

  EXPECT_EQ(apply(AddsPositions{}, 0.5, query, key), 1005.5);
  EXPECT_EQ(apply(AddsRows{}, 0.5, query, key), 204.5);
  EXPECT_EQ(apply(AddsPlaces{}, 0.5, query, key), 14.5);
}

TEST(Policy, PullsBackInTheCoordinatesThatItDeclares) {
  EXPECT_EQ(pull_back(AddsPositions{}, 0.0, query, key, 2.0).score, 10);
  EXPECT_EQ(pull_back(AddsRows{}, 0.0, query, key, 2.0).score, -4);
  const auto both = pull_back(AddsPlaces{}, 3.0, query, key, 2.0);
  EXPECT_EQ(both.score, 2);
  EXPECT_EQ(both.learned, (std::array<double, 2>{3, 4}));
}

TEST(Policy, ReadsPositionsAndTheQueryButNoHeadUnlessItSaysOtherwise) {
  static_assert(coordinates_of<SeesEarlierPositions>() == Coordinates::positions);
  static_assert(coordinates_of<SeesEarlierRows>() == Coordinates::rows);
  static_assert(reads_query<SeesEarlierPositions>() && !reads_query<SeesEarlierRows>());
  static_assert(!reads_head<SeesEarlierPositions>() && reads_head<SeesEarlierRows>());
  SUCCEED();
}

TEST(Policy, ListsItsLearnedNumbers) {
  static_assert(learned_of<AddsPositions>().empty());
  static_assert(learned_of<AddsPlaces>().size() == 2);
  static_assert(has_learned<AddsPlaces>(Learned::per_pair));
  static_assert(!has_learned<AddsPlaces>(Learned::sink));
  static_assert(!has_learned<AddsPositions>(Learned::number));
  SUCCEED();
}

struct ReturnsInt {
  int allows(Index, Index) const { return 1; }
};
struct BindsToAHead {
  SeesEarlierPositions bind(const Context&) const { return {}; }
};
struct Recipe {
  using policy = ScoreTag;
  template <class Scalar>
  auto bind(const Context&) const {
    return AddsPositions{};
  }
};
struct OnlyATag {
  using policy = ScoreTag;
};

TEST(MaskPolicy, IsATestABindableOrACallableOfExactlyBool) {
  static_assert(MaskPolicy<SeesEarlierPositions> && MaskPolicy<SeesPlaces> && MaskPolicy<BindsToAHead>);
  constexpr auto pair = [](Index q, Index k) { return k <= q; };
  constexpr auto with_head = [](Index q, Index k, Index head, Index) { return k <= q + head; };
  constexpr auto number = [](Index q, Index k) { return double(q - k); };
  static_assert(MaskPolicy<decltype(pair)> && MaskPolicy<decltype(with_head)>);
  static_assert(!MaskPolicy<decltype(number)>, "a bias is no mask");
  static_assert(!MaskPolicy<ReturnsInt>);
  static_assert(!MaskPolicy<Matrix<float>>);
  static_assert(!MaskPolicy<Recipe>);
  SUCCEED();
}

TEST(ScorePolicy, IsATaggedRecipeThatCanBeBoundOrACallableOfExactlyTheScalar) {
  static_assert(ScoreRecipe<Recipe> && ScorePolicy<Recipe, double>);
  static_assert(ScoreRecipe<OnlyATag> && !ScorePolicy<OnlyATag, double>, "it may hold variables of a tape");
  static_assert(!ScoreRecipe<SeesEarlierPositions>);
  constexpr auto generic = [](auto s, Position, Position) { return s; };
  constexpr auto of_doubles = [](double s, Position, Position) { return s; };
  static_assert(CallableScore<decltype(generic), float> && CallableScore<decltype(generic), double>);
  static_assert(!CallableScore<decltype(of_doubles), float>);
  SUCCEED();
}

}  // namespace
}  // namespace headwise::policy_test
