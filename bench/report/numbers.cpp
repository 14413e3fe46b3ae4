#include "report/numbers.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace headwise::report {

std::string fixed(double x, int digits) {
  if (std::isnan(x)) return "not a number";
  if (std::isinf(x)) return x > 0 ? "infinite" : "-infinite";
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, x);
  return text.data();
}

std::string significant(double x, int digits) {
  if (x == 0 || !std::isfinite(x)) return fixed(x, 0);
  // Rounding first decides the number of digits before the point: 9.999 with three digits is 10.0.
  std::array<char, 64> rounded{};
  std::snprintf(rounded.data(), rounded.size(), "%.*e", digits - 1, x);
  double value = 0;
  std::sscanf(rounded.data(), "%lf", &value);
  const int magnitude = int(std::floor(std::log10(std::abs(value)) + 1e-9));
  return fixed(x, std::max(0, digits - 1 - magnitude));
}

std::string grouped(Index n) {
  const std::string digits = std::to_string(n);
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    const bool after_a_digit = i > 0 && digits[i - 1] != '-';
    if (after_a_digit && left % 3 == 0) result.push_back(',');
    result.push_back(digits[i]);
  }
  return result;
}

std::string scaled(double value, const std::string& unit, int digits) {
  struct Prefix {
    double factor;
    const char* name;
  };
  constexpr std::array<Prefix, 9> prefixes{{{1e15, "P"},
                                            {1e12, "T"},
                                            {1e9, "G"},
                                            {1e6, "M"},
                                            {1e3, "k"},
                                            {1, ""},
                                            {1e-3, "m"},
                                            {1e-6, "µ"},
                                            {1e-9, "n"}}};
  if (value == 0 || !std::isfinite(value)) return significant(value, digits) + " " + unit;
  // A value that would be rounded up to 1000 of one unit is written as 1 of the next.
  const double rounding = 1 - 0.5 * std::pow(10.0, -digits);
  for (const Prefix& prefix : prefixes) {
    if (std::abs(value) >= prefix.factor * rounding) {
      return significant(value / prefix.factor, digits) + " " + prefix.name + unit;
    }
  }
  return significant(value / prefixes.back().factor, digits) + " " + prefixes.back().name + unit;
}

std::string duration(double seconds) {
  if (seconds < 119.5) return seconds < 1 ? scaled(seconds, "s") : significant(seconds) + " s";
  const auto whole = Index(std::llround(seconds));
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

std::string bytes(double count) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (std::abs(count) >= 1023.5 && unit + 1 < units.size()) {
    count /= 1024;
    ++unit;
  }
  return (unit == 0 ? fixed(count, 0) : significant(count)) + " " + units[unit];
}

std::string percent(double share) { return significant(100 * share) + " %"; }

std::string with_error(double value, double standard_error) {
  if (!std::isfinite(standard_error)) return fixed(value, 2);
  return fixed(value, 2) + " ± " + fixed(standard_error, standard_error < 0.01 ? 3 : 2);
}

}  // namespace headwise::report
