#include "marginboost/shard.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <new>

#include "shard_parts.hpp"

namespace marginboost {

void Shard::Free::operator()(void* p) const {
  ::operator delete[](p, std::align_val_t{kAlignment});
}

Shard::Shard(ShardData data, Loss loss, int n_threads, std::int64_t row_block)
    : data_(std::move(data)), n_threads_(n_threads), row_block_(row_block) {
  rows_.n_rows = data_.bins.n_rows;
  rows_.n_classes = static_cast<int>(data_.class_offsets.size()) - 1;
  rows_.lanes = Lanes::of(rows_.n_classes);
  rows_.loss = loss;
  rows_.weight = data_.weight;
  rows_.multiplicity = data_.multiplicity;
  exponentials_ = allocate<double>(rows_.n_rows * rows_.n_classes);
  direction_ = allocate<std::int32_t>(rows_.n_rows * rows_.lanes.padded());
  // Padding lanes are never written again, and must not have an edge.
  std::fill_n(direction_.get(), rows_.n_rows * rows_.lanes.padded(), 0);
  side_ = allocate<std::uint8_t>(rows_.n_rows);
  rows_.exponentials = exponentials_.get();
  rows_.direction = direction_.get();
  rows_.side = side_.get();
  totals_.assign(static_cast<std::size_t>(rows_.lanes.padded()), 0);
  restart();
}

void Shard::restart() {
  const int k = rows_.n_classes;
  std::fill_n(exponentials_.get(), rows_.n_rows * k, 1.0);
  std::fill_n(side_.get(), rows_.n_rows, std::uint8_t{0});
  for_class_spans(0, rows_.n_rows, [&](RowSpan span) {
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      exponentials_[static_cast<std::size_t>(i * k + span.label)] = kSmallestExponential;
    }
  });
}

// A row's factors depend on its class and side alone: a table of n_sides vectors a class.
std::vector<double> Shard::class_factors(const double* up, const double* down, int n_sides,
                                         int label) const {
  const int k = rows_.n_classes;
  std::vector<double> table(static_cast<std::size_t>(n_sides) * static_cast<std::size_t>(k));
  for (int s = 0; s < n_sides; ++s) {
    const double own = down[s * k + label];
    for (int r = 0; r < k; ++r) {
      table[static_cast<std::size_t>(s * k + r)] = up[s * k + r] * own;
    }
    table[static_cast<std::size_t>(s * k + label)] = 1.0;
  }
  return table;
}

std::int64_t Shard::rows_per_task() const {
  // Enough tasks to even out the threads, each long enough to be worth handing over.
  const std::int64_t fair = (rows_.n_rows + 8 * n_threads_ - 1) / (8 * n_threads_);
  return std::max<std::int64_t>({1, fair, kSmallWork / rows_.n_classes});
}

int Shard::threads_for(std::int64_t work) const { return work < kSmallWork ? 1 : n_threads_; }

std::int64_t Shard::advance(const double* up, const double* down, int n_sides, int exponent) {
  const double scale = std::ldexp(1.0, exponent);
  std::fill(totals_.begin(), totals_.end(), 0);
  std::int64_t errors = 0;
  std::mutex mutex;
  const std::int64_t chunk = rows_per_task();
  const std::int64_t n_tasks = (rows_.n_rows + chunk - 1) / chunk;
  parallel_for(n_tasks, threads_for(rows_.n_rows * rows_.n_classes), [&](std::int64_t task, int) {
    std::vector<std::int32_t> totals(totals_.size(), 0);
    std::int64_t wrong = 0;
    for_class_spans(task * chunk, std::min(rows_.n_rows, (task + 1) * chunk), [&](RowSpan span) {
      const std::vector<double> table = class_factors(up, down, n_sides, span.label);
      wrong += kernels().advance(rows_, span, {table.data(), rows_.n_classes}, scale,
                                 totals.data());
    });
    const std::lock_guard<std::mutex> hold(mutex);
    errors += wrong;
    for (std::size_t j = 0; j < totals.size(); ++j) totals_[j] = wrapping_add(totals_[j], totals[j]);
  });
  return errors;
}

void Shard::sums(const double* up, const double* down, int n_sides, int exponent, double* out,
                 double* curvature) const {
  const std::int64_t k = rows_.n_classes;
  const double scale = std::ldexp(1.0, exponent);
  const double unit = std::ldexp(1.0, -exponent);
  std::fill_n(out, n_sides * k * k, 0.0);
  if (curvature) std::fill_n(curvature, n_sides * k * k, 0.0);
  std::mutex mutex;
  const std::int64_t chunk = rows_per_task();
  const std::int64_t n_tasks = (rows_.n_rows + chunk - 1) / chunk;
  parallel_for(n_tasks, threads_for(rows_.n_rows * k), [&](std::int64_t task, int) {
    std::vector<double> first(static_cast<std::size_t>(n_sides * k));
    std::vector<double> second(curvature ? first.size() : 0);
    for_class_spans(task * chunk, std::min(rows_.n_rows, (task + 1) * chunk), [&](RowSpan span) {
      std::fill(first.begin(), first.end(), 0.0);
      std::fill(second.begin(), second.end(), 0.0);
      const std::vector<double> table =
          up ? class_factors(up, down, n_sides, span.label) : std::vector<double>();
      kernels().sum(rows_, span, {up ? table.data() : nullptr, k}, scale, first.data(),
                    curvature ? second.data() : nullptr, k);
      // Whole numbers below 2^53: the order in which tasks arrive here does not matter.
      const std::lock_guard<std::mutex> hold(mutex);
      for (int s = 0; s < n_sides; ++s) {
        for (std::int64_t r = 0; r < k; ++r) {
          const std::int64_t cell = (s * k + span.label) * k + r;
          out[cell] += first[static_cast<std::size_t>(s * k + r)] * unit;
          if (curvature) curvature[cell] += second[static_cast<std::size_t>(s * k + r)] * unit;
        }
      }
    });
  });
}

void Shard::place_stump(int feature, int bin, bool above_is_one) {
  const std::int64_t m = rows_.n_rows;
  std::uint8_t* side = side_.get();
  const std::uint8_t above = above_is_one ? 1 : 0;
  visit_column(data_.bins, feature, [&](auto* column) {
    const std::int64_t chunk = std::int64_t{1} << 18;
    parallel_for((m + chunk - 1) / chunk, n_threads_, [&](std::int64_t task, int) {
      const std::int64_t end = std::min(m, (task + 1) * chunk);
      for (std::int64_t i = task * chunk; i < end; ++i) {
        side[i] = static_cast<std::uint8_t>((column[i] > bin) ? above : 1 - above);
      }
    });
  });
}

}  // namespace marginboost
