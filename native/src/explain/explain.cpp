#include "marginboost/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>

#include "predict/ensemble_checks.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Rows that are explained together: they share what is found once a path. As many as have their
/// contributions by one path in a near cache.
constexpr std::int64_t kFewestRows = 32;
constexpr std::int64_t kMostRows = 256;
constexpr std::int64_t kBlockNumbers = 4096;

/// Gauss's rule has a multiple of so many places, the last ones with no weight.
constexpr std::int64_t kPlacesAtOnce = 4;

/// Up to so many players on a path, the weights of every pattern of agreement are found once.
constexpr std::int64_t kMostPatternSteps = 10;

/// More than this many questions on all paths together would take too much memory.
constexpr std::size_t kMostAsked = std::size_t{1} << 25;

/// The places and factors of Gauss's rule with n places on [0, 1]: Newton's method on the Legendre
/// polynomial of degree n.
void gauss_rule(std::int64_t n, std::vector<double>& places, std::vector<double>& factors) {
  const std::int64_t room = (n + kPlacesAtOnce - 1) / kPlacesAtOnce * kPlacesAtOnce;
  places.assign(at(room), 0.5);
  factors.assign(at(room), 0.0);
  const auto count = static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (count + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 100; ++step) {
      double value = 1.0;
      double before = 0.0;
      for (std::int64_t j = 1; j <= n; ++j) {
        const auto degree = static_cast<double>(j);
        const double next = ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
        before = value;
        value = next;
      }
      slope = count * (x * value - before) / (x * x - 1.0);
      const double move = value / slope;
      x -= move;
      if (std::abs(move) < 1e-15) break;
    }
    places[at(i)] = 0.5 * (1.0 - x);
    factors[at(i)] = 1.0 / ((1.0 - x * x) * slope * slope);
  }
}

/// The share of a parent's cover that goes to a child. Where no row came to the parent, half does.
double share_of(double child, double other) {
  const double sum = child + other;
  return sum > 0.0 ? child / sum : 0.5;
}

}  // namespace

struct Explainer::Scratch {
  Scratch(const Explainer& of, std::int64_t most_rows, std::int64_t n_asked)
      : stride(most_rows),
        left(at(of.most_nodes_ * most_rows)),
        agrees(at(of.most_steps_ * most_rows)),
        pattern(at(most_rows)),
        is_known(std::size_t{1} << std::min(of.most_steps_, kMostPatternSteps)),
        known(is_known.size() * at(std::min(of.most_steps_, kMostPatternSteps))),
        weights(at(of.most_steps_)),
        before(at(of.most_steps_ + 1) * of.places_.back().size()),
        factors(before.size()),
        term(at(n_asked)) {}

  std::int64_t stride;  // rows
  std::vector<char> left;     // whether a row goes to the left at a node: nodes x rows
  std::vector<char> agrees;   // o: steps x rows
  std::vector<std::uint32_t> pattern;
  std::vector<char> is_known;  // whether the weights of a pattern are
  std::vector<double> known;
  std::vector<double> weights;
  std::vector<double> before;   // steps x places of Gauss's rule
  std::vector<double> factors;
  std::vector<double> term;
};

Explainer::Explainer(const EnsembleView& view, std::span<const double> leaf_cover,
                     std::span<const std::int32_t> player, std::int64_t n_players)
    : n_classes_((check(view), view.n_classes)),
      n_features_(view.n_features),
      n_players_(n_players),
      vectors_(view.vectors.begin(), view.vectors.end()),
      node_offsets_(view.node_offsets.begin(), view.node_offsets.end()),
      feature_(view.feature.begin(), view.feature.end()),
      threshold_(view.threshold.begin(), view.threshold.end()),
      leaf_vector_(view.leaf_vector.begin(), view.leaf_vector.end()),
      leaf_value_(view.leaf_value.begin(), view.leaf_value.end()),
      means_(at(view.n_classes)) {
  if (leaf_cover.size() != leaf_value_.size())
    fail("leaf_cover must have one entry per leaf, " + std::to_string(leaf_value_.size()),
         static_cast<std::int64_t>(leaf_cover.size()));
  for (const double cover : leaf_cover)
    if (!(cover >= 0.0 && std::isfinite(cover)))
      throw std::invalid_argument("leaf_cover must be finite and not negative.");
  if (player.size() != at(n_features_))
    fail("player must have one entry per feature, " + std::to_string(n_features_),
         static_cast<std::int64_t>(player.size()));
  for (const std::int32_t of_feature : player)
    if (of_feature < 0 || of_feature >= n_players)
      fail("player must be at least 0 and below " + std::to_string(n_players), of_feature);
  const auto n_trees = static_cast<std::int64_t>(node_offsets_.size()) - 1;
  for (std::int64_t tree = 0; tree < n_trees; ++tree) {
    add_paths(view, tree, leaf_cover, player);
    path_offsets_.push_back(static_cast<std::int64_t>(paths_.size()));
    most_nodes_ = std::max(most_nodes_, node_offsets_[at(tree + 1)] - node_offsets_[at(tree)]);
  }
  paths_.push_back({0, static_cast<std::int64_t>(steps_.size())});
  steps_.push_back({0.0, 0, static_cast<std::int64_t>(asked_.size())});
  for (std::size_t j = 0; j + 1 < paths_.size(); ++j) {
    most_steps_ = std::max(most_steps_, paths_[j + 1].first_step - paths_[j].first_step);
    double share = 1.0;
    for (std::int64_t s = paths_[j].first_step; s < paths_[j + 1].first_step; ++s)
      share *= steps_[at(s)].share;
    const std::int64_t leaf = paths_[j].leaf;
    const double* vector = vectors_.data() + leaf_vector_[at(leaf)] * n_classes_;
    for (std::int64_t r = 0; r < n_classes_; ++r)
      means_[at(r)] += share * (leaf_value_[at(leaf)] * vector[r]);
  }
  places_.resize(at((most_steps_ + 1) / 2 + 1));
  factors_.resize(places_.size());
  for (std::size_t n = 1; n < places_.size(); ++n)
    gauss_rule(static_cast<std::int64_t>(n), places_[n], factors_[n]);
}

/// From the root down, with what was asked so far; no recursion, however deep a tree is.
void Explainer::add_paths(const EnsembleView& view, std::int64_t tree,
                          std::span<const double> leaf_cover,
                          std::span<const std::int32_t> player) {
  const std::int64_t first = node_offsets_[at(tree)];
  const std::int64_t n_nodes = node_offsets_[at(tree + 1)] - first;
  const std::int64_t first_leaf = view.leaf_offsets[at(tree)];
  std::vector<double> cover(at(n_nodes));
  const auto cover_of = [&](std::int32_t child) {
    return child < 0 ? leaf_cover[at(first_leaf + ~child)] : cover[at(child)];
  };
  for (std::int64_t node = n_nodes - 1; node >= 0; --node)
    cover[at(node)] = cover_of(view.left[at(first + node)]) + cover_of(view.right[at(first + node)]);

  struct Turn {
    std::int32_t child;
    std::int64_t depth;  // turns above it
    Asked asked;         // the last of them
    double share;
  };
  std::vector<Turn> open{{n_nodes > 0 ? 0 : ~0, 0, {0, false}, 1.0}};
  std::vector<Turn> path;
  std::vector<Turn> by_player;
  while (!open.empty()) {
    const Turn turn = open.back();
    open.pop_back();
    path.resize(at(std::max<std::int64_t>(turn.depth - 1, 0)));
    if (turn.depth > 0) path.push_back(turn);
    if (turn.child >= 0) {
      const std::size_t node = at(first + turn.child);
      const std::int32_t left = view.left[node];
      const std::int32_t right = view.right[node];
      open.push_back({right, turn.depth + 1, {turn.child, false},
                      share_of(cover_of(right), cover_of(left))});
      open.push_back({left, turn.depth + 1, {turn.child, true},
                      share_of(cover_of(left), cover_of(right))});
      continue;
    }
    if (asked_.size() + path.size() > kMostAsked)
      throw std::invalid_argument(
          "The paths to all leaves must ask at most " + std::to_string(kMostAsked) +
          " questions to be explained; the trees of this model are too deep.");
    const auto player_of = [&](const Turn& step) {
      return player[at(feature_[at(first + step.asked.node)])];
    };
    by_player.assign(path.begin(), path.end());
    std::sort(by_player.begin(), by_player.end(), [&](const Turn& a, const Turn& b) {
      const std::int32_t of_a = player_of(a);
      const std::int32_t of_b = player_of(b);
      return of_a != of_b ? of_a < of_b : a.depth < b.depth;
    });
    paths_.push_back({first_leaf + ~turn.child, static_cast<std::int64_t>(steps_.size())});
    for (std::size_t j = 0; j < by_player.size(); ++j) {
      const std::int32_t of_step = player_of(by_player[j]);
      if (j == 0 || of_step != player_of(by_player[j - 1]))
        steps_.push_back({1.0, of_step, static_cast<std::int64_t>(asked_.size())});
      steps_.back().share *= by_player[j].share;
      asked_.push_back(by_player[j].asked);
    }
  }
}

/// weights[s] for the steps of a path: what their players add to a leaf of vector 1. The product over
/// all steps but one is that of those before it and of those after it: nothing is divided by.
void Explainer::find_weights(const Path& path, std::int64_t n_steps, const char* agrees,
                             Scratch& scratch, double* weights) const {
  const Step* steps = steps_.data() + path.first_step;
  const std::vector<double>& places = places_[at((n_steps + 1) / 2)];
  const std::vector<double>& sizes = factors_[at((n_steps + 1) / 2)];
  const std::size_t n = places.size();
  double* factors = scratch.factors.data();
  double* before = scratch.before.data();
  std::copy(sizes.begin(), sizes.end(), before);
  for (std::int64_t s = 0; s < n_steps; ++s, factors += n, before += n) {
    const double share = steps[s].share;
    // t * o + (1 - t) * z
    const double slope = (agrees[s * scratch.stride] != 0 ? 1.0 : 0.0) - share;
    for (std::size_t j = 0; j < n; ++j) {
      factors[j] = share + slope * places[j];
      before[n + j] = before[j] * factors[j];
    }
  }
  double* after = before;  // of the last step: not needed any more
  std::fill(after, after + n, 1.0);
  for (std::int64_t s = n_steps - 1; s >= 0; --s) {
    factors -= n;
    before -= n;
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      sum += before[j] * after[j];
      after[j] *= factors[j];
    }
    weights[s] = sum * ((agrees[s * scratch.stride] != 0 ? 1.0 : 0.0) - steps[s].share);
  }
}

void Explainer::add_tree(std::int64_t tree, std::int64_t n_rows, const std::int64_t* classes,
                         std::int64_t n_asked, Scratch& scratch, double* contributions) const {
  for (std::int64_t j = path_offsets_[at(tree)]; j < path_offsets_[at(tree + 1)]; ++j) {
    const Path& path = paths_[at(j)];
    const std::int64_t n_steps = paths_[at(j + 1)].first_step - path.first_step;
    const bool by_pattern = n_steps <= kMostPatternSteps;
    std::fill(scratch.pattern.begin(), scratch.pattern.end(), 0U);
    for (std::int64_t s = 0; s < n_steps; ++s) {
      char* agrees = scratch.agrees.data() + s * scratch.stride;
      std::fill(agrees, agrees + n_rows, char{1});
      const Step* step = steps_.data() + path.first_step + s;
      for (std::int64_t q = step->first_asked; q < step[1].first_asked; ++q) {
        const Asked asked = asked_[at(q)];
        const char* left = scratch.left.data() + asked.node * scratch.stride;
        for (std::int64_t i = 0; i < n_rows; ++i)
          agrees[i] = static_cast<char>(agrees[i] & (left[i] == static_cast<char>(asked.left)));
      }
      if (by_pattern)
        for (std::int64_t i = 0; i < n_rows; ++i)
          scratch.pattern[at(i)] |= static_cast<std::uint32_t>(agrees[i]) << s;
    }
    if (by_pattern)
      std::fill_n(scratch.is_known.begin(), std::size_t{1} << n_steps, char{0});
    const double value = leaf_value_[at(path.leaf)];
    const double* vector = vectors_.data() + leaf_vector_[at(path.leaf)] * n_classes_;
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const char* agrees = scratch.agrees.data() + i;
      double* weights = scratch.weights.data();
      if (by_pattern) {
        const std::uint32_t pattern = scratch.pattern[at(i)];
        weights = scratch.known.data() + pattern * at(n_steps);
        if (!scratch.is_known[pattern])
          find_weights(path, n_steps, agrees, scratch, weights);
        scratch.is_known[pattern] = 1;
      } else {
        find_weights(path, n_steps, agrees, scratch, weights);
      }
      const std::int64_t* asked = classes + i * n_asked;
      double* term = scratch.term.data();
      for (std::int64_t c = 0; c < n_asked; ++c) term[c] = value * vector[asked[c]];
      double* row = contributions + i * n_players_ * n_asked;
      for (std::int64_t s = 0; s < n_steps; ++s) {
        double* out = row + steps_[at(path.first_step + s)].player * n_asked;
        for (std::int64_t c = 0; c < n_asked; ++c) out[c] += weights[s] * term[c];
      }
    }
  }
}

void Explainer::add_contributions(const MatrixView<double>& x,
                                  std::span<const std::int64_t> classes, std::int64_t n_asked,
                                  int n_threads, std::span<double> contributions) const {
  if (x.n_columns != n_features_)
    fail("X must have " + std::to_string(n_features_) + " columns", x.n_columns);
  if (n_asked < 0 || classes.size() != at(x.n_rows * n_asked) ||
      contributions.size() != at(x.n_rows * n_players_ * n_asked))
    throw std::invalid_argument("classes and contributions must have a place for every row.");
  for (const std::int64_t of : classes)
    if (of < 0 || of >= n_classes_)
      fail("classes must be at least 0 and below " + std::to_string(n_classes_), of);
  const std::int64_t fitting = std::min(kBlockNumbers / std::max<std::int64_t>(n_asked, 1),
                                        x.n_rows / (2 * std::int64_t{n_threads}));
  const std::int64_t block_rows = std::clamp(fitting, kFewestRows, kMostRows);
  const std::int64_t n_blocks = (x.n_rows + block_rows - 1) / block_rows;
  const int threads = static_cast<int>(std::clamp<std::int64_t>(n_blocks, 1, n_threads));
  std::vector<Scratch> scratches(at(threads), Scratch(*this, block_rows, n_asked));
  const auto n_trees = static_cast<std::int64_t>(node_offsets_.size()) - 1;
  parallel_for(n_blocks, threads, [&](std::int64_t task, int slot) {
    const std::int64_t first_row = task * block_rows;
    const std::int64_t n_rows = std::min(block_rows, x.n_rows - first_row);
    Scratch& scratch = scratches[at(slot)];
    for (std::int64_t tree = 0; tree < n_trees; ++tree) {
      const std::int64_t first = node_offsets_[at(tree)];
      for (std::int64_t node = first; node < node_offsets_[at(tree + 1)]; ++node) {
        const double* column =
            x.data + first_row * x.row_stride + feature_[at(node)] * x.column_stride;
        char* left = scratch.left.data() + (node - first) * scratch.stride;
        for (std::int64_t i = 0; i < n_rows; ++i)
          left[i] = static_cast<char>(column[i * x.row_stride] <= threshold_[at(node)]);
      }
      add_tree(tree, n_rows, classes.data() + first_row * n_asked, n_asked, scratch,
               contributions.data() + first_row * n_players_ * n_asked);
    }
  });
}

}  // namespace marginboost
