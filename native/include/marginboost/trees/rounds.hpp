// Several rounds of boosting in one call: for small data, where the messages between the rounds would
// take longer than the rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "marginboost/coefficients/leaf_step.hpp"
#include "marginboost/trees/shard.hpp"

namespace marginboost {

/// What all rounds of a fit have in common.
struct RoundRules {
  std::int32_t least_count = 1;
  GrowthRules growth;
  double pseudo_count = 1.0;
  bool normalized = false;  ///< whether the pseudo-count follows the mean weight of a pair
  double n_pairs = 1.0;     ///< pairs of a row and another class, by weight
  double row_mass = 1.0;    ///< the sum of the rows' weights
  double factor = 0.5;      ///< of the logarithm in a leaf's coefficients
  double most_step = 10.0;
  double eta = 0.1;
  std::span<const double> class_counts;
  std::span<const double> class_mass;
  std::span<const std::int64_t> lanes;
  int n_threads = 1;
};

/// What a round draws.
struct RoundDraw {
  std::span<const std::int32_t> features;
  RowSample sample;
  std::span<const float> signs;  ///< of the classes in the next direction
};

/// What a round leaves to the next.
struct RoundState {
  int sum_exponent = 0;
  double mass = 0.0;       ///< a bound on the sum of all weights
  double mass_unit = 1.0;  ///< the smallest step of the masses that a search sees
  double gain_unit = 1.0;  ///< a gain of 1 in the units of the next search, as a share of all weights
};

/// What a tree's sums say of its round.
struct RoundStep {
  bool moves = false;  ///< whether any coefficient is not 0; if none is, nothing of the state has changed
  int exponent = 0;    ///< of the next direction
  int mass_exponent = 0;
};

/// The numbers of one round after the other, for a shard or for all shards of a cluster.
class RoundNumbers {
 public:
  RoundNumbers(const RoundRules& rules, const RoundState& state) : rules_(rules), state_(state) {}

  const RoundState& state() const { return state_; }
  /// Of the next tree's search.
  double smoothing() const;
  /// Whether what a tree gains is worth a round, beyond doubt.
  bool gains_anything(std::span<const double> gains) const;
  /// The step of a tree's leaves by their sums, in units of 2^-sum_exponent, and what it does to the
  /// weights; all leaves x classes.
  RoundStep step(std::span<const double> own, std::span<const double> against, std::span<double> step,
                 std::span<float> up, std::span<float> down);
  /// By the sum of losses after the step.
  double mean_loss(std::int64_t loss, int mass_exponent) const;
  /// Whether weights are too small to go on.
  bool is_spent() const;

 private:
  RoundRules rules_;
  RoundState state_;
};

/// Leaves new elements as they are: to clear them first would take memory in before it is needed.
template <class T>
struct AsItIs : std::allocator<T> {
  AsItIs() = default;
  template <class Other>
  AsItIs(const AsItIs<Other>&) noexcept {}
  template <class Other>
  struct rebind {
    using other = AsItIs<Other>;
  };
  template <class Other>
  void construct(Other* p) {
    ::new (static_cast<void*>(p)) Other;
  }
};

/// Rounds, the arrays of all one after the other.
struct BoostedRounds {
  std::vector<std::int64_t> n_splits;  ///< of each round's tree
  std::vector<std::int32_t> feature, bin, left, right;  ///< as in GrownTree
  std::vector<double> gain;
  std::vector<double, AsItIs<double>> step;  ///< coefficients, shortened; leaves x classes
  std::vector<double> gain_unit;  ///< of each round, for its gains
  std::vector<std::int64_t> wrong;
  std::vector<double> mean_loss;
};

/// A round for each draw, after the first direction. Ends early before a round that needs a decision:
/// whose tree has no split, gains nothing or has no step; and after one that leaves weights too small
/// to go on.
BoostedRounds boost_rounds(TreeShard& shard, const RoundRules& rules,
                           std::span<const RoundDraw> draws, RoundState& state);

}  // namespace marginboost
