#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/key_lengths.hpp>
#include <headwise/mask/key_padding.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/mask/picture.hpp>
#include <headwise/mask/prefix.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/where.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

#include <variant>

namespace headwise::mask {
namespace {

/// One type for many masks with runs, so that all pairs of them are combined by five instantiations.
struct AnyMask {
  std::variant<None, Causal, SlidingWindow, Band, Prefix> mask;

  bool allows(Index query, Index key) const {
    return std::visit([&](const auto& m) { return m.allows(query, key); }, mask);
  }
  Coverage coverage(Tile tile) const {
    return std::visit([&](const auto& m) { return m.coverage(tile); }, mask);
  }
  Runs<1> runs(Index query) const {
    return std::visit([&](const auto& m) { return m.runs(query); }, mask);
  }
};

std::vector<AnyMask> all_masks() {
  return {{None{}},
          {Causal{}},
          {SlidingWindow{.width = 0}},
          {SlidingWindow{.width = 5}},
          {SlidingWindow{.width = 64}},
          {Band{.left = 2, .right = 3}},
          {Band{.left = 0, .right = 64}},
          {Prefix{}},
          {Prefix{.length = 11}},
          {Prefix{.length = 65}}};
}

constexpr Tile all_short_lengths{{-3, 70}, {-3, 70}};

/// Pairs, runs and tiles of a combination against the truth table of its operands.
void expect_algebra(const auto& combined, const AnyMask& a, const AnyMask& b, bool (*truth)(bool, bool)) {
  const laws::Asked asked = laws::ask(bind_mask(combined, {}));
  ASSERT_TRUE(asked.runs);
  laws::Asked expected;
  expected.allows = [&](Place query, Place key) {
    return truth(a.allows(query.position, key.position), b.allows(query.position, key.position));
  };
  for (Index offset : {0, 7}) {
    laws::expect_equal_answers(asked, expected, all_short_lengths, 0);
    laws::expect_runs_are_exact(asked, all_short_lengths, offset);
    laws::expect_coverage_holds(asked, all_short_lengths, offset, false);
  }
}

TEST(Algebra, AllOperatorsAreExactOnAllPairsOfMasks) {
  for (const AnyMask& a : all_masks()) {
    expect_algebra(!a, a, a, [](bool x, bool) { return !x; });
    for (const AnyMask& b : all_masks()) {
      expect_algebra(a && b, a, b, [](bool x, bool y) { return x && y; });
      expect_algebra(a || b, a, b, [](bool x, bool y) { return x || y; });
      expect_algebra(a - b, a, b, [](bool x, bool y) { return x && !y; });
      expect_algebra(a ^ b, a, b, [](bool x, bool y) { return x != y; });
    }
  }
}

/// Operands in both coordinates, one without runs, one per sequence: what users write.
struct Mixed {
  static auto masks() {
    const auto odd = where([](Index, Index key) { return key % 2 != 0; });
    return std::array{((Causal{} - SlidingWindow{.width = 9}) || odd) ^ KeyLengths{.lengths = {5, 65}}};
  }
  static std::vector<Context> contexts() {
    std::vector<Context> each(2);
    each[1].sequence = 1;
    each[0].sequences = each[1].sequences = 2;
    each[0].query_rows = each[0].key_rows = {0, 70};
    each[1].query_rows = each[1].key_rows = {70, 140};
    return each;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Mixed, MaskLaws, Mixed);

struct Nested {
  static auto masks() {
    return std::array{((Causal{} - SlidingWindow{.width = 9}) || Prefix{.length = 3}) ^
                      !(Band{.left = 1, .right = 20} && KeyLengths{.lengths = {65, 66}})};
  }
  static std::vector<Context> contexts() { return Mixed::contexts(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Nested, MaskLaws, Nested);

TEST(Algebra, CombinesMasksAsSets) {
  namespace hw = headwise;
  // [docs mask/algebra]
  const hw::mask::SlidingWindow window{.width = 2};
  const hw::mask::Prefix first{.length = 1};
  const std::string both = hw::mask::to_string(hw::mask::Causal{} && (window || first), 4, 4);
  // "#...\n"
  // "##..\n"
  // "###.\n"
  // "#.##\n"
  const std::string far = hw::mask::to_string(hw::mask::Causal{} - window, 4, 4);
  // "....\n"
  // "....\n"
  // "#...\n"
  // "##..\n"
  // [docs end]
  EXPECT_EQ(both, "#...\n##..\n###.\n#.##\n");
  EXPECT_EQ(far, "....\n....\n#...\n##..\n");
}

TEST(Algebra, RunsAreKnownAtCompileTime) {
  constexpr auto beyond = (Causal{} - SlidingWindow{.width = 3}) || Band{.left = 0, .right = 1};
  constexpr auto runs = beyond.bind({}).runs({.position = 10, .row = 10});
  static_assert(runs.count == 2);
  static_assert(runs.run[0].end == 8);
  static_assert(runs.run[1] == Range{10, 12});
}

TEST(Algebra, AnOperandWithoutRunsLeavesTilesToJudge) {
  const auto mask = Causal{} && KeyPadding(std::vector<bool>(32, true));
  Context context;
  context.query_rows = context.key_rows = {0, 32};
  const auto bound = bind_mask(mask, context);
  static_assert(!has_runs<decltype(bound)>());
  EXPECT_EQ(coverage_of(bound, {{16, 32}, {0, 16}}, 0), Coverage::full);
  EXPECT_EQ(coverage_of(bound, {{0, 16}, {16, 32}}, 0), Coverage::none);
  EXPECT_EQ(coverage_of(bound, {{0, 16}, {0, 16}}, 0), Coverage::partial);
}

TEST(Algebra, CarriesWhatItsOperandsRead) {
  const KeyLengths lengths{.lengths = {1}};
  const auto by_head = where([](Index, Index key, Index head, Index) { return key == head; });
  const auto by_row = where<Coordinates::rows>([](Index query, Index key) { return key == query; });
  static_assert(needs_query_position<decltype(Causal{} && lengths)>());
  static_assert(!needs_query_position<decltype(lengths - Prefix{})>());
  static_assert(!needs_query_position<decltype(by_row || !lengths)>());
  static_assert(!depends_on_head<decltype(Causal{} && lengths)>());
  static_assert(depends_on_head<decltype(!(Causal{} && by_head))>());
  EXPECT_EQ(to_string(by_row || lengths, 2, 3), "#..\n##.\n");
}

TEST(Algebra, KnowsWhoseRunsFollowPositions) {
  using Rows = BoundMask<decltype(KeyLengths{} || !KeyLengths{})>;
  using Both = BoundMask<decltype(KeyLengths{} || Causal{})>;
  static_assert(has_runs<Rows>() && !runs_read_positions<Rows>());
  static_assert(has_runs<Both>() && runs_read_positions<Both>());
  static_assert(!runs_read_positions<BoundMask<KeyLengths>>() && runs_read_positions<BoundMask<Causal>>());
}

TEST(Algebra, GoesByPositionsAndRowsAtOnce) {
  // One new token over a cache of 3 of which the first row is padding: causal by position, padding by row.
  const auto mask = Causal{} && !KeyLengths{.lengths = {1}};
  EXPECT_EQ(to_string(mask, 1, 4, {.query_offset = 3}), ".###\n");
  const std::array<Position, 1> query{6};
  const std::array<Position, 4> keys{0, 6, 7, 3};
  EXPECT_EQ(to_string(mask, 1, 4, {.query_positions = query, .key_positions = keys}), ".#.#\n");
}

TEST(Algebra, TakesABareCallableNextToAMask) {
  const auto odd = [](Index, Index key) { return key % 2 != 0; };
  EXPECT_EQ(to_string(Causal{} && odd, 4, 4), "....\n.#..\n.#..\n.#.#\n");
  EXPECT_EQ(to_string(odd || Causal{}, 2, 2), "##\n##\n");
}

}  // namespace
}  // namespace headwise::mask
