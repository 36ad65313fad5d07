// The exponentials of the margins, row by row, and the direction they give.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "marginboost/trees/shard.hpp"

namespace marginboost {

class TreeMargins {
 public:
  TreeMargins(TreeShardData data, Loss loss, int n_threads);

  const Slots& slots() const { return rows_.slots; }
  std::int64_t n_rows() const { return data_.class_offsets.back(); }
  int n_classes() const { return static_cast<int>(data_.class_offsets.size()) - 1; }
  const TreeShardData& data() const { return data_; }
  const std::int32_t* direction() const { return direction_.get(); }
  /// Of each row, in the last tree.
  std::uint16_t* leaves() { return leaf_.data(); }

  void restart();
  TreeAdvance advance(const float* up, const float* down, int n_leaves, const float* signs,
                        int exponent, int mass_exponent);
  /// Calls write(begin, end) for each of some ranges of rows, which sets their leaves(), and sums them.
  void leaf_sums(std::int64_t n_ranges,
                 const std::function<void(std::int64_t begin, std::int64_t end)>& write, int n_leaves,
                 int exponent, double* own, double* against);
  void exponentials(std::span<const std::int64_t> rows, float* out) const;
  void state(float* exponentials, std::int32_t* direction) const;

 private:
  struct Free {
    void operator()(void* p) const;
  };
  template <class T>
  using Buffer = std::unique_ptr<T[], Free>;
  template <class T>
  static Buffer<T> allocate(std::int64_t count);

  /// Calls visit(begin, end, label, slot) for parts of classes, on all threads.
  template <class Visit>
  void for_spans(const Visit& visit, const char* name) const;
  /// Calls visit(begin, end, label) for the parts of some rows that are of one class.
  template <class Visit>
  void for_classes(std::int64_t begin, std::int64_t end, const Visit& visit) const;
  /// The rows of a class.
  TreeRows rows_of(int label) const;

  TreeShardData data_;
  int n_threads_;
  TreeRows rows_;
  Buffer<float> exponentials_;
  Buffer<std::int32_t> direction_;
  std::vector<std::uint16_t> leaf_;
  std::vector<float> pair_weights_;  // n_classes x slots, or empty

  /// The sums of a range of rows.
  struct RangeSums {
    std::vector<std::int32_t> against;  // n_leaves x slots
    std::vector<double> own;            // n_leaves for each class that it has rows of
    int first_class = 0, n_classes = 0;
  };
  std::vector<RangeSums> range_sums_;  // kept for the next tree
};

}  // namespace marginboost
