#include <headwise/io/name_rules.hpp>

#include <gtest/gtest.h>

namespace headwise::io {
namespace {

TEST(NameRules, AStarStandsForOnePartAndIsFilledInAgain) {
  const NameRules names{{"layers.*.attention.output.*", "h.*.attn.c_proj.*", {}, true},
                        {"layers.*.attention.query.*", "h.*.attn.c_attn.*", fused_part(0, 24), true},
                        {"layers.norm.*", "ln_f.*"}};
  const TensorSource query =
      names("layers.3.attention.query.weight");  // rows 0 to 23 of h.3.attn.c_attn.weight
  EXPECT_EQ(query.name, "h.3.attn.c_attn.weight");
  ASSERT_EQ(query.outputs.size(), 1u);
  EXPECT_EQ(query.outputs[0], (Range{0, 24}));
  EXPECT_EQ(names("layers.12.attention.output.bias").name, "h.12.attn.c_proj.bias");
  EXPECT_EQ(names("layers.norm.weight").name, "ln_f.weight");
}

TEST(NameRules, OnlyWeightsAreTransposed) {
  const NameRules names{{"up.*", "c_fc.*", {}, true}, {"gain.*", "ln.*"}};
  EXPECT_TRUE(names("up.weight").transposed);
  EXPECT_FALSE(names("up.bias").transposed);
  EXPECT_FALSE(names("gain.weight").transposed);
}

TEST(NameRules, AStarMayStandInsideAPartOfTheOtherName) {
  const NameRules names{{"mlp.*.*", "mlp.*_proj.*"}};
  EXPECT_EQ(names("mlp.gate.weight").name, "mlp.gate_proj.weight");
}

TEST(NameRules, TheFirstRuleThatFitsIsUsed) {
  const NameRules names{{"a.b", "first"}, {"a.*", "second.*"}};
  EXPECT_EQ(names("a.b").name, "first");
  EXPECT_EQ(names("a.c").name, "second.c");
}

TEST(NameRules, ANameWithoutARuleStandsForItself) {
  const NameRules names{{"a.*", "b.*"}};
  EXPECT_EQ(names("a").name, "a");
  EXPECT_EQ(names("a.b.c").name, "a.b.c");
  EXPECT_EQ(names("").name, "");
}

}  // namespace
}  // namespace headwise::io
