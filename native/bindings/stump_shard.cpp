#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "growing_nodes.hpp"
#include "marginboost/stumps/shard.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {


using Code = std::optional<Input<std::int8_t, 2>>;

template <class Bin>
StumpShardData shard_data(const Input<Bin, 2>& bins, const Input<std::int32_t, 1>& n_bins,
                     const Input<std::int64_t, 1>& offsets,
                     const std::optional<Input<double, 1>>& weight,
                     const std::optional<Input<std::int32_t, 1>>& multiplicity, const Code& code) {
  const auto d = bins.shape(0), m = bins.shape(1);
  require(d >= 1, "bins must hold at least one feature.");
  require(n_bins.shape(0) == d, "n_bins must have one entry per feature.");
  require(offsets.shape(0) >= 3, "class_offsets must describe at least two classes.");
  require(offsets(0) == 0 && offsets(offsets.shape(0) - 1) == static_cast<std::int64_t>(m) &&
              std::is_sorted(offsets.data(), offsets.data() + offsets.shape(0)),
          "class_offsets must run from 0 to the number of rows without falling.");
  require(!weight || weight->shape(0) == m, "weight must have one entry per row.");
  require(!multiplicity || multiplicity->shape(0) == m, "multiplicity must have one entry per row.");
  StumpShardData data;
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
    require(n_bins(f) >= 1 && (m == 0 || *std::max_element(column, column + m) < n_bins(f)),
            "every bin must be below its feature's n_bins, which must be at least 1.");
  }
  data.class_offsets.assign(offsets.data(), offsets.data() + offsets.shape(0));
  if (weight) data.weight = weight->data();
  if (multiplicity) data.multiplicity = multiplicity->data();
  if (code) {
    require(code->shape(0) + 1 == offsets.shape(0) && code->shape(1) >= 1,
            "code must have one row per class and at least one output.");
    data.code.assign(code->data(), code->data() + code->size());
    require(std::all_of(data.code.begin(), data.code.end(), [](auto c) { return c >= -1 && c <= 1; }),
            "code must hold -1, 0 and +1.");
    data.n_outputs = static_cast<int>(code->shape(1));
  }
  return data;
}

// A StumpShard and the NumPy arrays it reads, kept alive with it.
class BoundStumpShard {
 public:
  template <class Bin>
  BoundStumpShard(const Input<Bin, 2>& bins, const Input<std::int32_t, 1>& n_bins,
             const Input<std::int64_t, 1>& offsets, const std::optional<Input<double, 1>>& weight,
             const std::optional<Input<std::int32_t, 1>>& multiplicity, const Code& code,
             const std::optional<Input<double, 1>>& leaf_weight, double least_leaf_weight, int loss,
             int n_threads, std::int64_t row_block)
      : keep_{nb::cast(bins), nb::cast(weight), nb::cast(multiplicity), nb::cast(leaf_weight)} {
    require(n_threads >= 1 && n_threads <= kMaxThreads, "n_threads must be from 1 to 1024.");
    require(row_block >= 1, "row_block must be at least 1.");
    require(loss >= 0 && loss <= 2, "loss must be 0, 1 or 2.");
    StumpShardData data = shard_data<Bin>(bins, n_bins, offsets, weight, multiplicity, code);
    if (leaf_weight) {
      require(leaf_weight->shape(0) == bins.shape(1), "leaf_weight must have one entry per row.");
      data.leaf_weight = leaf_weight->data();
      data.least_leaf_weight = least_leaf_weight;
    }
    shard_.emplace(std::move(data), static_cast<Loss>(loss), n_threads, row_block);
    logistic_ = loss == static_cast<int>(Loss::logistic);
  }

  std::size_t k() const { return static_cast<std::size_t>(shard_->n_classes()); }
  std::size_t outputs() const { return static_cast<std::size_t>(shard_->n_outputs()); }
  std::size_t rows() const { return static_cast<std::size_t>(shard_->n_rows()); }

  std::int64_t advance(const Input<double, 2>& up, const Input<double, 2>& down, int exponent) {
    check_sides(up, down);
    const ReleasedLock release;
    return shard_->advance({up.data(), down.data(), nullptr}, exponent);
  }

  std::int64_t advance_table(const Input<double, 3>& table, int exponent) {
    require(table.shape(0) == 2 && table.shape(1) == k() && table.shape(2) == outputs(),
            "table must have the shape (2, classes, outputs).");
    const ReleasedLock release;
    return shard_->advance({nullptr, nullptr, table.data()}, exponent);
  }

  void advance_output(int output, const Input<double, 2>& table) {
    check_output(output);
    require(table.shape(0) == 2 && table.shape(1) == k(), "table must have the shape (2, classes).");
    const ReleasedLock release;
    shard_->advance_output(output, table.data());
  }

  void set_exponentials(const Input<double, 2>& exponentials) {
    require(exponentials.shape(0) == rows() && exponentials.shape(1) == outputs(),
            "exponentials must have the shape (rows, outputs).");
    shard_->set_exponentials(exponentials.data());
  }

  void project(const Input<std::int8_t, 1>& signs) {
    require(signs.shape(0) == outputs(), "signs must have one entry per output.");
    const std::vector<std::int8_t> values(signs.data(), signs.data() + signs.size());
    const ReleasedLock release;
    shard_->project(values);
  }

  nb::tuple best_stump(int criterion) {
    require(criterion >= 0 && criterion <= 2, "criterion must be 0, 1 or 2.");
    StumpChoice choice;
    {
      const ReleasedLock release;
      choice = shard_->best_stump(static_cast<Criterion>(criterion));
    }
    return nb::make_tuple(choice.feature, choice.bin, choice.output, choice.edge);
  }

  auto best_stumps() {
    std::vector<StumpChoice> choices;
    {
      const ReleasedLock release;
      choices = shard_->best_stumps();
    }
    std::int64_t* out = nullptr;
    auto array = new_array<std::int64_t>({choices.size(), 3}, &out);
    for (const StumpChoice& choice : choices) {
      *out++ = choice.feature;
      *out++ = choice.bin;
      *out++ = choice.edge;
    }
    return array;
  }

  void place_stump(int feature, int bin, bool above_is_one) {
    require(feature >= 0 && feature < shard_->n_features(), "feature is out of range.");
    const ReleasedLock release;
    shard_->place_stump(feature, bin, above_is_one);
  }

  void place_tree(const std::vector<std::int32_t>& feature, const std::vector<std::int32_t>& bin,
                  const std::vector<std::int32_t>& left, const std::vector<std::int32_t>& right,
                  const std::vector<std::uint8_t>& leaf_side) {
    const auto n_nodes = static_cast<std::int32_t>(feature.size());
    const auto n_leaves = static_cast<std::int32_t>(leaf_side.size());
    require(bin.size() == feature.size() && left.size() == feature.size() &&
                right.size() == feature.size() && n_leaves >= 1,
            "a tree must have as many bins, left and right children as features, and a leaf.");
    for (std::int32_t q = 0; q < n_nodes; ++q) {
      const auto i = static_cast<std::size_t>(q);
      require(feature[i] >= 0 && feature[i] < shard_->n_features(), "feature is out of range.");
      for (const std::int32_t child : {left[i], right[i]}) {
        require(child >= 0 ? child > q && child < n_nodes : ~child < n_leaves,
                "children must be later nodes or leaves of the tree.");
      }
    }
    check_zero_one(leaf_side);
    const ReleasedLock release;
    shard_->place_tree({feature, bin, left, right, leaf_side});
  }

  auto sums(int exponent) {
    double* out = nullptr;
    auto array = new_array<double>({2, k(), outputs()}, &out);
    const ReleasedLock release;
    shard_->sums({}, exponent, out, nullptr);
    return array;
  }

  nb::tuple sums_and_curvature(int exponent, const Input<double, 2>& up, const Input<double, 2>& down) {
    require(logistic_, "curvature is for the logistic loss.");
    check_sides(up, down);
    double *first = nullptr, *second = nullptr;
    auto sums = new_array<double>({2, k(), outputs()}, &first);
    auto curvature = new_array<double>({2, k(), outputs()}, &second);
    {
      const ReleasedLock release;
      shard_->sums({up.data(), down.data(), nullptr}, exponent, first, second);
    }
    return nb::make_tuple(sums, curvature);
  }

  nb::tuple start_tree(int output) {
    if (output >= 0) check_output(output);
    nodes_.start();
    NodeSplit root;
    {
      const ReleasedLock release;
      root = shard_->start_tree(output);
    }
    return record_of(root);
  }

  nb::list split(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& features,
                 const std::vector<std::int32_t>& bins, const std::vector<bool>& search) {
    const auto cuts = nodes_.cut(nodes, features, bins, search, shard_->n_features());
    std::vector<NodeSplit> found;
    {
      const ReleasedLock release;
      found = shard_->split(cuts);
    }
    return records_of(found);
  }

  auto finish_tree(const Input<std::int32_t, 1>& leaves) {
    require(nodes_.size() > 0, "no tree is growing.");
    const auto leaf_of_node = span_of<std::int32_t>(leaves);
    const int n_leaves = nodes_.count_leaves(leaf_of_node);
    std::int64_t* masses = nullptr;
    auto array = new_array<std::int64_t>(
        {static_cast<std::size_t>(n_leaves), static_cast<std::size_t>(shard_->n_labels())}, &masses);
    const ReleasedLock release;
    shard_->finish_tree(leaf_of_node, n_leaves, masses);
    return array;
  }

  auto edges() {
    std::vector<std::int64_t> values;
    {
      const ReleasedLock release;
      values = shard_->edges();
    }
    std::int64_t* out = nullptr;
    auto array = new_array<std::int64_t>({values.size()}, &out);
    std::copy(values.begin(), values.end(), out);
    return array;
  }

  auto histograms() {
    std::int32_t* out = nullptr;
    auto array = new_array<std::int32_t>(
        {all_bins(), static_cast<std::size_t>(shard_->n_searched())}, &out);
    {
      const ReleasedLock release;
      shard_->histograms(out);
    }
    return array;
  }

  // Copies for tests and debugging: e and the fixed-point g, n_rows x outputs.
  nb::tuple state() {
    const RowArrays& arrays = shard_->arrays();
    double* e = nullptr;
    std::int32_t* g = nullptr;
    auto exponentials = new_array<double>({rows(), outputs()}, &e);
    auto direction = new_array<std::int32_t>({rows(), outputs()}, &g);
    std::copy_n(arrays.exponentials, rows() * outputs(), e);
    const auto lanes = static_cast<std::size_t>(arrays.lanes.lanes);
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t c = 0; c < outputs(); ++c) {
        *g++ = arrays.direction[((c / lanes) * rows() + i) * lanes + c % lanes];
      }
    }
    return nb::make_tuple(exponentials, direction);
  }

  void run_histograms(bool bare) {
    const ReleasedLock release;
    shard_->run_histograms(bare);
  }

 private:
  void check_sides(const Input<double, 2>& up, const Input<double, 2>& down) const {
    require(up.shape(0) == 2 && down.shape(0) == 2 && up.shape(1) == outputs() &&
                down.shape(1) == outputs() && outputs() == k(),
            "up and down must have the shape (2, classes), and the outputs be the classes.");
  }
  std::size_t all_bins() const {
    return static_cast<std::size_t>(shard_->bins_before(shard_->n_features()));
  }
  void check_output(int output) const {
    require(output >= 0 && output < shard_->n_outputs(), "output is out of range.");
  }
  static void check_zero_one(const std::vector<std::uint8_t>& sides) {
    require(std::all_of(sides.begin(), sides.end(), [](auto s) { return s <= 1; }),
            "sides must hold 0 or 1.");
  }

  nb::object keep_[4];
  std::optional<StumpShard> shard_;
  bool logistic_ = false;
  GrowingNodes nodes_;
};

}  // namespace

void bind_stump_shard(nb::module_& m) {
  nb::class_<BoundStumpShard> shard(m, "StumpShard", "The rows of one fit and their weights.");
  const auto constructor = [&shard](auto tag) {
    using Bin = decltype(tag);
    shard.def(nb::init<const Input<Bin, 2>&, const Input<std::int32_t, 1>&,
                       const Input<std::int64_t, 1>&, const std::optional<Input<double, 1>>&,
                       const std::optional<Input<std::int32_t, 1>>&, const Code&,
                       const std::optional<Input<double, 1>>&, double, int, int, std::int64_t>(),
              nb::arg("bins").noconvert(), nb::arg("n_bins"), nb::arg("class_offsets"),
              nb::arg("weight").none(), nb::arg("multiplicity").none(), nb::arg("code").none(),
              nb::arg("leaf_weight").none(), nb::arg("least_leaf_weight"), nb::arg("loss"), nb::arg("n_threads"), nb::arg("row_block"));
  };
  constructor(std::uint8_t{});
  constructor(std::uint16_t{});
  shard.def("advance", &BoundStumpShard::advance, nb::arg("up"), nb::arg("down"), nb::arg("exponent"))
      .def("advance_table", &BoundStumpShard::advance_table, nb::arg("table"), nb::arg("exponent"))
      .def("advance_output", &BoundStumpShard::advance_output, nb::arg("output"), nb::arg("table"))
      .def("set_exponentials", &BoundStumpShard::set_exponentials, nb::arg("exponentials"))
      .def("project", &BoundStumpShard::project, nb::arg("signs"))
      .def("best_stump", &BoundStumpShard::best_stump, nb::arg("criterion") = 0,
           nb::sig("def best_stump(self, criterion: int = 0) -> tuple[int, int, int, int]"))
      .def("best_stumps", &BoundStumpShard::best_stumps)
      .def("place_stump", &BoundStumpShard::place_stump, nb::arg("feature"), nb::arg("bin"),
           nb::arg("above_is_one"))
      .def("place_tree", &BoundStumpShard::place_tree, nb::arg("feature"), nb::arg("bin"),
           nb::arg("left"), nb::arg("right"), nb::arg("leaf_side"))
      .def("sums", &BoundStumpShard::sums, nb::arg("exponent"))
      .def("sums_and_curvature", &BoundStumpShard::sums_and_curvature, nb::arg("exponent"), nb::arg("up"),
           nb::arg("down"),
           nb::sig("def sums_and_curvature(self, exponent: int, up: numpy.typing.ArrayLike, down: "
                   "numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], "
                   "numpy.typing.NDArray[numpy.float64]]"))
      .def("start_tree", &BoundStumpShard::start_tree, nb::arg("output"),
           nb::sig("def start_tree(self, output: int) -> tuple[int, int, int, float]"))
      .def("split", &BoundStumpShard::split, nb::arg("nodes"), nb::arg("features"), nb::arg("bins"),
           nb::arg("search"),
           nb::sig("def split(self, nodes: list[int], features: list[int], bins: list[int], "
                   "search: list[bool]) -> list[tuple[int, int, int, float]]"))
      .def("finish_tree", &BoundStumpShard::finish_tree, nb::arg("leaf_of_node"))
      .def("edges", &BoundStumpShard::edges)
      .def("histograms", &BoundStumpShard::histograms)
      .def("state", &BoundStumpShard::state,
           nb::sig("def state(self) -> tuple[numpy.typing.NDArray[numpy.float64], "
                   "numpy.typing.NDArray[numpy.int32]]"))
      .def("run_histograms", &BoundStumpShard::run_histograms, nb::arg("bare"));
}

}  // namespace marginboost
