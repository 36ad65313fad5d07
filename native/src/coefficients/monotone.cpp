#include "marginboost/coefficients/monotone.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace marginboost {
namespace {

using Whole = std::int64_t;

constexpr Whole kFree = Whole{1} << 60;  // a bound that binds nothing
// Sweeps over pairs of classes that form a cycle; what is left to do then is done in another way.
constexpr int kSweeps = 3;

Whole floor_quotient(Whole value, Whole divisor) {
  const Whole quotient = value / divisor;
  return quotient - (value % divisor < 0 ? 1 : 0);
}

class Bounded {
 public:
  explicit Bounded(const MonotonePairs& rules)
      : rules_(rules), n_pairs_(rules.pairs.size() / 2), kept_(n_pairs_),
        before_(static_cast<std::size_t>(rules.n_classes)) {}

  std::size_t n_pairs() const { return n_pairs_; }

  Whole difference(const Whole* vector, std::size_t pair) const {
    return vector[rules_.pairs[2 * pair]] - vector[rules_.pairs[2 * pair + 1]];
  }

  /// Move a vector until its differences are within bounds, which some vector keeps to.
  void keep_within(Whole* vector, const Whole* least, const Whole* most) {
    bool inside = true;
    for (std::size_t p = 0; p < n_pairs_; ++p) {
      const Whole found = difference(vector, p);
      kept_[p] = std::min(std::max(found, least[p]), most[p]);
      inside = inside && kept_[p] == found;
    }
    if (inside) return;
    if (rules_.has_cycle) {
      lower(vector, least, most);
    } else {
      choose_differences(vector);
    }
  }

 private:
  /// Without a cycle all differences can be chosen at will; the mean of connected classes stays.
  void choose_differences(Whole* vector) {
    std::copy_n(vector, before_.size(), before_.begin());
    for (std::size_t edge = 0; edge < rules_.edges.size(); edge += 3) {
      const Whole pair = rules_.edges[edge];
      const Whole known = rules_.edges[edge + 1], reached = rules_.edges[edge + 2];
      const Whole step = kept_[static_cast<std::size_t>(pair)];
      const bool is_first = reached == rules_.pairs[static_cast<std::size_t>(2 * pair)];
      vector[reached] = vector[known] + (is_first ? step : -step);
    }
    for (std::size_t part = 0; part + 1 < rules_.begins.size(); ++part) {
      const auto classes = rules_.components.subspan(
          static_cast<std::size_t>(rules_.begins[part]),
          static_cast<std::size_t>(rules_.begins[part + 1] - rules_.begins[part]));
      Whole missing = 0;
      for (const Whole k : classes) missing += before_[static_cast<std::size_t>(k)] - vector[k];
      const Whole share = floor_quotient(missing, static_cast<Whole>(classes.size()));
      for (const Whole k : classes) vector[k] += share;
    }
  }

  /// Move a vector where differences depend on each other.
  void lower(Whole* vector, const Whole* least, const Whole* most) const {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t p = 0; p < n_pairs_; ++p) {
        const Whole found = difference(vector, p);
        const Whole excess = found - std::min(std::max(found, least[p]), most[p]);
        const Whole half = excess >> 1;
        vector[rules_.pairs[2 * p]] -= excess - half;
        vector[rules_.pairs[2 * p + 1]] += half;
      }
    }
    // Lower entries until all bounds hold. As bounds agree with each other, that ends: it is the
    // Bellman-Ford algorithm for shortest paths.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t p = 0; p < n_pairs_; ++p) {
        Whole& a = vector[rules_.pairs[2 * p]];
        Whole& b = vector[rules_.pairs[2 * p + 1]];
        const Whole lower_a = std::min(a, b + most[p]);
        const Whole lower_b = std::min(b, lower_a - least[p]);
        changed = changed || lower_a != a || lower_b != b;
        a = lower_a;
        b = lower_b;
      }
    }
  }

  const MonotonePairs& rules_;
  std::size_t n_pairs_;
  std::vector<Whole> kept_;
  std::vector<Whole> before_;
};

}  // namespace

void sum_nodes(const TreeShape& tree, std::int64_t width, std::span<double> sums) {
  const auto size = static_cast<std::size_t>(width);
  for (std::size_t node = tree.left.size(); node-- > 0;) {
    const double* left = &sums[static_cast<std::size_t>(tree.left[node]) * size];
    const double* right = &sums[static_cast<std::size_t>(tree.right[node]) * size];
    double* out = &sums[node * size];
    for (std::size_t j = 0; j < size; ++j) out[j] = left[j] + right[j];
  }
}

void keep_monotone(const TreeShape& tree, const MonotonePairs& rules,
                   std::span<const std::int8_t> signs, std::span<std::int64_t> wanted) {
  Bounded bounded(rules);
  const std::size_t n_pairs = bounded.n_pairs();
  const auto n_classes = static_cast<std::size_t>(rules.n_classes);
  std::vector<Whole> most(wanted.size() / n_classes * n_pairs, kFree);
  std::vector<Whole> least(most.size(), -kFree);
  std::vector<Whole> between(n_classes);
  for (std::size_t node = 0; node < tree.left.size(); ++node) {
    const auto left = static_cast<std::size_t>(tree.left[node]);
    const auto right = static_cast<std::size_t>(tree.right[node]);
    const Whole* low = &least[node * n_pairs];
    const Whole* high = &most[node * n_pairs];
    Whole* on_left = &wanted[left * n_classes];
    Whole* on_right = &wanted[right * n_classes];
    bounded.keep_within(on_left, low, high);
    bounded.keep_within(on_right, low, high);
    const std::int8_t* rises = &signs[node * n_pairs];
    bool wrong = false;
    for (std::size_t p = 0; p < n_pairs; ++p) {
      const Whole gap = bounded.difference(on_left, p) - bounded.difference(on_right, p);
      wrong = wrong || rises[p] * gap > 0;
    }
    // Sides that are in the wrong order will both be at the bound: what all of their rows ask for
    // suits them better than the middle does, where one side may hold few rows.
    const Whole* joint = &wanted[node * n_classes];
    for (std::size_t k = 0; k < n_classes; ++k) {
      between[k] = wrong ? joint[k] : (on_left[k] + on_right[k]) >> 1;
    }
    for (std::size_t p = 0; p < n_pairs; ++p) {
      const Whole bound = bounded.difference(between.data(), p);
      const std::size_t l = left * n_pairs + p, r = right * n_pairs + p;
      least[l] = least[r] = low[p];
      most[l] = most[r] = high[p];
      if (rises[p] > 0) {
        most[l] = std::min(high[p], bound);
        least[r] = std::max(low[p], bound);
      } else if (rises[p] < 0) {
        least[l] = std::max(low[p], bound);
        most[r] = std::min(high[p], bound);
      }
    }
    bounded.keep_within(on_left, &least[left * n_pairs], &most[left * n_pairs]);
    bounded.keep_within(on_right, &least[right * n_pairs], &most[right * n_pairs]);
  }
}

}  // namespace marginboost
