#include "marginboost/coefficients/leaf_step.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

// Logarithms or exponentials that are worth a second thread, and those of a task.
constexpr std::int64_t kSmallWork = 1 << 11, kElementsATask = 1 << 9;

// Calls visit(begin, end) for parts of n elements.
template <class Visit>
void for_elements(std::size_t n, int n_threads, const char* name, const Visit& visit) {
  const auto size = static_cast<std::int64_t>(n);
  if (size < kSmallWork || n_threads == 1) return visit(std::size_t{0}, n);
  parallel_for((size + kElementsATask - 1) / kElementsATask, n_threads, [&](std::int64_t task, int) {
    visit(static_cast<std::size_t>(task * kElementsATask),
          static_cast<std::size_t>(std::min(size, (task + 1) * kElementsATask)));
  }, name);
}

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

void leaf_vectors(const LeafSums& sums, double pseudo_count, double factor, double most,
                  std::span<double> out, int n_threads) {
  for_elements(out.size(), n_threads, "coefficients", [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      const double ratio = (sums.own[c] + pseudo_count) / (sums.against[c] + pseudo_count);
      out[c] = std::clamp(factor * std::log(ratio), -most, most);
    }
  });
}

LeafMasses leaf_step(std::span<const double> w, const LeafSums& sums, const LeafBounds& bounds,
                     std::span<float> up, std::span<float> down, int n_threads) {
  for_elements(w.size(), n_threads, "exponentials", [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      up[c] = static_cast<float>(std::exp(w[c]));
      down[c] = static_cast<float>(std::exp(-w[c]));
    }
  });
  const auto k = at(sums.n_classes);
  std::vector<double> own(k, 0.0), against(k, 0.0), most_own(k, 0.0), most_against(k, 0.0);
  // A weight that can't exceed 1 grows by the factor of its ratio at most, and where that is below 1
  // it may yet stay as it is.
  const auto growth = [&](float factor) {
    return bounds.bounded ? std::max(static_cast<double>(factor), 1.0)
                          : static_cast<double>(factor);
  };
  for (std::size_t leaf = 0; leaf < w.size(); leaf += k) {
    double most_up = 0.0, most_down = 0.0;
    for (std::size_t c = leaf; c < leaf + k; ++c) {
      most_up = std::max(most_up, growth(up[c]));
      most_down = std::max(most_down, growth(down[c]));
    }
    for (std::size_t r = 0; r < k; ++r) {
      const double of_own = growth(down[leaf + r]) * most_up;
      const double of_others = growth(up[leaf + r]) * most_down;
      own[r] += sums.own[leaf + r] * of_own;
      against[r] += sums.against[leaf + r] * of_others;
      most_own[r] = std::max(most_own[r], of_own);
      most_against[r] = std::max(most_against[r], of_others);
    }
  }
  double n_rows = 0.0, mass = 0.0;
  for (std::size_t r = 0; r < k; ++r) {
    n_rows += bounds.class_counts[r];
    mass += bounds.class_mass[r];
  }
  LeafMasses found;
  double of_own = 0.0, of_others = 0.0;
  std::vector<double> lanes;
  for (std::size_t r = 0; r < k; ++r) {
    // Weights that were rounded to nothing may grow as well: half a unit for every row, wherever.
    own[r] += bounds.half_unit * bounds.class_counts[r] * most_own[r];
    against[r] += bounds.half_unit * n_rows * most_against[r];
    if (bounds.bounded) {
      own[r] = std::min(own[r], bounds.class_mass[r] * static_cast<double>(k - 1));
      against[r] = std::min(against[r], mass - bounds.class_mass[r]);
    }
    of_own += own[r];
    of_others += against[r];
    found.largest_class = std::max(found.largest_class, against[r]);
    const std::size_t lane = at(bounds.lanes[r]);
    if (lanes.size() <= lane) lanes.resize(lane + 1, 0.0);
    lanes[lane] += own[r] + against[r];
  }
  found.total = std::min(of_own, of_others);
  found.largest_lane = *std::max_element(lanes.begin(), lanes.end());
  return found;
}

}  // namespace marginboost
