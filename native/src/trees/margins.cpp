#include "trees/margins.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <numeric>

#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::size_t kAlignment = 64;
// Tiles of a row that are worth a second thread, and a task's share of them.
constexpr std::int64_t kSmallWork = 1 << 12;
constexpr std::int64_t kTilesATask = 1 << 10;
// Sums of leaves and classes that a task adds up; and so many that one range per thread must do.
constexpr std::int64_t kSumsATask = 1 << 13, kManySums = 1 << 16;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

void TreeMargins::Free::operator()(void* p) const {
  ::operator delete[](p, std::align_val_t{kAlignment});
}

template <class T>
TreeMargins::Buffer<T> TreeMargins::allocate(std::int64_t count) {
  const auto bytes = at(std::max<std::int64_t>(count, 1)) * sizeof(T);
  return Buffer<T>(static_cast<T*>(::operator new[](bytes, std::align_val_t{kAlignment})));
}

TreeMargins::TreeMargins(TreeShardData data, Loss loss, int n_threads)
    : data_(std::move(data)), n_threads_(n_threads) {
  rows_.slots = Slots::of(n_classes());
  rows_.loss = loss;
  exponentials_ = allocate<float>(n_rows() * slots().stored);
  direction_ = allocate<std::int32_t>(n_rows() * slots().lanes);
  leaf_.assign(at(n_rows()), 0);
  rows_.exponentials = exponentials_.get();
  rows_.direction = direction_.get();
  rows_.leaf = leaf_.data();
  rows_.weight = data_.weight.empty() ? nullptr : data_.weight.data();
  rows_.multiplicity = data_.multiplicity;
  if (!data_.pair_weights.empty()) {
    const int k = n_classes(), padded = slots().padded();
    pair_weights_.assign(at(std::int64_t{k} * padded), 1.0F);
    for (int y = 0; y < k; ++y) {
      for (int r = 0; r < k; ++r) {
        const std::int64_t slot = std::int64_t{y} * padded + slots().of_class(r);
        pair_weights_[at(slot)] = data_.pair_weights[at(std::int64_t{y} * k + r)];
      }
    }
  }
  restart();
}

TreeRows TreeMargins::rows_of(int label) const {
  TreeRows rows = rows_;
  if (!pair_weights_.empty()) {
    rows.pair_weights = pair_weights_.data() + std::int64_t{label} * slots().padded();
  }
  return rows;
}

template <class Visit>
void TreeMargins::for_spans(const Visit& visit, const char* name) const {
  const std::int64_t m = n_rows(), tiles = slots().tiles;
  const std::int64_t fair = (m + 8 * n_threads_ - 1) / (8 * n_threads_);
  const std::int64_t chunk = std::max({std::int64_t{1}, fair, kTilesATask / tiles});
  const int threads = m * tiles < kSmallWork ? 1 : n_threads_;
  parallel_for((m + chunk - 1) / chunk, threads, [&](std::int64_t task, int slot) {
    for_classes(task * chunk, std::min(m, (task + 1) * chunk),
                [&](std::int64_t begin, std::int64_t end, int label) { visit(begin, end, label, slot); });
  }, name);
}

template <class Visit>
void TreeMargins::for_classes(std::int64_t begin, std::int64_t end, const Visit& visit) const {
  const auto& offsets = data_.class_offsets;
  auto label = std::upper_bound(offsets.begin(), offsets.end(), begin) - offsets.begin() - 1;
  for (; begin < end; ++label) {
    const std::int64_t stop = std::min(end, offsets[at(label) + 1]);
    if (stop > begin) visit(begin, stop, static_cast<int>(label));
    begin = std::max(begin, stop);
  }
}

void TreeMargins::restart() {
  const int stored = slots().stored, k = n_classes();
  std::vector<float> blank(at(stored), 0.0F);
  for (int c = 0; c < k; ++c) blank[at(slots().stored_at(c))] = 1.0F;
  for_spans([&](std::int64_t begin, std::int64_t end, int label, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* e = exponentials_.get() + i * stored;
      std::copy(blank.begin(), blank.end(), e);
      e[slots().stored_at(label)] = kSmallestRatio;
    }
  }, "restart");
  std::fill(leaf_.begin(), leaf_.end(), std::uint16_t{0});
}

TreeAdvance TreeMargins::advance(const float* up, const float* down, int n_leaves,
                                     const float* signs, int exponent, int mass_exponent) {
  const int padded = slots().padded(), k = n_classes();
  std::vector<float> spread(at(std::int64_t{n_leaves} * padded), 1.0F);
  std::vector<float> all_signs(at(padded), 1.0F), floors(at(padded), 0.0F);
  std::vector<int> slot_of(at(k));
  for (int c = 0; c < k; ++c) {
    const int slot = slot_of[at(c)] = slots().of_class(c);
    all_signs[at(slot)] = signs[c];
    floors[at(slot)] = kSmallestRatio;
  }
  for (std::int64_t q = 0; q < n_leaves; ++q) {
    float* of_leaf = spread.data() + q * padded;
    for (int c = 0; c < k; ++c) of_leaf[slot_of[at(c)]] = *up++;
  }
  std::atomic<std::int64_t> wrong{0}, loss{0};
  for_spans([&](std::int64_t begin, std::int64_t end, int label, int) {
    TreeStep step;
    step.up = spread.data();
    step.down = down + label;
    step.down_stride = k;
    step.signs = all_signs.data();
    step.floors = floors.data();
    step.scale = std::ldexp(1.0F, exponent);
    step.mass_scale = std::ldexp(1.0F, mass_exponent);
    step.loss_scale = std::ldexp(1.0, mass_exponent + kLossBits);
    const TreeAdvance found = tree_kernels().advance(rows_of(label), begin, end, label, step);
    wrong += found.wrong;
    loss += found.loss;
  }, "advance");
  return {wrong, loss};
}

void TreeMargins::leaf_sums(std::int64_t n_ranges,
                            const std::function<void(std::int64_t, std::int64_t)>& write,
                            int n_leaves, int exponent, double* own, double* against) {
  const int padded = slots().padded(), k = n_classes();
  const std::int64_t m = n_rows(), n_sums = std::int64_t{n_leaves} * k;
  const bool many = n_sums > kManySums;
  if (many) n_ranges = std::min<std::int64_t>(n_ranges, n_threads_);
  range_sums_.resize(at(n_ranges));
  parallel_for(n_ranges, n_threads_, [&](std::int64_t task, int) {
    const std::int64_t from = m * task / n_ranges, to = m * (task + 1) / n_ranges;
    RangeSums& part = range_sums_[at(task)];
    part.against.assign(at(std::int64_t{n_leaves} * padded), 0);
    part.own.clear();
    part.n_classes = 0;
    write(from, to);
    for_classes(from, to, [&](std::int64_t begin, std::int64_t end, int label) {
      if (part.n_classes == 0) part.first_class = label;
      part.n_classes = label - part.first_class + 1;
      part.own.resize(at(std::int64_t{part.n_classes} * n_leaves), 0.0);
      tree_kernels().leaf_sums(rows_of(label), begin, end, std::ldexp(1.0, exponent),
                               part.against.data(), part.own.data() + part.own.size() - at(n_leaves));
    });
  }, "leaf sums");
  // Whole numbers: any order of the ranges gives the same sums.
  const std::int64_t leaves_a_task = std::max<std::int64_t>(1, kSumsATask / (k * n_ranges));
  const int threads = n_sums * n_ranges < 2 * kSumsATask ? 1 : n_threads_;
  parallel_for((n_leaves + leaves_a_task - 1) / leaves_a_task, threads, [&](std::int64_t task, int) {
    const std::int64_t begin = task * leaves_a_task;
    const std::int64_t end = std::min<std::int64_t>(n_leaves, begin + leaves_a_task);
    std::fill(own + begin * k, own + end * k, 0.0);
    std::int32_t* sums = range_sums_[0].against.data();
    for (std::size_t r = 1; r < range_sums_.size(); ++r) {
      const std::int32_t* more = range_sums_[r].against.data();
      for (std::int64_t j = begin * padded; j < end * padded; ++j) sums[j] += more[j];
    }
    for (std::int64_t q = begin; q < end; ++q) {
      for (int c = 0; c < k; ++c) against[q * k + c] = sums[q * padded + slots().of_class(c)];
    }
    for (const RangeSums& part : range_sums_) {
      for (int c = 0; c < part.n_classes; ++c) {
        const double* of_class = part.own.data() + std::int64_t{c} * n_leaves;
        for (std::int64_t q = begin; q < end; ++q) own[q * k + part.first_class + c] += of_class[q];
      }
    }
  }, "add leaf sums");
  if (many) range_sums_.clear();
}

void TreeMargins::exponentials(std::span<const std::int64_t> rows, float* out) const {
  for (const std::int64_t i : rows) {
    const float* e = exponentials_.get() + i * slots().stored;
    for (int c = 0; c < n_classes(); ++c) *out++ = e[slots().stored_at(c)];
  }
}

void TreeMargins::state(float* exponentials_out, std::int32_t* direction) const {
  std::vector<std::int64_t> all(at(n_rows()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  exponentials(all, exponentials_out);
  std::copy_n(direction_.get(), n_rows() * slots().lanes, direction);
}

}  // namespace marginboost
