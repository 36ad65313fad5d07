// The stump with the largest edge: histograms of the direction, a few features at a time, each
// scanned while it is still in cache. Nothing of the size of features x bins x outputs is ever kept.
#include <cstring>
#include <vector>

#include "stumps/stump_plan.hpp"
#include "stumps/stump_scan.hpp"

namespace marginboost {

StumpShard::StumpPlan StumpShard::plan_stumps() const {
  constexpr std::int64_t kCacheCells = (512 << 10) / sizeof(std::int32_t);  // half of a common L2
  constexpr int kMostFeatures = 16;
  StumpPlan plan;
  const int d = data_.bins.n_features;
  plan.direction = direction();
  const int tiles = plan.direction.lanes.tiles;
  const int most_bins = *std::max_element(data_.n_bins.begin(), data_.n_bins.end());
  plan.cells = std::int64_t{most_bins} * plan.direction.lanes.lanes;
  const std::int64_t fit = std::clamp<std::int64_t>(kCacheCells / plan.cells, 1, kMostFeatures);
  const int most_tasks = n_threads_ == 1 ? 1 : 2 * n_threads_;
  const std::int64_t fair = (std::int64_t{d} * tiles + most_tasks - 1) / most_tasks;
  plan.features_per_task = static_cast<int>(std::clamp<std::int64_t>(fair, 1, fit));
  if (plan.features_per_task > kFeaturesAtOnce) {
    plan.features_per_task -= plan.features_per_task % kFeaturesAtOnce;
  } else if (std::int64_t{d} * tiles >= std::int64_t{n_threads_} * kFeaturesAtOnce) {
    plan.features_per_task = static_cast<int>(std::min<std::int64_t>(kFeaturesAtOnce, fit));
  }
  plan.n_blocks = (d + plan.features_per_task - 1) / plan.features_per_task;
  const std::int64_t base = std::int64_t{plan.n_blocks} * tiles;
  // Sharing the rows costs one more histogram a share to clear and add up.
  const std::int64_t most_shares = std::max<std::int64_t>(1, rows_.n_rows / (8 * most_bins + 4096));
  if (base < n_threads_) {
    plan.n_shares = static_cast<int>(std::min((2 * n_threads_ + base - 1) / base, most_shares));
  }
  plan.rows_per_share = (rows_.n_rows + plan.n_shares - 1) / plan.n_shares;
  plan.n_tasks = base * plan.n_shares;
  return plan;
}

void StumpShard::fill_histograms(const StumpPlan& plan, std::int64_t number, std::int32_t* scratch,
                            bool bare) const {
  const auto task = plan.task(number, data_.bins.n_features, plan.direction.lanes.tiles);
  const int lanes = plan.direction.lanes.lanes;
  for (int f = 0; f < task.n_features; ++f) {
    const auto bins = static_cast<std::size_t>(data_.n_bins[static_cast<std::size_t>(task.first_feature + f)]);
    std::memset(scratch + f * plan.cells, 0, bins * static_cast<std::size_t>(lanes) * sizeof(std::int32_t));
  }
  const std::int32_t* tile =
      plan.direction.values + std::int64_t{task.tile} * rows_.n_rows * lanes;
  const std::int64_t first = task.share * plan.rows_per_share;
  const std::int64_t last = std::min(rows_.n_rows, first + plan.rows_per_share);
  for (std::int64_t begin = first; begin < last; begin += row_block_) {
    const std::int64_t count = std::min(row_block_, last - begin);
    for (int f = 0; f < task.n_features; f += kFeaturesAtOnce) {
      const int n = std::min(kFeaturesAtOnce, task.n_features - f);
      std::int32_t* hist[kFeaturesAtOnce] = {};
      const std::uint8_t* narrow[kFeaturesAtOnce] = {};
      const std::uint16_t* wide[kFeaturesAtOnce] = {};
      for (int j = 0; j < n; ++j) {
        hist[j] = scratch + (f + j) * plan.cells;
        const std::int64_t at = (task.first_feature + f + j) * rows_.n_rows + begin;
        if (data_.bins.narrow) narrow[j] = data_.bins.narrow + at;
        if (data_.bins.wide) wide[j] = data_.bins.wide + at;
      }
      if (bare) {
        kernels().bare_add(tile + begin * lanes, lanes, n, count, hist);
      } else if (data_.bins.narrow) {
        kernels().histogram8(tile + begin * lanes, lanes, narrow, n, count, hist);
      } else {
        kernels().histogram16(tile + begin * lanes, lanes, wide, n, count, hist);
      }
    }
  }
}

StumpChoice StumpShard::scan_histograms(const StumpPlan& plan, std::int64_t number,
                                   const std::int32_t* scratch) const {
  const auto task = plan.task(number, data_.bins.n_features, plan.direction.lanes.tiles);
  const int lanes = plan.direction.lanes.lanes;
  const std::int32_t* total = plan.direction.totals + task.tile * lanes;
  StumpChoice best;
  for (int f = 0; f < task.n_features; ++f) {
    const int feature = task.first_feature + f;
    offer_largest({scratch + f * plan.cells, total, lanes, n_bins(feature), feature,
                   task.tile * lanes},
                  best);
  }
  return best;
}

StumpChoice StumpShard::best_stump(Criterion criterion) const {
  return criterion == Criterion::largest ? largest_edge_stump() : highest_score_stump(criterion);
}

template <class Consume>
void StumpShard::for_histograms(const StumpPlan& plan, const Consume& consume) const {
  const std::int64_t per_task = plan.features_per_task * plan.cells;
  const int threads = threads_for(rows_.n_rows * data_.bins.n_features * plan.direction.lanes.tiles);
  if (plan.n_shares == 1) {
    std::vector<Buffer<std::int32_t>> scratch(static_cast<std::size_t>(threads));
    parallel_for(plan.n_tasks, threads, [&](std::int64_t task, int slot) {
      auto& mine = scratch[static_cast<std::size_t>(slot)];
      if (!mine) mine = allocate<std::int32_t>(per_task);
      fill_histograms(plan, task, mine.get(), false);
      consume(task, mine.get());
    });
    return;
  }
  const Buffer<std::int32_t> scratch = allocate<std::int32_t>(plan.n_tasks * per_task);
  parallel_for(plan.n_tasks, threads, [&](std::int64_t task, int) {
    fill_histograms(plan, task, scratch.get() + task * per_task, false);
  });
  parallel_for(plan.n_tasks / plan.n_shares, threads, [&](std::int64_t group, int) {
    std::int32_t* whole = scratch.get() + group * plan.n_shares * per_task;
    const auto task =
        plan.task(group * plan.n_shares, data_.bins.n_features, plan.direction.lanes.tiles);
    for (int share = 1; share < plan.n_shares; ++share) {
      for (int f = 0; f < task.n_features; ++f) {
        const std::int64_t at = f * plan.cells;
        const std::int64_t cells =
            std::int64_t{n_bins(task.first_feature + f)} * plan.direction.lanes.lanes;
        const std::int32_t* part = whole + share * per_task + at;
        for (std::int64_t c = 0; c < cells; ++c) whole[at + c] = wrapping_add(whole[at + c], part[c]);
      }
    }
    consume(group * plan.n_shares, whole);
  });
}

StumpChoice StumpShard::largest_edge_stump() const {
  const StumpPlan plan = plan_stumps();
  std::vector<StumpChoice> found(static_cast<std::size_t>(plan.n_tasks / plan.n_shares));
  for_histograms(plan, [&](std::int64_t task, const std::int32_t* cells) {
    found[static_cast<std::size_t>(task / plan.n_shares)] = scan_histograms(plan, task, cells);
  });
  StumpChoice best;
  for (const StumpChoice& choice : found) {
    if (better(choice, best)) best = choice;
  }
  return best;
}

void StumpShard::histograms(std::int32_t* out) const {
  const StumpPlan plan = plan_stumps();
  const int lanes = plan.direction.lanes.lanes, n_outputs = plan.direction.n_outputs;
  for_histograms(plan, [&](std::int64_t number, const std::int32_t* cells) {
    const auto task = plan.task(number, data_.bins.n_features, plan.direction.lanes.tiles);
    const int first = task.tile * lanes, width = std::min(lanes, n_outputs - first);
    for (int f = 0; f < task.n_features; ++f) {
      const int feature = task.first_feature + f;
      const std::int32_t* from = cells + f * plan.cells;
      std::int32_t* to = out + bins_before(feature) * n_outputs + first;
      for (std::int64_t b = 0; b < n_bins(feature); ++b) {
        std::copy_n(from + b * lanes, width, to + b * n_outputs);
      }
    }
  });
}

void StumpShard::run_histograms(bool bare) const {
  const StumpPlan plan = plan_stumps();
  std::vector<Buffer<std::int32_t>> scratch(static_cast<std::size_t>(n_threads_));
  parallel_for(plan.n_tasks, n_threads_, [&](std::int64_t task, int slot) {
    auto& mine = scratch[static_cast<std::size_t>(slot)];
    const std::int64_t cells = std::max<std::int64_t>(plan.cells, 16 * plan.direction.lanes.lanes);
    if (!mine) mine = allocate<std::int32_t>(plan.features_per_task * cells);
    fill_histograms(plan, task, mine.get(), bare);
  });
}

}  // namespace marginboost
