#include "marginboost/stumps/shard.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <new>
#include <type_traits>

#include "stumps/shard_parts.hpp"

namespace marginboost {

void StumpShard::Free::operator()(void* p) const {
  ::operator delete[](p, std::align_val_t{kAlignment});
}

StumpShard::StumpShard(StumpShardData data, Loss loss, int n_threads, std::int64_t row_block)
    : data_(std::move(data)), n_threads_(n_threads), row_block_(row_block) {
  bins_before_.push_back(0);
  for (const std::int32_t n_bins : data_.n_bins) bins_before_.push_back(bins_before_.back() + n_bins);
  rows_.n_rows = data_.bins.n_rows;
  rows_.margins = data_.code.empty();
  rows_.n_outputs = rows_.margins ? n_classes() : data_.n_outputs;
  rows_.lanes = Lanes::of(rows_.n_outputs);
  rows_.loss = loss;
  rows_.weight = data_.weight;
  rows_.multiplicity = data_.multiplicity;
  const std::int64_t padded = rows_.lanes.padded();
  if (!rows_.margins) {
    signs_.assign(static_cast<std::size_t>(n_classes() * padded), 0);
    for (std::int64_t cell = 0; cell < std::int64_t{n_classes()} * rows_.n_outputs; ++cell) {
      const std::int64_t row = cell / rows_.n_outputs, output = cell % rows_.n_outputs;
      signs_[static_cast<std::size_t>(row * padded + output)] =
          data_.code[static_cast<std::size_t>(cell)];
    }
    rows_.signs = signs_.data();
  }
  exponentials_ = allocate<double>(rows_.n_rows * rows_.n_outputs);
  direction_ = allocate<std::int32_t>(rows_.n_rows * padded);
  // Padding lanes are never written again, and must not have an edge.
  std::fill_n(direction_.get(), rows_.n_rows * padded, 0);
  side_ = allocate<std::uint8_t>(rows_.n_rows);
  rows_.exponentials = exponentials_.get();
  rows_.direction = direction_.get();
  rows_.side = side_.get();
  totals_.assign(static_cast<std::size_t>(padded), 0);
  restart();
}

void StumpShard::restart() {
  const int n = rows_.n_outputs;
  std::fill_n(exponentials_.get(), rows_.n_rows * n, 1.0);
  std::fill_n(side_.get(), rows_.n_rows, std::uint8_t{0});
  projecting_ = false;
  for_class_spans(0, rows_.n_rows, [&](RowSpan span) {
    for (int c = 0; c < n; ++c) {
      const bool counts = rows_.margins ? c != span.label : data_.code[static_cast<std::size_t>(span.label * n + c)] != 0;
      if (counts) continue;
      for (std::int64_t i = span.begin; i < span.end; ++i) {
        exponentials_[static_cast<std::size_t>(i * n + c)] = kSmallestExponential;
      }
    }
  });
}

// A row's factors depend on its class and side alone: a table of two vectors a class.
std::vector<double> StumpShard::class_factors(const Step& step, int label) const {
  const std::int64_t n = rows_.n_outputs;
  std::vector<double> table(static_cast<std::size_t>(2 * n));
  for (std::int64_t s = 0; s < 2; ++s) {
    double* row = table.data() + s * n;
    if (step.table) {
      std::copy_n(step.table + (s * n_classes() + label) * n, n, row);
      continue;
    }
    const double own = step.down[s * n + label];
    for (std::int64_t c = 0; c < n; ++c) row[c] = step.up[s * n + c] * own;
    row[label] = 1.0;
  }
  return table;
}

std::int64_t StumpShard::rows_per_task() const {
  // Enough tasks to even out the threads, each long enough to be worth handing over.
  const std::int64_t fair = (rows_.n_rows + 8 * n_threads_ - 1) / (8 * n_threads_);
  return std::max<std::int64_t>({1, fair, kSmallWork / rows_.n_outputs});
}

int StumpShard::threads_for(std::int64_t work) const { return work < kSmallWork ? 1 : n_threads_; }

std::int64_t StumpShard::advance(const Step& step, int exponent) {
  const double scale = std::ldexp(1.0, exponent);
  projecting_ = false;
  std::fill(totals_.begin(), totals_.end(), 0);
  std::int64_t errors = 0;
  std::mutex mutex;
  const std::int64_t chunk = rows_per_task();
  const std::int64_t n_tasks = (rows_.n_rows + chunk - 1) / chunk;
  parallel_for(n_tasks, threads_for(rows_.n_rows * rows_.n_outputs), [&](std::int64_t task, int) {
    std::vector<std::int32_t> totals(totals_.size(), 0);
    std::int64_t wrong = 0;
    for_class_spans(task * chunk, std::min(rows_.n_rows, (task + 1) * chunk), [&](RowSpan span) {
      const std::vector<double> table = class_factors(step, span.label);
      wrong += kernels().advance(rows_, span, {table.data(), rows_.n_outputs}, scale,
                                 totals.data());
    });
    const std::lock_guard<std::mutex> hold(mutex);
    errors += wrong;
    for (std::size_t j = 0; j < totals.size(); ++j) totals_[j] = wrapping_add(totals_[j], totals[j]);
  });
  return errors;
}

void StumpShard::advance_output(int output, const double* table) {
  for_class_spans(0, rows_.n_rows, [&](RowSpan span) {
    for (std::int64_t i = span.begin; i < span.end; ++i) {
      double& e = exponentials_[static_cast<std::size_t>(i * rows_.n_outputs + output)];
      const double moved = e * table[side_[static_cast<std::size_t>(i)] * n_classes() + span.label];
      e = std::min(std::max(moved, kSmallestExponential), kLargestExponential);
    }
  });
}

void StumpShard::set_exponentials(const double* exponentials) {
  const std::int64_t count = rows_.n_rows * rows_.n_outputs;
  std::transform(exponentials, exponentials + count, exponentials_.get(), [](double e) {
    return std::min(std::max(e, kSmallestExponential), kLargestExponential);
  });
}

void StumpShard::sums(const Step& trial, int exponent, double* out, double* curvature) const {
  const std::int64_t k = n_classes(), n = rows_.n_outputs;
  const bool moves = trial.up || trial.table;
  const double scale = std::ldexp(1.0, exponent);
  const double unit = std::ldexp(1.0, -exponent);
  std::fill_n(out, 2 * k * n, 0.0);
  if (curvature) std::fill_n(curvature, 2 * k * n, 0.0);
  std::mutex mutex;
  const std::int64_t chunk = rows_per_task();
  const std::int64_t n_tasks = (rows_.n_rows + chunk - 1) / chunk;
  parallel_for(n_tasks, threads_for(rows_.n_rows * n), [&](std::int64_t task, int) {
    std::vector<double> first(static_cast<std::size_t>(2 * n));
    std::vector<double> second(curvature ? first.size() : 0);
    for_class_spans(task * chunk, std::min(rows_.n_rows, (task + 1) * chunk), [&](RowSpan span) {
      std::fill(first.begin(), first.end(), 0.0);
      std::fill(second.begin(), second.end(), 0.0);
      const std::vector<double> table =
          moves ? class_factors(trial, span.label) : std::vector<double>();
      kernels().sum(rows_, span, {moves ? table.data() : nullptr, n}, scale, first.data(),
                    curvature ? second.data() : nullptr, n);
      // Whole numbers below 2^53: the order in which tasks arrive here does not matter.
      const std::lock_guard<std::mutex> hold(mutex);
      for (std::int64_t s = 0; s < 2; ++s) {
        for (std::int64_t c = 0; c < n; ++c) {
          const std::int64_t cell = (s * k + span.label) * n + c;
          out[cell] += first[static_cast<std::size_t>(s * n + c)] * unit;
          if (curvature) curvature[cell] += second[static_cast<std::size_t>(s * n + c)] * unit;
        }
      }
    });
  });
}

void StumpShard::place_stump(int feature, int bin, bool above_is_one) {
  const std::int64_t m = rows_.n_rows;
  std::uint8_t* side = side_.get();
  const std::uint8_t above = above_is_one ? 1 : 0;
  visit_column(data_.bins, feature, [&](auto* column) {
    const std::int64_t chunk = std::int64_t{1} << 18;
    parallel_for((m + chunk - 1) / chunk, n_threads_, [&](std::int64_t task, int) {
      // Copies: a byte store may alias what the lambda holds by reference, and nothing vectorises.
      const std::int64_t begin = task * chunk, n = std::min(m, begin + chunk) - begin;
      const auto* const from = column + begin;
      std::uint8_t* const to = side + begin;
      using Bin = std::remove_cvref_t<decltype(*column)>;
      const auto limit = static_cast<Bin>(bin);
      const auto flip = static_cast<std::uint8_t>(1 - above);
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<std::uint8_t>((from[i] > limit ? 1 : 0) ^ flip);
      }
    });
  });
}

void StumpShard::place_tree(const TreeView& tree) {
  const std::int64_t m = rows_.n_rows;
  const auto walk = [&](const auto* bins, std::int64_t i) {
    std::int32_t node = tree.feature.empty() ? ~0 : 0;
    while (node >= 0) {
      const auto q = static_cast<std::size_t>(node);
      node = bins[tree.feature[q] * m + i] <= tree.bin[q] ? tree.left[q] : tree.right[q];
    }
    return tree.leaf_side[static_cast<std::size_t>(~node)];
  };
  const std::int64_t chunk = std::int64_t{1} << 15;
  parallel_for((m + chunk - 1) / chunk, n_threads_, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(m, (task + 1) * chunk);
    for (std::int64_t i = task * chunk; i < end; ++i) {
      side_[static_cast<std::size_t>(i)] =
          data_.bins.narrow ? walk(data_.bins.narrow, i) : walk(data_.bins.wide, i);
    }
  });
}

}  // namespace marginboost
