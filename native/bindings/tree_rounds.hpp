// Rounds of boosting for Python: checked draws in, arrays of all rounds out.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "marginboost/trees/rounds.hpp"

namespace marginboost {

/// What Python draws for some rounds: one row each.
struct DrawnRounds {
  const Input<std::int32_t, 2>& features;
  const Input<std::uint64_t, 1>& seeds;
  std::uint64_t limit;
  const Input<float, 2>& signs;
};

inline std::vector<RoundDraw> checked_draws(const DrawnRounds& drawn, const TreeShard& shard) {
  const std::size_t n = drawn.seeds.shape(0), d = drawn.features.shape(1), k = drawn.signs.shape(1);
  require(drawn.features.shape(0) == n && drawn.signs.shape(0) == n,
          "features and signs must have one row per round.");
  require(static_cast<int>(k) == shard.n_classes(), "signs must have one column per class.");
  std::vector<RoundDraw> draws;
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const std::int32_t> features(drawn.features.data() + i * d, d);
    std::int32_t last = -1;
    for (const std::int32_t f : features) {
      require(f > last && f < shard.n_features(), "features must ascend and be below n_features.");
      last = f;
    }
    draws.push_back({features, {drawn.seeds(i), drawn.limit}, {drawn.signs.data() + i * k, k}});
  }
  return draws;
}

inline nb::tuple rounds_of(BoostedRounds rounds, const RoundState& state) {
  return nb::make_tuple(array_of(std::move(rounds.n_splits)), array_of(std::move(rounds.feature)),
                        array_of(std::move(rounds.bin)), array_of(std::move(rounds.left)),
                        array_of(std::move(rounds.right)), array_of(std::move(rounds.gain)),
                        array_of(std::move(rounds.step)), array_of(std::move(rounds.gain_unit)),
                        array_of(std::move(rounds.wrong)), array_of(std::move(rounds.mean_loss)),
                        nb::make_tuple(state.sum_exponent, state.mass, state.mass_unit,
                                       state.gain_unit));
}

}  // namespace marginboost
