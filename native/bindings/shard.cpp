#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "marginboost/shard.hpp"
#include "marginboost/thread_pool.hpp"

namespace marginboost {
namespace {

using Bins8 = Input<std::uint8_t, 2>;
using Bins16 = Input<std::uint16_t, 2>;
using OptionalSides = std::optional<Input<double, 2>>;

// A Shard and the NumPy arrays it reads, kept alive with it.
class BoundShard {
 public:
  template <class Bin>
  BoundShard(const Input<Bin, 2>& bins, const Input<std::int32_t, 1>& n_bins,
             const Input<std::int64_t, 1>& offsets, const std::optional<Input<double, 1>>& weight,
             const std::optional<Input<std::int32_t, 1>>& multiplicity, bool logistic, int n_threads,
             std::int64_t row_block)
      : keep_{nb::cast(bins), nb::cast(weight), nb::cast(multiplicity)} {
    const auto d = bins.shape(0), m = bins.shape(1);
    require(d >= 1 && m >= 1, "bins must hold at least one feature and one row.");
    require(n_bins.shape(0) == d, "n_bins must have one entry a feature.");
    require(offsets.shape(0) >= 3, "class_offsets must describe at least two classes.");
    require(offsets(0) == 0 && offsets(offsets.shape(0) - 1) == static_cast<std::int64_t>(m) &&
                std::is_sorted(offsets.data(), offsets.data() + offsets.shape(0)),
            "class_offsets must run from 0 to the number of rows without falling.");
    require(!weight || weight->shape(0) == m, "weight must have one entry a row.");
    require(!multiplicity || multiplicity->shape(0) == m, "multiplicity must have one entry a row.");
    require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
    require(row_block >= 1, "row_block must be at least 1.");
    ShardData data;
    data.bins.n_rows = static_cast<std::int64_t>(m);
    data.bins.n_features = static_cast<int>(d);
    if constexpr (sizeof(Bin) == 1) {
      data.bins.narrow = bins.data();
    } else {
      data.bins.wide = bins.data();
    }
    data.n_bins.assign(n_bins.data(), n_bins.data() + d);
    for (std::size_t f = 0; f < d; ++f) {
      const Bin* column = bins.data() + f * m;
      require(*std::max_element(column, column + m) < n_bins(f),
              "every bin must be below its feature's n_bins.");
    }
    data.class_offsets.assign(offsets.data(), offsets.data() + offsets.shape(0));
    if (weight) data.weight = weight->data();
    if (multiplicity) data.multiplicity = multiplicity->data();
    shard_.emplace(std::move(data), logistic ? Loss::logistic : Loss::exponential, n_threads,
                   row_block);
    logistic_ = logistic;
  }

  Shard& shard() { return *shard_; }
  std::size_t k() const { return static_cast<std::size_t>(shard_->n_classes()); }

  std::int64_t advance(const Input<double, 2>& up, const Input<double, 2>& down, int exponent) {
    check_sides(up, down);
    const nb::gil_scoped_release release;
    return shard_->advance(up.data(), down.data(), 2, exponent);
  }

  nb::tuple best_stump() {
    StumpChoice choice;
    {
      const nb::gil_scoped_release release;
      choice = shard_->best_stump();
    }
    return nb::make_tuple(choice.feature, choice.bin, choice.column, choice.edge);
  }

  void place_stump(int feature, int bin, bool above_is_one) {
    require(feature >= 0 && feature < shard_->n_features(), "feature is out of range.");
    const nb::gil_scoped_release release;
    shard_->place_stump(feature, bin, above_is_one);
  }

  auto sums(int exponent, const OptionalSides& up, const OptionalSides& down) {
    if (up && down) check_sides(*up, *down);
    double* out = nullptr;
    auto array = new_array<double>({2, k(), k()}, &out);
    const nb::gil_scoped_release release;
    shard_->sums(up && down ? up->data() : nullptr, up && down ? down->data() : nullptr, 2, exponent,
                 out, nullptr);
    return array;
  }

  nb::tuple sums_and_curvature(int exponent, const Input<double, 2>& up,
                               const Input<double, 2>& down) {
    require(logistic_, "curvature is for the logistic loss.");
    check_sides(up, down);
    double *first = nullptr, *second = nullptr;
    auto sums = new_array<double>({2, k(), k()}, &first);
    auto curvature = new_array<double>({2, k(), k()}, &second);
    {
      const nb::gil_scoped_release release;
      shard_->sums(up.data(), down.data(), 2, exponent, first, second);
    }
    return nb::make_tuple(sums, curvature);
  }

  void start_tree(int column) {
    require(column >= 0 && column < shard_->n_classes(), "column is out of range.");
    n_nodes_ = 1;
    n_leaves_ = 0;
    const nb::gil_scoped_release release;
    shard_->start_tree(column);
  }

  auto best_splits() {
    require(n_nodes_ > 0, "no tree is growing.");
    {
      const nb::gil_scoped_release release;
      splits_ = shard_->best_splits(n_nodes_);
    }
    std::int64_t* out = nullptr;
    auto array = new_array<std::int64_t>({splits_.size(), 6}, &out);
    for (const NodeSplit& s : splits_) {
      for (const std::int64_t value : {std::int64_t{s.feature}, std::int64_t{s.bin}, s.positive,
                                       s.negative, s.left_positive, s.left_negative}) {
        *out++ = value;
      }
    }
    return array;
  }

  // left and right: the number of a node of the next level, or ~leaf.
  void apply_splits(const std::vector<std::int32_t>& left, const std::vector<std::int32_t>& right) {
    require(left.size() == splits_.size() && right.size() == splits_.size() && !left.empty(),
            "left and right must have one entry a node searched by best_splits.");
    int nodes = 0;
    for (const auto* children : {&left, &right}) {
      for (const std::int32_t child : *children) {
        nodes = std::max(nodes, child + 1);
        n_leaves_ = std::max(n_leaves_, ~child + 1);
      }
    }
    {
      const nb::gil_scoped_release release;
      shard_->apply_splits(splits_, left, right);
    }
    n_nodes_ = nodes;
    splits_.clear();
  }

  void finish_tree(const std::vector<std::uint8_t>& leaf_side) {
    require(n_nodes_ == 0 && n_leaves_ > 0, "the tree still has open nodes.");
    require(static_cast<int>(leaf_side.size()) == n_leaves_, "leaf_side must have one entry a leaf.");
    require(std::all_of(leaf_side.begin(), leaf_side.end(), [](auto s) { return s <= 1; }),
            "leaf_side must hold 0 or 1.");
    const nb::gil_scoped_release release;
    shard_->finish_tree(leaf_side);
  }

  auto histogram(int feature, std::int64_t n_bins) {
    require(feature >= 0 && feature < shard_->n_features(), "feature is out of range.");
    std::int64_t* out = nullptr;
    auto array = new_array<std::int64_t>({static_cast<std::size_t>(n_bins), k()}, &out);
    shard_->histogram(feature, out);
    return array;
  }

  // Copies for tests and debugging: e (n_rows x k) and the fixed-point g (n_rows x k).
  nb::tuple state() {
    const RowArrays& rows = shard_->arrays();
    const auto m = static_cast<std::size_t>(rows.n_rows);
    double* e = nullptr;
    std::int32_t* g = nullptr;
    auto exponentials = new_array<double>({m, k()}, &e);
    auto direction = new_array<std::int32_t>({m, k()}, &g);
    std::copy_n(rows.exponentials, m * k(), e);
    const auto lanes = static_cast<std::size_t>(rows.lanes.lanes);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t r = 0; r < k(); ++r) {
        g[i * k() + r] = rows.direction[((r / lanes) * m + i) * lanes + r % lanes];
      }
    }
    return nb::make_tuple(exponentials, direction);
  }

  void run_histograms(bool bare) {
    const nb::gil_scoped_release release;
    shard_->run_histograms(bare);
  }

 private:
  void check_sides(const Input<double, 2>& up, const Input<double, 2>& down) const {
    require(up.shape(0) == 2 && down.shape(0) == 2 && up.shape(1) == k() && down.shape(1) == k(),
            "up and down must have the shape (2, k).");
  }

  nb::object keep_[3];
  std::optional<Shard> shard_;
  bool logistic_ = false;
  std::vector<NodeSplit> splits_;
  int n_nodes_ = 0, n_leaves_ = 0;
};

}  // namespace

void bind_shard(nb::module_& m) {
  nb::class_<BoundShard> shard(m, "Shard", "The rows of one fit and their weights.");
  const auto constructor = [&shard](auto tag) {
    using Bin = decltype(tag);
    shard.def(nb::init<const Input<Bin, 2>&, const Input<std::int32_t, 1>&,
                       const Input<std::int64_t, 1>&, const std::optional<Input<double, 1>>&,
                       const std::optional<Input<std::int32_t, 1>>&, bool, int, std::int64_t>(),
              nb::arg("bins").noconvert(), nb::arg("n_bins"), nb::arg("class_offsets"),
              nb::arg("weight").none(), nb::arg("multiplicity").none(), nb::arg("logistic"),
              nb::arg("n_threads"), nb::arg("row_block"));
  };
  constructor(std::uint8_t{});
  constructor(std::uint16_t{});
  shard.def("restart", [](BoundShard& self) { self.shard().restart(); })
      .def("advance", &BoundShard::advance, nb::arg("up"), nb::arg("down"), nb::arg("exponent"))
      .def("best_stump", &BoundShard::best_stump)
      .def("place_stump", &BoundShard::place_stump, nb::arg("feature"), nb::arg("bin"),
           nb::arg("above_is_one"))
      .def("sums", &BoundShard::sums, nb::arg("exponent"), nb::arg("up") = nb::none(),
           nb::arg("down") = nb::none())
      .def("sums_and_curvature", &BoundShard::sums_and_curvature, nb::arg("exponent"), nb::arg("up"),
           nb::arg("down"))
      .def("start_tree", &BoundShard::start_tree, nb::arg("column"))
      .def("best_splits", &BoundShard::best_splits)
      .def("apply_splits", &BoundShard::apply_splits, nb::arg("left"), nb::arg("right"))
      .def("finish_tree", &BoundShard::finish_tree, nb::arg("leaf_side"))
      .def("histogram", &BoundShard::histogram, nb::arg("feature"), nb::arg("n_bins"))
      .def("state", &BoundShard::state)
      .def("run_histograms", &BoundShard::run_histograms, nb::arg("bare"));
}

}  // namespace marginboost
