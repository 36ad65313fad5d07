#include "marginboost/coefficients/leaf_step.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

// Logarithms or exponentials that are worth a second thread, and those of a task.
constexpr std::int64_t kSmallWork = 1 << 9, kElementsATask = 1 << 7;
// Classes that a task adds up over all leaves.
constexpr std::size_t kClassesATask = 4;
constexpr double kGridSteps = 0x1p40, kGridStep = 0x1p-40;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// As on the host: see marginboost.coefficients.grid.
double on_grid(double w) { return std::nearbyint(w * kGridSteps) * kGridStep + 0.0; }

// A weight that can't exceed 1 grows by the factor of its ratio at most, and where that is below 1 it may
// yet stay as it is.
template <bool bounded>
double growth(float factor) {
  const auto wide = static_cast<double>(factor);
  return bounded ? std::max(wide, 1.0) : wide;
}

// The largest growth of each leaf.
struct MostGrowth {
  std::vector<double> up, down;
};

double coefficient(const LeafSums& sums, std::size_t c, double pseudo_count, double factor,
                   double most) {
  const double ratio =
      (sums.own[c] * sums.unit + pseudo_count) / (sums.against[c] * sums.unit + pseudo_count);
  return std::clamp(factor * std::log(ratio), -most, most);
}

// What sums may grow to, class by class, in the order of the leaves.
struct ClassSums {
  explicit ClassSums(std::size_t k) : own(k, 0.0), against(k, 0.0), most_own(k, 0.0), most_against(k, 0.0) {}
  std::vector<double> own, against, most_own, most_against;

  template <bool bounded>
  void add(const LeafSums& sums, std::span<const float> up, std::span<const float> down,
           const MostGrowth& most, std::size_t begin, std::size_t end) {
    const std::size_t k = own.size();
    for (std::size_t leaf = 0; leaf < most.up.size(); ++leaf) {
      const double most_up = most.up[leaf], most_down = most.down[leaf];
      for (std::size_t r = begin; r < end; ++r) {
        const std::size_t c = leaf * k + r;
        const double of_own = growth<bounded>(down[c]) * most_up;
        const double of_others = growth<bounded>(up[c]) * most_down;
        own[r] += sums.own[c] * sums.unit * of_own;
        against[r] += sums.against[c] * sums.unit * of_others;
        most_own[r] = std::max(most_own[r], of_own);
        most_against[r] = std::max(most_against[r], of_others);
      }
    }
  }
};

template <bool bounded>
void find_growth(std::span<const float> up, std::span<const float> down, std::size_t k,
                 std::size_t leaf, MostGrowth& most) {
  double most_up = 0.0, most_down = 0.0;
  for (std::size_t c = leaf * k; c < (leaf + 1) * k; ++c) {
    most_up = std::max(most_up, growth<bounded>(up[c]));
    most_down = std::max(most_down, growth<bounded>(down[c]));
  }
  most.up[leaf] = most_up;
  most.down[leaf] = most_down;
}

LeafMasses masses_of(ClassSums& found, const LeafBounds& bounds);

// Sets up and down by `step_of(c)`, and bounds the sums after that.
template <bool bounded, class StepOf>
LeafMasses step_leaves(const StepOf& step_of, const LeafSums& sums, const LeafBounds& bounds,
                       std::span<float> up, std::span<float> down, int n_threads) {
  const auto k = at(sums.n_classes);
  const std::size_t n_leaves = up.size() / k;
  const int threads = static_cast<std::int64_t>(up.size()) < kSmallWork ? 1 : n_threads;
  MostGrowth most{std::vector<double>(n_leaves), std::vector<double>(n_leaves)};
  const std::size_t leaves_a_task =
      threads == 1 ? n_leaves : std::max<std::size_t>(1, at(kElementsATask) / k);
  const auto n_tasks = static_cast<std::int64_t>((n_leaves + leaves_a_task - 1) / leaves_a_task);
  parallel_for(n_tasks, threads, [&](std::int64_t task, int) {
    const std::size_t end = std::min(n_leaves, at(task + 1) * leaves_a_task);
    for (std::size_t leaf = at(task) * leaves_a_task; leaf < end; ++leaf) {
      for (std::size_t c = leaf * k; c < (leaf + 1) * k; ++c) {
        const double w = step_of(c);
        up[c] = static_cast<float>(std::exp(w));
        down[c] = static_cast<float>(std::exp(-w));
      }
      find_growth<bounded>(up, down, k, leaf, most);
    }
  }, "coefficients");
  ClassSums found(k);
  const auto n_parts = static_cast<std::int64_t>((k + kClassesATask - 1) / kClassesATask);
  if (threads == 1 || n_parts < 2) {
    found.add<bounded>(sums, up, down, most, 0, k);
  } else {
    parallel_for(n_parts, threads, [&](std::int64_t part, int) {
      const std::size_t begin = at(part) * kClassesATask;
      found.add<bounded>(sums, up, down, most, begin, std::min(k, begin + kClassesATask));
    }, "bounds");
  }
  return masses_of(found, bounds);
}

LeafMasses masses_of(ClassSums& sums, const LeafBounds& bounds) {
  auto& [own, against, most_own, most_against] = sums;
  const std::size_t k = own.size();
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

}  // namespace

void leaf_vectors(const LeafSums& sums, double pseudo_count, double factor, double most,
                  std::span<double> out) {
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = coefficient(sums, c, pseudo_count, factor, most);
  }
}

LeafMasses leaf_step(std::span<const double> w, const LeafSums& sums, const LeafBounds& bounds,
                     std::span<float> up, std::span<float> down) {
  const auto step_of = [&](std::size_t c) { return w[c]; };
  return bounds.bounded ? step_leaves<true>(step_of, sums, bounds, up, down, 1)
                        : step_leaves<false>(step_of, sums, bounds, up, down, 1);
}

ShortStep short_step(const LeafSums& sums, const LeafRules& rules, const LeafBounds& bounds,
                     std::span<double> step, std::span<float> up, std::span<float> down,
                     int n_threads) {
  std::atomic<bool> moves{false};
  const auto step_of = [&](std::size_t c) {
    const double w =
        on_grid(rules.eta * coefficient(sums, c, rules.pseudo_count, rules.factor, rules.most));
    step[c] = w;
    if (w != 0.0 && !moves.load(std::memory_order_relaxed)) {
      moves.store(true, std::memory_order_relaxed);
    }
    return w;
  };
  const LeafMasses masses =
      bounds.bounded ? step_leaves<true>(step_of, sums, bounds, up, down, n_threads)
                     : step_leaves<false>(step_of, sums, bounds, up, down, n_threads);
  return {moves.load(), masses};
}

}  // namespace marginboost
