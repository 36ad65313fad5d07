// What the sanitizers should see; tests/data/test_encoding.py says what is right.
#include "marginboost/binning/missing.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"

using namespace marginboost;

TEST(the_last_value_may_be_the_missing_one) {
  constexpr std::int64_t kRows = 701, kColumns = 401;  // several tasks, the last one short
  std::vector<float> values(static_cast<std::size_t>(kRows * kColumns), 1.0F);
  const std::vector<MatrixView<float>> views{
      {values.data(), kRows, kColumns, kColumns, 1},
      {values.data(), kRows, kColumns, 1, kRows},
      {values.data() + values.size() - 1, kRows, kColumns, -kColumns, -1},
      {values.data() + 1, kRows, kColumns - 1, kColumns, 1},
      {values.data(), 0, kColumns, kColumns, 1}};
  for (const auto& view : views) CHECK(!any_missing(view, 2));
  values.back() = std::numeric_limits<float>::quiet_NaN();
  for (const auto& view : views) CHECK(any_missing(view, 2) == (view.n_rows > 0));
}
