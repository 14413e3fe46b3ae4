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
}

}  // namespace
}  // namespace headwise
