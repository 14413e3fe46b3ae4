#include "report/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headwise::report {
namespace {

TEST(Numbers, KeepSignificantDigitsWithoutAnExponent) {
  EXPECT_EQ(significant(1.9749), "1.97");
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(214.4), "214");
  EXPECT_EQ(significant(16384.0), "16384");
  EXPECT_EQ(significant(-0.5), "-0.500");
  EXPECT_EQ(significant(0.0), "0");
}

TEST(Numbers, RoundBeforeTheyCountDigits) {
  EXPECT_EQ(significant(9.999), "10.0");
  EXPECT_EQ(significant(0.09999), "0.100");
  EXPECT_EQ(significant(99.96), "100");
}

TEST(Numbers, GroupThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(268435456), "268,435,456");
  EXPECT_EQ(grouped(-123456), "-123,456");
}

TEST(Numbers, TakeTheFittingPrefix) {
  EXPECT_EQ(scaled(1.28e11, "FLOP/s"), "128 GFLOP/s");
  EXPECT_EQ(scaled(999.9e6, "B/s"), "1.00 GB/s");
  EXPECT_EQ(scaled(999.4e6, "B/s"), "999 MB/s");
  EXPECT_EQ(scaled(0.0, "s"), "0 s");
  EXPECT_EQ(scaled(4.5e-5, "s"), "45.0 µs");
  EXPECT_EQ(scaled(2e-12, "s"), "0.00200 ns");
}

TEST(Numbers, SayDurationsAsReadersDo) {
  EXPECT_EQ(duration(0.00123), "1.23 ms");
  EXPECT_EQ(duration(12.5), "12.5 s");
  EXPECT_EQ(duration(185), "3 min 5 s");
  EXPECT_EQ(duration(119.7), "2 min 0 s");
}

TEST(Numbers, CountBytesInBinaryUnits) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(512), "512 B");
  EXPECT_EQ(bytes(1024), "1.00 KiB");
  EXPECT_EQ(bytes(1572864), "1.50 MiB");
  EXPECT_EQ(bytes(1024.0 * 1024 * 1024 * 4), "4.00 GiB");
}

TEST(Numbers, NameWhatIsNotANumber) {
  EXPECT_EQ(significant(std::numeric_limits<double>::quiet_NaN()), "not a number");
  EXPECT_EQ(significant(std::numeric_limits<double>::infinity()), "infinite");
}

TEST(Numbers, CarryTheirStandardError) {
  EXPECT_EQ(with_error(1.984, 0.0123), "1.98 ± 0.01");
  EXPECT_EQ(with_error(1.984, 0.0023), "1.98 ± 0.002");
  EXPECT_EQ(with_error(1.984, std::nan("")), "1.98");
  EXPECT_EQ(percent(0.7239), "72.4 %");
}

}  // namespace
}  // namespace headwise::report
