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

double RoundNumbers::smoothing() const {
  return std::max(pseudo_count(rules_, state_.mass) / state_.mass_unit, kLeastPseudoCount);
}

bool RoundNumbers::gains_anything(std::span<const double> gains) const {
  return std::accumulate(gains.begin(), gains.end(), 0.0) * state_.gain_unit > kNothing;
}

RoundStep RoundNumbers::step(std::span<const double> own, std::span<const double> against,
                             std::span<double> step, std::span<float> up, std::span<float> down) {
  const double unit = std::ldexp(1.0, -state_.sum_exponent);
  const double mass = exact_sum(own) * unit;
  const LeafSums sums{own, against, static_cast<std::int64_t>(rules_.lanes.size()), unit};
  const LeafBounds bounds{rules_.class_counts, rules_.class_mass, rules_.lanes, 0.5 * unit,
                          !rules_.normalized};
  const LeafRules leaf_rules{pseudo_count(rules_, mass), rules_.factor, rules_.most_step, rules_.eta};
  const auto [moves, masses] =
      short_step(sums, leaf_rules, bounds, step, up, down, rules_.n_threads);
  if (!moves) return {};
  const int exponent = fixed_point_exponent(masses.largest_lane);
  const int mass_exponent = fixed_point_exponent(masses.total);
  state_.sum_exponent = fixed_point_exponent(masses.largest_class);
  state_.mass = masses.total;
  state_.mass_unit = std::ldexp(1.0, -mass_exponent);
  state_.gain_unit = std::ldexp(1.0, mass_exponent - 2 * exponent) / std::max(masses.total, 1e-300);
  return {true, exponent, mass_exponent};
}

double RoundNumbers::mean_loss(std::int64_t loss, int mass_exponent) const {
  return std::ldexp(static_cast<double>(loss), -(mass_exponent + kLossBits)) / rules_.row_mass;
}

bool RoundNumbers::is_spent() const { return state_.mass <= kSpent * rules_.n_pairs; }

BoostedRounds boost_rounds(TreeShard& shard, const RoundRules& rules,
                           std::span<const RoundDraw> draws, RoundState& state) {
  const auto k = static_cast<std::size_t>(shard.n_classes());
  RoundNumbers numbers(rules, state);
  BoostedRounds rounds;
  std::vector<double> own, against;
  std::vector<float> up, down;
  for (const RoundDraw& draw : draws) {
    const GrownTree tree =
        shard.grow_tree(draw.features, draw.sample,
                        {rules.least_count, static_cast<float>(numbers.smoothing())}, rules.growth);
    if (!numbers.gains_anything(tree.gain)) break;
    const double gain_unit = numbers.state().gain_unit;
    const std::size_t n_leaves = tree.counts.size(), n = n_leaves * k;
    own.resize(n);
    against.resize(n);
    shard.finish_tree(tree.leaf_of_node, static_cast<int>(n_leaves), numbers.state().sum_exponent,
                      own.data(), against.data());
    const std::size_t before = rounds.step.size();
    if (before == 0) rounds.step.reserve(n * draws.size());
    rounds.step.resize(before + n);
    up.resize(n);
    down.resize(n);
    const RoundStep step =
        numbers.step(own, against, std::span(rounds.step).subspan(before), up, down);
    if (!step.moves) {
      rounds.step.resize(before);
      break;
    }
    const TreeAdvance found =
        shard.advance(up.data(), down.data(), static_cast<int>(n_leaves), draw.signs.data(),
                      step.exponent, step.mass_exponent);
    rounds.n_splits.push_back(static_cast<std::int64_t>(tree.feature.size()));
    append(rounds.feature, tree.feature);
    append(rounds.bin, tree.bin);
    append(rounds.left, tree.left);
    append(rounds.right, tree.right);
    append(rounds.gain, tree.gain);
    rounds.gain_unit.push_back(gain_unit);
    rounds.wrong.push_back(found.wrong);
    rounds.mean_loss.push_back(numbers.mean_loss(found.loss, step.mass_exponent));
    if (numbers.is_spent()) break;
  }
  state = numbers.state();
  return rounds;
}

}  // namespace marginboost
