// The split of a node by weighted Gini impurity, by the masses of one feature's bins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace marginboost {

/// The best split so far of one node.
struct ScoredBin {
  int feature = -1;
  int bin = 0;
  double score = -1.0;
  double gain = 0.0;  ///< what the split adds to the score of the node
};

class GiniScan {
 public:
  explicit GiniScan(int n_labels)
      : n_labels_(n_labels), whole_(at(n_labels)), left_(at(n_labels)), right_(at(n_labels)) {}

  /// hist: n_bins x n_labels of one node and feature. weights: what the rows of each bin weigh, of which
  /// both sides must hold `least`; or null.
  void scan(const std::uint32_t* hist, const double* weights, double least, std::int64_t n_bins, int feature,
            ScoredBin& best) {
    const std::int64_t total = sum_up(hist, n_bins);
    if (is_pure()) return;
    const double here = purity(whole_.data(), total);
    double heavy_left = 0.0, heavy_right = 0.0;
    for (std::int64_t b = 0; weights && b < n_bins; ++b) heavy_right += weights[b];
    std::fill(left_.begin(), left_.end(), 0);
    right_ = whole_;
    std::int64_t left_total = 0;
    for (std::int64_t b = 0; b + 1 < n_bins; ++b) {
      std::int64_t moved = 0;
      for (int label = 0; label < n_labels_; ++label) {
        const auto mass = static_cast<std::int64_t>(hist[b * n_labels_ + label]);
        left_[at(label)] += mass;
        right_[at(label)] -= mass;
        moved += mass;
      }
      left_total += moved;
      if (weights) {
        heavy_left += weights[b];
        heavy_right -= weights[b];
      }
      if (left_total == 0) continue;
      if (left_total == total) break;
      if (weights && std::min(heavy_left, heavy_right) < least) continue;
      const double score =
          purity(left_.data(), left_total) + purity(right_.data(), total - left_total);
      if (score > best.score) {
        best = {feature, static_cast<int>(b), score, std::max(0.0, score - here)};
      }
    }
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  // What weighted Gini impurity is the complement of: sum of squares over sum; larger is purer. The same
  // operations in the same order as the reference engine's.
  double purity(const std::int64_t* masses, std::int64_t total) const {
    double squares = 0.0;
    for (int label = 0; label < n_labels_; ++label) {
      const auto mass = static_cast<double>(masses[label]);
      squares += mass * mass;
    }
    return squares / static_cast<double>(total);
  }

  std::int64_t sum_up(const std::uint32_t* hist, std::int64_t n_bins) {
    std::fill(whole_.begin(), whole_.end(), 0);
    std::int64_t total = 0;
    for (std::int64_t cell = 0; cell < n_bins * n_labels_; ++cell) {
      const auto mass = static_cast<std::int64_t>(hist[cell]);
      whole_[at(cell % n_labels_)] += mass;
      total += mass;
    }
    return total;
  }

  bool is_pure() const {
    return std::count_if(whole_.begin(), whole_.end(), [](std::int64_t m) { return m > 0; }) < 2;
  }

  int n_labels_;
  std::vector<std::int64_t> whole_, left_, right_;
};

}  // namespace marginboost
