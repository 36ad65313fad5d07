#include "marginboost/trees/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace marginboost {
namespace {

// As on the host: see marginboost.boosting.tree_weights.
constexpr int kBits = 30, kMostExponent = 120;
constexpr double kSlack = 1.0 + 0x1p-20;
constexpr double kSpent = 0x1p-58;
constexpr double kLeastPseudoCount = 1e-30;
// Twice what the host takes for nothing: it decides.
constexpr double kNothing = 2e-12;

int fixed_point_exponent(double mass) {
  if (mass <= 0.0) return kMostExponent;
  int exponent;
  std::frexp(mass * kSlack, &exponent);
  return std::clamp(kBits - exponent, -kMostExponent, kMostExponent);
}

double pseudo_count(const RoundRules& rules, double mass) {
  const double half_mean = rules.normalized ? 2.0 * mass / rules.n_pairs : 1.0;
  return std::max(rules.pseudo_count * half_mean, kLeastPseudoCount);
}

// A sum of whole numbers of one unit: exact in any order.
double exact_sum(std::span<const double> values) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += values[i + j];
  }
  for (; i < values.size(); ++i) sums[0] += values[i];
  return std::accumulate(sums, sums + 8, 0.0);
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

BoostedRounds boost_rounds(TreeShard& shard, const RoundRules& rules,
                           std::span<const RoundDraw> draws, RoundState& state) {
  const auto k = static_cast<std::size_t>(shard.n_classes());
  BoostedRounds rounds;
  std::vector<double> own, against;
  std::vector<float> up, down;
  for (const RoundDraw& draw : draws) {
    const double smoothing =
        std::max(pseudo_count(rules, state.mass) / state.mass_unit, kLeastPseudoCount);
    const GrownTree tree =
        shard.grow_tree(draw.features, draw.sample,
                        {rules.least_count, static_cast<float>(smoothing)}, rules.growth);
    const double gain_unit = state.gain_unit;
    if (std::accumulate(tree.gain.begin(), tree.gain.end(), 0.0) * gain_unit <= kNothing) break;
    const std::size_t n_leaves = tree.counts.size(), n = n_leaves * k;
    own.resize(n);
    against.resize(n);
    shard.finish_tree(tree.leaf_of_node, static_cast<int>(n_leaves), state.sum_exponent, own.data(),
                      against.data());
    const double unit = std::ldexp(1.0, -state.sum_exponent);
    const double mass = exact_sum(own) * unit;
    const LeafSums sums{own, against, static_cast<std::int64_t>(k), unit};
    const std::size_t before = rounds.step.size();
    if (before == 0) rounds.step.reserve(n * draws.size());
    rounds.step.resize(before + n);
    up.resize(n);
    down.resize(n);
    const LeafBounds bounds{rules.class_counts, rules.class_mass, rules.lanes,
                            std::ldexp(0.5, -state.sum_exponent), !rules.normalized};
    const LeafRules leaf_rules{pseudo_count(rules, mass), rules.factor, rules.most_step, rules.eta};
    const auto [moves, masses] = short_step(sums, leaf_rules, bounds,
                                            std::span(rounds.step).subspan(before), up, down,
                                            rules.n_threads);
    if (!moves) {
      rounds.step.resize(before);
      break;
    }
    const int exponent = fixed_point_exponent(masses.largest_lane);
    const int mass_exponent = fixed_point_exponent(masses.total);
    state.sum_exponent = fixed_point_exponent(masses.largest_class);
    const TreeAdvance found =
        shard.advance(up.data(), down.data(), static_cast<int>(n_leaves), draw.signs.data(),
                      exponent, mass_exponent);
    state.mass = masses.total;
    state.mass_unit = std::ldexp(1.0, -mass_exponent);
    state.gain_unit =
        std::ldexp(1.0, mass_exponent - 2 * exponent) / std::max(masses.total, 1e-300);
    rounds.n_splits.push_back(static_cast<std::int64_t>(tree.feature.size()));
    append(rounds.feature, tree.feature);
    append(rounds.bin, tree.bin);
    append(rounds.left, tree.left);
    append(rounds.right, tree.right);
    append(rounds.gain, tree.gain);
    rounds.gain_unit.push_back(gain_unit);
    rounds.wrong.push_back(found.wrong);
    rounds.mean_loss.push_back(
        std::ldexp(static_cast<double>(found.loss), -(mass_exponent + kLossBits)) / rules.row_mass);
    if (masses.total <= kSpent * rules.n_pairs) break;
  }
  return rounds;
}

}  // namespace marginboost
