// Rounds of boosting for Python: checked draws in, arrays of all rounds out.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
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

/// All rounds' values of one kind, one after the other.
template <class T, class Part>
auto joined(const std::vector<BoostedRound>& rounds, const Part& part) {
  std::size_t n = 0;
  for (const BoostedRound& round : rounds) n += part(round).size();
  T* out;
  auto array = new_array<T>({n}, &out);
  for (const BoostedRound& round : rounds) out = std::copy(part(round).begin(), part(round).end(), out);
  return array;
}

template <class T, class Value>
auto one_each(const std::vector<BoostedRound>& rounds, const Value& value) {
  T* out;
  auto array = new_array<T>({rounds.size()}, &out);
  std::transform(rounds.begin(), rounds.end(), out, value);
  return array;
}

inline nb::tuple rounds_of(const std::vector<BoostedRound>& rounds, const RoundState& state) {
  const auto tree = [](auto member) {
    return [member](const BoostedRound& round) -> const auto& { return round.tree.*member; };
  };
  const auto size = [](const BoostedRound& r) { return static_cast<std::int64_t>(r.tree.feature.size()); };
  return nb::make_tuple(
      one_each<std::int64_t>(rounds, size), joined<std::int32_t>(rounds, tree(&GrownTree::feature)),
      joined<std::int32_t>(rounds, tree(&GrownTree::bin)),
      joined<std::int32_t>(rounds, tree(&GrownTree::left)),
      joined<std::int32_t>(rounds, tree(&GrownTree::right)),
      joined<double>(rounds, tree(&GrownTree::gain)),
      joined<std::int32_t>(rounds, tree(&GrownTree::leaf_of_node)),
      joined<std::int64_t>(rounds, tree(&GrownTree::counts)),
      joined<double>(rounds, [](const BoostedRound& r) -> const auto& { return r.vectors; }),
      one_each<double>(rounds, [](const BoostedRound& r) { return r.gain_unit; }),
      one_each<std::int64_t>(rounds, [](const BoostedRound& r) { return r.wrong; }),
      one_each<double>(rounds, [](const BoostedRound& r) { return r.mean_loss; }),
      nb::make_tuple(state.sum_exponent, state.mass, state.mass_unit, state.gain_unit));
}

}  // namespace marginboost
