// The nodes of a growing tree, of any kind.
#pragma once

#include <cstdint>

namespace marginboost {

/// A node and its best split.
struct NodeSplit {
  std::int32_t feature = -1;  ///< -1: none gains anything, or none was looked for
  std::int32_t bin = 0;
  std::int64_t count = 0;  ///< rows of the node, with their multiplicity
  double gain = 0.0;
};

/// A node to be divided: rows at or below the bin go to the left.
struct NodeCut {
  std::int32_t node = 0;
  std::int32_t feature = 0;
  std::int32_t bin = 0;
  bool search = true;  ///< whether to look for splits of the two new nodes
};

}  // namespace marginboost
