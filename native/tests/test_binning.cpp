// What the sanitizers should see of binning; tests/data/test_binning.py says what is right.
#include "marginboost/binning/binning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "marginboost/binning/cuts.hpp"

using namespace marginboost;

namespace {

constexpr std::int64_t kRows = 5000;  // enough for the sort by bits and for several threads
constexpr std::int64_t kColumns = 70;

template <class T>
std::vector<T> random_values(int n_distinct) {
  std::mt19937 generator(1);
  std::vector<T> values(static_cast<std::size_t>(kRows * kColumns));
  for (T& value : values)
    value = static_cast<T>(static_cast<int>(generator() % static_cast<unsigned>(n_distinct)) - 20);
  return values;
}

std::vector<std::int64_t> backwards() {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = kRows - 1; row >= 0; --row) rows.push_back(row);
  return rows;
}

template <class T, class Bin>
void check_threads_agree(int n_distinct, int max_bins) {
  const std::vector<T> values = random_values<T>(n_distinct);
  const std::vector<std::int64_t> rows = backwards();
  const AnyMatrix by_row = MatrixView<T>{values.data(), kRows, kColumns, kColumns, 1};
  const AnyMatrix by_column = MatrixView<T>{values.data(), kRows, kColumns, 1, kRows};
  for (const AnyMatrix& x : {by_row, by_column}) {
    const Thresholds one = find_thresholds(x, {rows, {}}, max_bins, 1);
    const Thresholds four = find_thresholds(x, {rows, {}}, max_bins, 4);
    CHECK(one.values == four.values);
    CHECK(one.offsets == four.offsets);
    CHECK(one.n_capped == (n_distinct > max_bins ? kColumns : 0));

    std::vector<Bin> first(values.size());
    std::vector<Bin> second(values.size());
    fill_bins(x, rows, one.values, one.offsets, 1, std::span<Bin>(first));
    fill_bins(x, rows, one.values, one.offsets, 4, std::span<Bin>(second));
    CHECK(first == second);
    CHECK(one.offsets[1] == std::min(n_distinct, max_bins) - 1);
    CHECK(*std::max_element(first.begin(), first.begin() + kRows) == one.offsets[1]);
  }
}

}  // namespace

TEST(binning_agrees_on_any_number_of_threads) {
  check_threads_agree<std::uint8_t, std::uint8_t>(256, 100);
  check_threads_agree<std::int8_t, std::uint8_t>(100, 255);
  check_threads_agree<std::int32_t, std::uint16_t>(700, 300);
  check_threads_agree<float, std::uint16_t>(300, 300);
  check_threads_agree<double, std::uint8_t>(700, 64);
}

TEST(binning_refuses_rows_that_are_not_there) {
  const std::vector<double> values(6, 0.0);
  const AnyMatrix x = MatrixView<double>{values.data(), 3, 2, 2, 1};
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{3}}) {
    const std::vector<std::int64_t> rows{0, row};
    bool refused = false;
    try {
      find_thresholds(x, {rows, {}}, 10, 1);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

TEST(what_is_missing_has_a_bin_for_itself) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> values;
  for (int i = 0; i < 9000; ++i) values.push_back(i % 1000);
  values[17] = -kInfinity;
  values.push_back(kInfinity);
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < values.size(); ++i) rows.push_back(static_cast<std::int64_t>(i));
  const auto n = static_cast<std::int64_t>(values.size());
  const AnyMatrix x = MatrixView<double>{values.data(), n, 1, 1, 1};
  for (const int max_bins : {2, 3, 10, 255}) {
    const Thresholds found = find_thresholds(x, {rows, {}}, max_bins, 1);
    CHECK(found.values.size() == static_cast<std::size_t>(std::max(max_bins, 4)) - 1);
    CHECK(found.values.front() == std::numeric_limits<double>::lowest());
    CHECK(found.values.back() == std::numeric_limits<double>::max());
    CHECK(found.medians.front() == 500.0);
  }
  const std::vector<double> nothing(5, -kInfinity);
  const std::vector<std::int64_t> five{0, 1, 2, 3, 4};
  const Thresholds none =
      find_thresholds(MatrixView<double>{nothing.data(), 5, 1, 1, 1}, {five, {}}, 10, 1);
  CHECK(none.values.empty());
  CHECK(none.medians.front() == kInfinity);
}

TEST(infinite_values_need_no_numbers_beside_them) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kLowest = std::numeric_limits<double>::lowest();
  const std::vector<double> ends{kInfinity, -kInfinity, kInfinity};
  const std::vector<std::int64_t> three{0, 1, 2};
  const Thresholds apart =
      find_thresholds(MatrixView<double>{ends.data(), 3, 1, 1, 1}, {three, {}}, 10, 1);
  CHECK(apart.values == std::vector<double>{0.0});
  CHECK(apart.medians.front() == kInfinity);
  const std::vector<double> least{kLowest, -kInfinity, 1.0};
  const Thresholds joined =
      find_thresholds(MatrixView<double>{least.data(), 3, 1, 1, 1}, {three, {}}, 10, 1);
  CHECK(joined.values == std::vector<double>{midpoint(kLowest, 1.0)});
}

TEST(midpoints_lie_between) {
  const double big = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double one_up = 1.0 + std::numeric_limits<double>::epsilon();
  CHECK(midpoint(-big, big) == 0.0);
  CHECK(midpoint(0.0, tiny) == 0.0);
  CHECK(midpoint(-tiny, 0.0) == -tiny);
  CHECK(midpoint(1.0, one_up) == 1.0);
  CHECK(midpoint(one_up, one_up + std::numeric_limits<double>::epsilon()) == one_up);
}

TEST(cuts_fill_every_bin) {
  // Many values and many bins; one value outweighs all others.
  std::vector<std::int64_t> cumulative{0};
  for (std::int64_t v = 0; v < 100000; ++v)
    cumulative.push_back(cumulative.back() + (v == 777 ? 1000000 : 1 + v % 3));
  for (const int max_bins : {2, 3, 255, 65535}) {
    const std::vector<std::int64_t> cuts = balanced_cuts(cumulative, max_bins);
    CHECK(cuts.size() == static_cast<std::size_t>(max_bins) - 1);
    std::int64_t before = 0;
    for (const std::int64_t cut : cuts) {
      CHECK(before < cut);
      before = cut;
    }
    CHECK(before < 100000);
  }
}
