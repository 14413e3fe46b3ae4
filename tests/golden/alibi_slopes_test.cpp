#include <headwise/score/alibi.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"

#include <string>

namespace headwise::score {
namespace {

TEST(AlibiSlopesGolden, SlopesOfEveryHeadCountAgree) {
  const std::string prefix = "out.slopes_";
  for (const golden::Case& each : golden::cases("alibi_slopes")) {
    SCOPED_TRACE(each.name());
    int checked = 0;
    for (const std::string& name : each.tensor_names()) {
      if (!name.starts_with(prefix)) continue;
      const Index heads = Index(std::stoll(name.substr(prefix.size())));
      EXPECT_TRUE(golden::match(alibi_slopes(heads).transpose().eval(), each.rows(name), each.tolerance()));
      ++checked;
    }
    EXPECT_GT(checked, 0);
  }
}

}  // namespace
}  // namespace headwise::score
