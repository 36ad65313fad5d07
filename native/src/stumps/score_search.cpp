// Stump searches by other criteria than the largest edge, and the projection of the direction.
#include <vector>

#include "stumps/stump_plan.hpp"
#include "stumps/stump_scan.hpp"

namespace marginboost {

StumpChoice StumpShard::highest_score_stump(Criterion criterion) const {
  StumpPlan plan = plan_stumps();
  const int tiles = plan.direction.lanes.tiles;
  const int lanes = plan.direction.lanes.lanes;
  plan.share_no_rows(rows_.n_rows, tiles);
  const int threads = threads_for(rows_.n_rows * data_.bins.n_features * tiles);
  std::vector<StumpChoice> found(static_cast<std::size_t>(plan.n_blocks));
  std::vector<Buffer<std::int32_t>> scratch(static_cast<std::size_t>(threads));
  parallel_for(plan.n_blocks, threads, [&](std::int64_t block, int slot) {
    auto& mine = scratch[static_cast<std::size_t>(slot)];
    if (!mine) mine = allocate<std::int32_t>(plan.features_per_task * plan.cells);
    const auto first = plan.task(block * tiles, data_.bins.n_features, tiles);
    std::vector<std::vector<std::int64_t>> scores(static_cast<std::size_t>(first.n_features));
    for (int tile = 0; tile < tiles; ++tile) {
      fill_histograms(plan, block * tiles + tile, mine.get(), false);
      const std::int32_t* total = plan.direction.totals + tile * lanes;
      for (int f = 0; f < first.n_features; ++f) {
        auto& of_feature = scores[static_cast<std::size_t>(f)];
        const int feature = first.first_feature + f;
        of_feature.resize(static_cast<std::size_t>(n_bins(feature) - 1), 0);
        const std::int32_t* hist = mine.get() + f * plan.cells;
        add_scores({hist, total, lanes, n_bins(feature), feature, tile * lanes}, criterion,
                   of_feature.data());
      }
    }
    StumpChoice& best = found[static_cast<std::size_t>(block)];
    for (int f = 0; f < first.n_features; ++f) {
      offer_scores(first.first_feature + f, scores[static_cast<std::size_t>(f)], best);
    }
  });
  StumpChoice best;
  for (const StumpChoice& choice : found) {
    if (better(choice, best)) best = choice;
  }
  return best;
}

std::vector<StumpChoice> StumpShard::best_stumps() const {
  StumpPlan plan = plan_stumps();
  const int tiles = plan.direction.lanes.tiles;
  const int lanes = plan.direction.lanes.lanes;
  plan.share_no_rows(rows_.n_rows, tiles);
  const int threads = threads_for(rows_.n_rows * data_.bins.n_features * tiles);
  std::vector<std::vector<StumpChoice>> found(static_cast<std::size_t>(plan.n_tasks));
  std::vector<Buffer<std::int32_t>> scratch(static_cast<std::size_t>(threads));
  parallel_for(plan.n_tasks, threads, [&](std::int64_t number, int slot) {
    auto& mine = scratch[static_cast<std::size_t>(slot)];
    if (!mine) mine = allocate<std::int32_t>(plan.features_per_task * plan.cells);
    fill_histograms(plan, number, mine.get(), false);
    const auto task = plan.task(number, data_.bins.n_features, tiles);
    auto& best = found[static_cast<std::size_t>(number)];
    best.resize(static_cast<std::size_t>(lanes));
    const std::int32_t* total = plan.direction.totals + task.tile * lanes;
    for (int f = 0; f < task.n_features; ++f) {
      const int feature = task.first_feature + f;
      offer_each({mine.get() + f * plan.cells, total, lanes, n_bins(feature), feature,
                  task.tile * lanes},
                 best.data());
    }
  });
  std::vector<StumpChoice> stumps(static_cast<std::size_t>(plan.direction.n_outputs));
  for (const auto& of_task : found) {
    for (const StumpChoice& choice : of_task) {
      if (choice.feature < 0 || choice.output >= plan.direction.n_outputs) continue;
      StumpChoice& best = stumps[static_cast<std::size_t>(choice.output)];
      if (better(choice, best)) best = choice;
    }
  }
  return stumps;
}

StumpShard::Direction StumpShard::direction() const {
  if (projecting_) return {projected_.get(), projected_totals_.data(), Lanes::of(1), 1};
  return {direction_.get(), totals_.data(), rows_.lanes, rows_.n_outputs};
}

void StumpShard::project(const std::vector<std::int8_t>& signs) {
  const Lanes to = Lanes::of(1);
  const std::int64_t m = rows_.n_rows;
  const int lanes = rows_.lanes.lanes;
  if (!projected_) projected_ = allocate<std::int32_t>(m * to.padded());
  projected_totals_.assign(static_cast<std::size_t>(to.padded()), 0);
  const std::int64_t chunk = rows_per_task();
  parallel_for((m + chunk - 1) / chunk, threads_for(m * rows_.n_outputs),
               [&](std::int64_t task, int) {
    const std::int64_t end = std::min(m, (task + 1) * chunk);
    for (std::int64_t i = task * chunk; i < end; ++i) {
      std::int32_t sum = 0;
      for (int c = 0; c < rows_.n_outputs; ++c) {
        const std::int32_t g = direction_[static_cast<std::size_t>(((c / lanes) * m + i) * lanes + c % lanes)];
        sum += signs[static_cast<std::size_t>(c)] * g;
      }
      std::int32_t* cell = projected_.get() + i * to.padded();
      std::fill_n(cell, to.padded(), 0);
      cell[0] = sum;
    }
  });
  for (std::int64_t i = 0; i < m; ++i) projected_totals_[0] += projected_[static_cast<std::size_t>(i * to.padded())];
  projecting_ = true;
}

std::vector<std::int64_t> StumpShard::edges() const {
  const std::int64_t m = rows_.n_rows;
  const int lanes = rows_.lanes.lanes;
  std::vector<std::int64_t> edges(static_cast<std::size_t>(rows_.lanes.padded()), 0);
  for (int tile = 0; tile < rows_.lanes.tiles; ++tile) {
    std::int64_t* into = edges.data() + tile * lanes;
    const std::int32_t* from = direction_.get() + tile * m * lanes;
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t h = side_[static_cast<std::size_t>(i)] ? 1 : -1;
      for (int lane = 0; lane < lanes; ++lane) into[lane] += h * from[i * lanes + lane];
    }
  }
  edges.resize(static_cast<std::size_t>(rows_.n_outputs));
  return edges;
}

}  // namespace marginboost
