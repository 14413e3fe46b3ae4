#pragma once

#include <span>

namespace headwise::report {

/// y = factor * x^exponent, fitted to measurements.
struct PowerLaw {
  double exponent = 0;
  double factor = 0;
  double standard_error = 0;  ///< of the exponent; NaN for two points, which any power law fits
  double r_squared = 0;       ///< share of the variance of log y that the law explains; 1 when y is constant
  int points = 0;

  double operator()(double x) const;
};

/// Ordinary least squares of log y on log x:
///
///     exponent = sum (u - mean u)(v - mean v) / sum (u - mean u)^2        u = log x, v = log y
///
/// Every point counts alike, however short its time, so the longest length does not decide alone.
/// Throws std::invalid_argument for fewer than two different x, unequal sizes, or numbers that are not
/// positive.
PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

}  // namespace headwise::report
