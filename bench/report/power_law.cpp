#include "report/power_law.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace headwise::report {

namespace {

std::vector<double> logarithms(std::span<const double> numbers, const std::string& name) {
  std::vector<double> logs;
  for (double number : numbers) {
    if (!(number > 0) || std::isinf(number)) {
      throw std::invalid_argument("fit_power_law: " + name + " holds " + std::to_string(number) +
                                  ", expected positive numbers");
    }
    logs.push_back(std::log(number));
  }
  return logs;
}

double mean(const std::vector<double>& numbers) {
  double sum = 0;
  for (double number : numbers) sum += number;
  return sum / double(numbers.size());
}

}  // namespace

double PowerLaw::operator()(double x) const { return factor * std::pow(x, exponent); }

PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("fit_power_law: x and y must have one length");
  if (x.size() < 2) throw std::invalid_argument("fit_power_law: needs at least two points");
  const std::vector<double> u = logarithms(x, "x"), v = logarithms(y, "y");
  const double u_mean = mean(u), v_mean = mean(v);
  double uu = 0, uv = 0, vv = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    uu += (u[i] - u_mean) * (u[i] - u_mean);
    uv += (u[i] - u_mean) * (v[i] - v_mean);
    vv += (v[i] - v_mean) * (v[i] - v_mean);
  }
  if (!(uu > 0)) throw std::invalid_argument("fit_power_law: needs at least two different x");

  PowerLaw law;
  law.points = int(u.size());
  law.exponent = uv / uu;
  law.factor = std::exp(v_mean - law.exponent * u_mean);
  double residual = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double miss = (v[i] - v_mean) - law.exponent * (u[i] - u_mean);
    residual += miss * miss;
  }
  law.r_squared = vv > 0 ? 1 - residual / vv : 1;
  law.standard_error = law.points > 2 ? std::sqrt(residual / double(law.points - 2) / uu)
                                      : std::numeric_limits<double>::quiet_NaN();
  return law;
}

}  // namespace headwise::report
