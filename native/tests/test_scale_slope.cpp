// What the sanitizers should see; tests/boosting/test_calibration.py says what is right.
#include "marginboost/calibration/scale_slope.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"

using namespace marginboost;

TEST(two_classes_have_the_slope_of_the_logistic_function) {
  const std::vector<double> logs{0.0, 3.0, -2.0, 0.0}, weight{1.0, 2.0}, none;
  const ScaleSlope found = scale_slope(logs, weight, 0.5, none);
  const auto p = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  const double first = 3.0 * p(1.5), second = -2.0 * 2.0 * p(-1.0);
  CHECK(std::abs(found.slope - (first + second)) < 1e-12);
  const double bend = 9.0 * p(1.5) * p(-1.5) + 2.0 * 4.0 * p(-1.0) * p(1.0);
  CHECK(std::abs(found.curvature - bend) < 1e-12);
  CHECK(scale_slope(none, none, 1.0, none).slope == 0.0);
  // Far apart: neither overflows nor is lost.
  const std::vector<double> far{0.0, 1e300}, one{1.0};
  CHECK(scale_slope(far, one, 1.0, none).slope == 1e300);
}
