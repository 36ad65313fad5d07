// What a shard of rows for trees is made of: checked arrays from Python.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "marginboost/trees/shard.hpp"

namespace marginboost {

using Weight = std::optional<Input<float, 1>>;
using Multiplicity = std::optional<Input<std::int32_t, 1>>;
using Hashes = std::optional<Input<std::uint64_t, 1>>;
using PairWeights = std::optional<Input<float, 2>>;
using Allowed = std::optional<Input<std::uint8_t, 2>>;

struct TreeSettings {
  Loss loss;
  int n_threads;
};

inline TreeSettings checked_tree_settings(int loss, int n_threads) {
  require(loss == 0 || loss == 1, "loss must be 0 or 1.");
  require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
  return {static_cast<Loss>(loss), n_threads};
}

inline TreeShardData shard_data(const Input<std::int64_t, 1>& offsets, const Weight& weight,
                           const Multiplicity& multiplicity, const Hashes& hashes,
                           const Multiplicity& copies, const Input<std::uint64_t, 1>& bounds,
                           const PairWeights& pair_weights) {
  const auto n = offsets.shape(0);
  require(n >= 3, "class_offsets must describe at least two classes.");
  require(offsets(0) == 0 &&
              std::is_sorted(offsets.data(), offsets.data() + n),
          "class_offsets must run from 0 to the number of rows without falling.");
  const auto m = static_cast<std::size_t>(offsets(n - 1));
  require(!weight || weight->shape(0) == m, "weight must have one entry per row.");
  require(!multiplicity || multiplicity->shape(0) == m, "multiplicity must have one entry per row.");
  require(!hashes || hashes->shape(0) == m, "hashes must have one entry per row.");
  require(!copies || (multiplicity && copies->shape(0) == m),
          "copies must have one entry per row, and come with multiplicity.");
  require(bounds.shape(0) == n - 1, "bounds must have one entry per class.");
  require(!pair_weights || (pair_weights->shape(0) == n - 1 && pair_weights->shape(1) == n - 1),
          "pair_weights must have a row and a column for every class.");
  TreeShardData data;
  if (pair_weights) {
    data.pair_weights.assign(pair_weights->data(), pair_weights->data() + pair_weights->size());
    require(std::all_of(data.pair_weights.begin(), data.pair_weights.end(),
                        [](float one) { return one >= 0.0F && one <= 1.0F; }),
            "pair_weights must be from 0 to 1.");
  }
  if (copies) {
    // What a row counts is divided by, where some of its copies are drawn.
    for (std::size_t i = 0; i < m; ++i) {
      require((*multiplicity)(i) >= 0 && (*multiplicity)(i) <= (*copies)(i),
              "multiplicity must be from 0 to copies.");
    }
    data.copies = copies->data();
    data.bounds.assign(bounds.data(), bounds.data() + (n - 1));
  }
  if (hashes) data.hashes = hashes->data();
  data.class_offsets.assign(offsets.data(), offsets.data() + n);
  if (weight) data.weight.assign(weight->data(), weight->data() + m);
  if (multiplicity) data.multiplicity = multiplicity->data();
  return data;
}

}  // namespace marginboost
