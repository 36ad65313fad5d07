// The vectors of leaves that have one each, laid out for adding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "marginboost/predict/ensemble_view.hpp"

namespace marginboost {

/// Value times vector of every leaf, as it is added: the product is the same number whenever it is
/// taken. The classes are cut into panels of up to kPanelClasses. In a panel the leaves follow each
/// other, each on a cache line of its own (or half a one). Narrow panels come oftener, but each stays in a
/// near cache while many rows go through all trees, and a row's sums are one register.
class LeafPanels {
 public:
  /// Whether the products take no more than about twice the memory of the vectors, and have few
  /// zeros that it would pay to skip.
  static bool worth(const EnsembleView& view);

  explicit LeafPanels(const EnsembleView& view);

  struct Panel {
    const double* vectors;  ///< of leaf 0; aligned to 64 bytes unless narrower
    std::int64_t first_class;
    int classes;
    int width;  ///< doubles a leaf
  };
  const std::vector<Panel>& panels() const { return panels_; }

  /// Calls for the leaf's vector, so that it is near when it is added.
  void prefetch(std::int64_t leaf) const {
    for (const Panel& panel : panels_) {
      const double* vector = panel.vectors + leaf * panel.width;
#if defined(__GNUC__)
      __builtin_prefetch(vector);
#else
      static_cast<void>(vector);
#endif
    }
  }
  /// scores[r] += the leaf's vector, for all classes.
  void add(std::int64_t leaf, double* scores) const {
    for (const Panel& panel : panels_) {
      const double* vector = panel.vectors + leaf * panel.width;
      double* to = scores + panel.first_class;
      for (int r = 0; r < panel.classes; ++r) to[r] += vector[r];
    }
  }

 private:
  struct Free {
    void operator()(double* p) const;
  };
  std::unique_ptr<double, Free> products_;
  std::vector<Panel> panels_;
};

}  // namespace marginboost
