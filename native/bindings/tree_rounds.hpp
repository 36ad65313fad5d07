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

/// What all rounds of a fit have in common, but how trees grow: checked, with arrays of its own.
class BoundRules {
 public:
  BoundRules(double pseudo_count, bool normalized, double n_pairs, double row_mass, double factor,
             double most_step, double eta, const Input<double, 1>& class_counts,
             const Input<double, 1>& class_mass, const Input<std::int64_t, 1>& lanes)
      : class_counts_(copied_from(class_counts)),
        class_mass_(copied_from(class_mass)),
        lanes_(copied_from(lanes)) {
    require(pseudo_count >= 0.0, "pseudo_count must not be negative.");
    require(class_counts_.size() == lanes_.size() && class_mass_.size() == lanes_.size(),
            "class_counts, class_mass and lanes must have one entry per class.");
    require(std::all_of(lanes_.begin(), lanes_.end(),
                        [](std::int64_t lane) { return lane >= 0 && lane < 1024; }),
            "lanes must be from 0 to 1023.");
    rules_.pseudo_count = pseudo_count;
    rules_.normalized = normalized;
    rules_.n_pairs = n_pairs;
    rules_.row_mass = row_mass;
    rules_.factor = factor;
    rules_.most_step = most_step;
    rules_.eta = eta;
  }

  std::size_t n_classes() const { return lanes_.size(); }
  /// Reads this object's arrays.
  RoundRules rules() const {
    RoundRules rules = rules_;
    rules.class_counts = class_counts_;
    rules.class_mass = class_mass_;
    rules.lanes = lanes_;
    return rules;
  }

 private:
  template <class T>
  static std::vector<T> copied_from(const Input<T, 1>& values) {
    return {values.data(), values.data() + values.size()};
  }

  std::vector<double> class_counts_, class_mass_;
  std::vector<std::int64_t> lanes_;
  RoundRules rules_;
};

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
