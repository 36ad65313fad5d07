#include "marginboost/predict/decision.hpp"

#include <algorithm>
#include <vector>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {

void least_cost(std::span<const double> probabilities, std::span<const double> costs,
                std::int64_t n_classes, int n_threads, std::span<std::int64_t> best) {
  const auto k = static_cast<std::size_t>(n_classes);
  constexpr std::size_t kProductsATask = 1 << 16;
  const std::size_t rows = std::max<std::size_t>(1, kProductsATask / (k * k));
  const auto n_tasks = static_cast<std::int64_t>((best.size() + rows - 1) / rows);
  parallel_for(n_tasks, n_threads, [&](std::int64_t task, int) {
    const std::size_t begin = static_cast<std::size_t>(task) * rows;
    const std::size_t end = std::min(best.size(), begin + rows);
    std::vector<double> expected(k);
    for (std::size_t i = begin; i < end; ++i) {
      std::fill(expected.begin(), expected.end(), 0.0);
      for (std::size_t a = 0; a < k; ++a) {
        const double share = probabilities[i * k + a];
        const double* row = costs.data() + a * k;
        for (std::size_t r = 0; r < k; ++r) expected[r] += share * row[r];
      }
      best[i] = std::min_element(expected.begin(), expected.end()) - expected.begin();
    }
  });
}

}  // namespace marginboost
