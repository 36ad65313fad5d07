#include "predict/ensemble_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>

namespace marginboost {

void fail(const std::string& must, std::int64_t got) {
  throw std::invalid_argument(must + ", got " + std::to_string(got) + ".");
}

namespace {

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

template <class T>
std::int64_t length(std::span<const T> values) {
  return static_cast<std::int64_t>(values.size());
}

/// `n_parts` parts, one after the other, hold `n_entries` entries between them.
void check_offsets(std::span<const std::int64_t> offsets, std::int64_t n_parts,
                   std::int64_t n_entries, const std::string& name, const std::string& part) {
  if (length(offsets) != n_parts + 1)
    fail(name + " must have one entry a " + part + " and one more, " + std::to_string(n_parts + 1),
         length(offsets));
  if (offsets.front() != 0) fail(name + " must begin with 0", offsets.front());
  for (std::size_t j = 1; j < offsets.size(); ++j)
    if (offsets[j] < offsets[j - 1])
      fail(name + " must not descend below " + std::to_string(offsets[j - 1]), offsets[j]);
  if (offsets.back() != n_entries)
    fail(name + " must end with the number of entries, " + std::to_string(n_entries),
         offsets.back());
}

void check_sizes(const EnsembleView& view) {
  const std::int64_t n_nodes = length(view.feature);
  if (length(view.threshold) != n_nodes || length(view.left) != n_nodes ||
      length(view.right) != n_nodes)
    throw std::invalid_argument("feature, threshold, left and right must have the same length.");
  const std::int64_t n_leaves = length(view.leaf_value);
  if (length(view.leaf_vector) != n_leaves)
    throw std::invalid_argument("leaf_vector and leaf_value must have the same length.");
  if (view.n_features < 0) fail("n_features must not be negative", view.n_features);
  if (view.n_classes < 1) fail("vectors must have at least one column", view.n_classes);
  if (length(view.vectors) % view.n_classes != 0)
    fail("vectors must hold whole rows of " + std::to_string(view.n_classes),
         length(view.vectors));
  if (view.round_offsets.empty()) fail("round_offsets must have at least one entry", 0);
  if (view.node_offsets.empty()) fail("node_offsets must have at least one entry", 0);
  const std::int64_t n_trees = length(view.node_offsets) - 1;
  check_offsets(view.round_offsets, length(view.round_offsets) - 1, n_trees, "round_offsets",
                "round");
  check_offsets(view.node_offsets, n_trees, n_nodes, "node_offsets", "tree");
  check_offsets(view.leaf_offsets, n_trees, n_leaves, "leaf_offsets", "tree");
}

void check_indices(std::span<const std::int32_t> indices, std::int64_t end,
                   const std::string& name) {
  for (const std::int32_t index : indices)
    if (index < 0 || index >= end)
      fail(name + " must be at least 0 and below " + std::to_string(end), index);
}

void check_finite(std::span<const double> values, const std::string& name) {
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    throw std::invalid_argument(name + " must be finite, got inf or nan.");
}

void check_values(const EnsembleView& view) {
  check_indices(view.feature, view.n_features, "feature");
  check_indices(view.leaf_vector, length(view.vectors) / view.n_classes, "leaf_vector");
  check_finite(view.threshold, "threshold");
  check_finite(view.vectors, "vectors");
  check_finite(view.leaf_value, "leaf_value");
}

/// A child comes after its parent, so every walk ends.
void check_children(const EnsembleView& view) {
  for (std::size_t j = 1; j < view.node_offsets.size(); ++j) {
    const std::int64_t first = view.node_offsets[j - 1];
    const std::int64_t n_nodes = view.node_offsets[j] - first;
    const std::int64_t n_leaves = view.leaf_offsets[j] - view.leaf_offsets[j - 1];
    if (n_leaves < 1) fail("every tree must have at least one leaf", n_leaves);
    for (std::int64_t node = 0; node < n_nodes; ++node)
      for (const std::int32_t child : {view.left[at(first + node)], view.right[at(first + node)]})
        if (child >= 0 ? child <= node || child >= n_nodes : ~child >= n_leaves)
          fail("a child of node " + std::to_string(node) + " of tree " +
                   std::to_string(j - 1) + " must be a later one of its " +
                   std::to_string(n_nodes) + " nodes, or ~leaf for one of its " +
                   std::to_string(n_leaves) + " leaves",
               child);
  }
}

}  // namespace

void check(const EnsembleView& view) {
  check_sizes(view);
  check_values(view);
  check_children(view);
}

}  // namespace marginboost
