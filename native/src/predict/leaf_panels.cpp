#include "marginboost/predict/leaf_panels.hpp"

#include <algorithm>
#include <new>

#include "marginboost/predict/score_kernels.hpp"

namespace marginboost {
namespace {

constexpr std::align_val_t kLine{64};

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

int padded(int classes) { return classes <= 4 ? 4 : kPanelClasses; }

}  // namespace

void LeafPanels::Free::operator()(double* p) const { ::operator delete(p, kLine); }

bool LeafPanels::worth(const EnsembleView& view) {
  const auto n_leaves = static_cast<std::int64_t>(view.leaf_value.size());
  const std::int64_t k = view.n_classes;
  if (n_leaves > 2 * (static_cast<std::int64_t>(view.vectors.size()) / k)) return false;
  std::int64_t reach = 0;  // from the first to the last class that is not zero, over all leaves
  for (const std::int32_t which : view.leaf_vector) {
    const double* vector = view.vectors.data() + which * k;
    std::int64_t begin = 0, end = k;
    while (end > 0 && vector[end - 1] == 0.0) --end;
    while (begin < end && vector[begin] == 0.0) ++begin;
    reach += end - begin;
  }
  return 4 * reach >= n_leaves * k;
}

LeafPanels::LeafPanels(const EnsembleView& view) {
  const auto n_leaves = static_cast<std::int64_t>(view.leaf_value.size());
  const std::int64_t k = view.n_classes;
  std::int64_t row = 0;  // doubles a leaf in all panels
  for (std::int64_t r = 0; r < k; r += kPanelClasses) {
    const int classes = static_cast<int>(std::min<std::int64_t>(kPanelClasses, k - r));
    panels_.push_back({nullptr, r, classes, padded(classes)});
    row += padded(classes);
  }
  const std::size_t bytes = std::max<std::size_t>(at(row * n_leaves), 1) * sizeof(double);
  products_.reset(static_cast<double*>(::operator new(bytes, kLine)));
  double* to = products_.get();
  for (Panel& panel : panels_) {
    panel.vectors = to;
    for (std::int64_t leaf = 0; leaf < n_leaves; ++leaf, to += panel.width) {
      const double value = view.leaf_value[at(leaf)];
      const double* from =
          view.vectors.data() + view.leaf_vector[at(leaf)] * k + panel.first_class;
      for (int r = 0; r < panel.width; ++r) to[r] = r < panel.classes ? value * from[r] : 0.0;
    }
  }
}

}  // namespace marginboost
