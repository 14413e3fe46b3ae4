#include <headwise/core/instruction_set.hpp>

#include <gtest/gtest.h>

#include "flags/units.hpp"
#include "support/check.hpp"

namespace headwise {
namespace {

TEST(Flags, FilesWithDifferentFlagsWorkInOneProgram) {
  if (!is_available(InstructionSet::avx2)) GTEST_SKIP() << "this CPU cannot run the file with AVX2";
  const Matrix<float> x = check::random(70, 32, 1).cast<float>();
  const Matrix<double> plain = flags::attend_in_plain_file(x).cast<double>();
  EXPECT_TRUE(check::near(flags::attend_in_raised_file(x).cast<double>(), plain, 1e-5));
  EXPECT_TRUE(check::near(flags::attend_in_narrow_file(x).cast<double>(), plain, 1e-5));
}

TEST(Flags, FilesThatChooseAmongDifferentSetsWorkInOneProgram) {
  const Matrix<double> x = check::random(70, 12, 1);
  const Matrix<double> plain = flags::gradients_in_plain_file(x, InstructionSet::baseline);
  const Matrix<double> narrow = flags::gradients_in_narrow_file(x, InstructionSet::baseline);
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!is_available(set)) continue;
    EXPECT_TRUE(check::near(flags::gradients_in_plain_file(x, set), plain, 1e-12)) << name(set);
    EXPECT_TRUE(check::near(flags::gradients_in_narrow_file(x, set), narrow, 1e-12)) << name(set);
  }
}

}  // namespace
}  // namespace headwise
