#pragma once

#include <headwise/core/matrix.hpp>

#include <string>

/// How the report writes numbers: few digits, always a unit, the same on the terminal and on the page.
namespace headwise::report {

/// x with `digits` significant digits and no exponent: 0.0123, 1.97, 214. Digits before the point are all
/// kept.
std::string significant(double x, int digits = 3);

/// x with `digits` digits after the point: 2.00.
std::string fixed(double x, int digits);

/// 268435456 -> "268,435,456".
std::string grouped(Index n);

/// 1.28e11, "FLOP/s" -> "128 GFLOP/s". Decimal prefixes from n to P.
std::string scaled(double value, const std::string& unit, int digits = 3);

/// Seconds as a reader says them: "45.0 µs", "1.23 ms", "12.5 s", "3 min 5 s".
std::string duration(double seconds);

/// Bytes in binary units: "1.50 MiB".
std::string bytes(double count);

/// 0.724 -> "72.4 %".
std::string percent(double share);

/// "1.98 ± 0.01"; without a standard error only the value.
std::string with_error(double value, double standard_error);

}  // namespace headwise::report
