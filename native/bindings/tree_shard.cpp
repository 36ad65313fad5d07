#include "marginboost/trees/shard.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "growing_nodes.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "tree_rounds.hpp"
#include "tree_shard_data.hpp"

namespace marginboost {
namespace {

GrowthRules checked_growth(int max_leaf_nodes, std::optional<int> max_depth) {
  require(max_leaf_nodes >= 2 && max_leaf_nodes <= 65535, "max_leaf_nodes must be from 2 to 65535.");
  GrowthRules growth;
  growth.max_leaf_nodes = max_leaf_nodes;
  if (max_depth) growth.max_depth = *max_depth;
  return growth;
}

// Where the caller wants histograms.
using Room = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class T>
auto copied(const std::vector<T>& values) {
  T* out;
  auto array = new_array<T>({values.size()}, &out);
  std::copy(values.begin(), values.end(), out);
  return array;
}

// A shard and the NumPy arrays that it reads, kept alive with it.
class BoundTreeShard {
 public:
  template <class Bin>
  BoundTreeShard(const Input<Bin, 2>& bins, const Input<std::int32_t, 1>& n_bins,
                   const Input<std::int64_t, 1>& offsets, const Weight& weight,
                   const Multiplicity& multiplicity, const Hashes& hashes, const Multiplicity& copies,
                   const Input<std::uint64_t, 1>& bounds, const PairWeights& pair_weights, int loss,
                   int n_threads)
      : keep_{nb::cast(bins), nb::cast(multiplicity), nb::cast(hashes), nb::cast(copies)} {
    const TreeSettings settings = checked_tree_settings(loss, n_threads);
    n_threads_ = settings.n_threads;
    TreeShardData data =
        shard_data(offsets, weight, multiplicity, hashes, copies, bounds, pair_weights);
    const auto d = bins.shape(0), m = bins.shape(1);
    require(d >= 1, "bins must hold at least one feature.");
    require(static_cast<std::int64_t>(m) == data.class_offsets.back(),
            "bins must have one column per row of data.");
    require(n_bins.shape(0) == d, "n_bins must have one entry per feature.");
    n_bins_.assign(n_bins.data(), n_bins.data() + d);
    require(*std::min_element(n_bins_.begin(), n_bins_.end()) >= 1,
            "every bin must be below its feature's n_bins, which must be at least 1.");
    const ReleasedLock release;
    shard_ = make_tree_shard(std::move(data), bins.data(), n_bins_, settings.loss,
                               settings.n_threads);
  }

  template <class Bin>
  BoundTreeShard(const Input<std::int64_t, 1>& indptr, const Input<std::int32_t, 1>& rows,
                   const Input<Bin, 1>& bins, const Input<std::int32_t, 1>& zero_bin,
                   const Input<std::int32_t, 1>& n_bins, const Input<std::int64_t, 1>& offsets,
                   const Weight& weight, const Multiplicity& multiplicity, const Hashes& hashes,
                   const Multiplicity& copies, const Input<std::uint64_t, 1>& bounds,
                   const PairWeights& pair_weights, int loss, int n_threads)
      : keep_{nb::cast(indptr), nb::cast(rows), nb::cast(bins), nb::cast(zero_bin),
              nb::cast(multiplicity), nb::cast(hashes), nb::cast(copies)} {
    const TreeSettings settings = checked_tree_settings(loss, n_threads);
    n_threads_ = settings.n_threads;
    TreeShardData data =
        shard_data(offsets, weight, multiplicity, hashes, copies, bounds, pair_weights);
    const std::int64_t m = data.class_offsets.back();
    const auto d = n_bins.shape(0);
    require(d >= 1 && indptr.shape(0) == d + 1 && zero_bin.shape(0) == d,
            "indptr, zero_bin and n_bins must describe the same features, one at least.");
    require(indptr(0) == 0 && std::is_sorted(indptr.data(), indptr.data() + d + 1) &&
                indptr(d) == static_cast<std::int64_t>(rows.shape(0)) &&
                rows.shape(0) == bins.shape(0),
            "indptr must run from 0 to the number of entries without falling.");
    for (std::size_t f = 0; f < d; ++f) {
      require(zero_bin(f) >= 0 && zero_bin(f) < n_bins(f),
              "every zero_bin must be below its feature's n_bins.");
      std::int64_t last = -1;
      for (std::int64_t j = indptr(f); j < indptr(f + 1); ++j) {
        const auto at = static_cast<std::size_t>(j);
        require(rows(at) > last && rows(at) < m, "rows must ascend within a feature.");
        require(bins(at) < n_bins(f) && bins(at) != zero_bin(f),
                "every bin must be below its feature's n_bins and not its zero_bin.");
        last = rows(at);
      }
    }
    n_bins_.assign(n_bins.data(), n_bins.data() + d);
    const SparseBins<Bin> sparse{indptr.data(), rows.data(), bins.data(), zero_bin.data()};
    const ReleasedLock release;
    shard_ = make_tree_shard(std::move(data), sparse, n_bins_, settings.loss,
                               settings.n_threads);
  }

  std::pair<std::int64_t, std::int64_t> advance(const Input<float, 2>& up,
                                                const Input<float, 2>& down,
                                                const Input<float, 1>& signs, int exponent,
                                                int mass_exponent) {
    const auto k = static_cast<std::size_t>(shard_->n_classes());
    require(up.shape(1) == k && down.shape(1) == k && up.shape(0) == down.shape(0),
            "up and down must have one row per leaf and one column per class.");
    require(static_cast<int>(up.shape(0)) >= n_leaves_, "up must have a row for every leaf.");
    require(signs.shape(0) == k, "signs must have one entry per class.");
    const ReleasedLock release;
    const TreeAdvance found =
        shard_->advance(up.data(), down.data(), static_cast<int>(up.shape(0)), signs.data(),
                        exponent, mass_exponent);
    return {found.wrong, found.loss};
  }

  std::span<const std::int32_t> checked(const Input<std::int32_t, 1>& features,
                                        std::int32_t least_count, float smoothing) const {
    require(least_count >= 1 && smoothing > 0.0F,
            "least_count must be at least 1 and smoothing positive.");
    return checked(features);
  }

  std::span<const std::int32_t> checked(const Input<std::int32_t, 1>& features) const {
    const std::int32_t d = shard_->n_features();
    const std::span<const std::int32_t> chosen(features.data(), features.shape(0));
    std::int32_t last = -1;
    for (const std::int32_t f : chosen) {
      require(f > last && f < d, "features must ascend and be below n_features.");
      last = f;
    }
    return chosen;
  }

  nb::tuple grow_tree(const Input<std::int32_t, 1>& features, std::uint64_t seed,
                      std::uint64_t limit, std::int32_t least_count, float smoothing,
                      int max_leaf_nodes, std::optional<int> max_depth) {
    const auto chosen = checked(features, least_count, smoothing);
    const GrowthRules growth = checked_growth(max_leaf_nodes, max_depth);
    GrownTree tree;
    {
      const ReleasedLock release;
      tree = shard_->grow_tree(chosen, {seed, limit}, {least_count, smoothing}, growth);
    }
    searched_ = true;
    n_tree_features_ = chosen.size();
    nodes_.set(tree.leaf_of_node);
    return nb::make_tuple(copied(tree.feature), copied(tree.bin), copied(tree.left),
                          copied(tree.right), copied(tree.gain), copied(tree.leaf_of_node),
                          copied(tree.counts));
  }

  nb::tuple boost_rounds(const Input<std::int32_t, 2>& features,
                         const Input<std::uint64_t, 1>& seeds, std::uint64_t limit,
                         const Input<float, 2>& signs, std::int32_t least_count, int max_leaf_nodes,
                         std::optional<int> max_depth, double pseudo_count, bool normalized,
                         double n_pairs, double row_mass, double factor, double most_step, double eta,
                         const Input<double, 1>& class_counts, const Input<double, 1>& class_mass,
                         const Input<std::int64_t, 1>& lanes, int sum_exponent, double mass,
                         double mass_unit, double gain_unit) {
    const std::vector<RoundDraw> draws = checked_draws({features, seeds, limit, signs}, *shard_);
    require(least_count >= 1, "least_count must be at least 1.");
    const BoundRules bound(pseudo_count, normalized, n_pairs, row_mass, factor, most_step, eta,
                           class_counts, class_mass, lanes);
    require(bound.n_classes() == static_cast<std::size_t>(shard_->n_classes()),
            "class_counts, class_mass and lanes must have one entry per class.");
    RoundRules rules = bound.rules();
    rules.least_count = least_count;
    rules.growth = checked_growth(max_leaf_nodes, max_depth);
    rules.n_threads = n_threads_;
    RoundState state{sum_exponent, mass, mass_unit, gain_unit};
    BoostedRounds rounds;
    {
      const ReleasedLock release;
      rounds = marginboost::boost_rounds(*shard_, rules, draws, state);
    }
    nodes_.start();
    searched_ = false;
    n_leaves_ = max_leaf_nodes;  // the last tree may have been given up
    return rounds_of(std::move(rounds), state);
  }

  nb::tuple start_tree(const Input<std::int32_t, 1>& features, std::uint64_t seed,
                       std::uint64_t limit, std::int32_t least_count, float smoothing) {
    const auto chosen = checked(features, least_count, smoothing);
    nodes_.start();
    searched_ = true;
    n_tree_features_ = chosen.size();
    NodeSplit root;
    {
      const ReleasedLock release;
      root = shard_->start_tree(chosen, {seed, limit}, {least_count, smoothing});
    }
    return record_of(root);
  }

  nb::list split(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& features,
                 const std::vector<std::int32_t>& bins, const std::vector<bool>& search,
                 const Allowed& allowed) {
    require(searched_, "a tree that was begun by begin_tree must be divided by move_rows.");
    require(!allowed || (allowed->shape(0) == nodes.size() && allowed->shape(1) == n_tree_features_),
            "allowed must have one row per node and one column per feature of the tree.");
    const auto cuts = nodes_.cut(nodes, features, bins, search, shard_->n_features());
    std::vector<NodeSplit> found;
    {
      const ReleasedLock release;
      found = shard_->split(cuts, allowed ? allowed->data() : nullptr);
    }
    return records_of(found);
  }

  void begin_tree(const Input<std::int32_t, 1>& features, std::uint64_t seed, std::uint64_t limit) {
    const auto chosen = checked(features);
    nodes_.start();
    searched_ = false;
    const ReleasedLock release;
    shard_->begin_tree(chosen, {seed, limit});
  }

  void move_rows(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& features,
                 const std::vector<std::int32_t>& bins) {
    require(!searched_, "a tree that was begun by start_tree must be divided by split.");
    const std::vector<bool> search(nodes.size(), false);
    const auto cuts = nodes_.cut(nodes, features, bins, search, shard_->n_features());
    const ReleasedLock release;
    shard_->move_rows(cuts);
  }

  nb::object node_histograms(const std::vector<std::int32_t>& nodes,
                             const std::optional<Room>& room) {
    constexpr std::size_t kMostNodes = 65534;
    std::vector<bool> named(nodes_.size(), false);
    for (const std::int32_t node : nodes) {
      require(nodes_.is_leaf(node) && !named[static_cast<std::size_t>(node)],
              GrowingNodes::kEachOnce);
      named[static_cast<std::size_t>(node)] = true;
    }
    require(nodes.size() <= kMostNodes, "nodes must be at most 65534 at a time.");
    const std::size_t shape[] = {nodes.size(), static_cast<std::size_t>(shard_->n_tree_bins()),
                                 static_cast<std::size_t>(shard_->slots().lanes)};
    require(!room || (room->shape(0) == shape[0] && room->shape(1) == shape[1] &&
                      room->shape(2) == shape[2]),
            "out must be an array of nodes x bins of the tree's features x lanes.");
    std::int32_t* out = room ? room->data() : nullptr;
    nb::object array = room ? nb::cast(*room)
                            : nb::cast(new_array<std::int32_t>({shape[0], shape[1], shape[2]}, &out));
    {
      const ReleasedLock release;
      shard_->node_histograms(nodes, out);
    }
    return array;
  }

  auto finish_tree(const Input<std::int32_t, 1>& leaves, int exponent) {
    const std::span<const std::int32_t> leaf_of_node(leaves.data(), leaves.shape(0));
    const int n_leaves = nodes_.count_leaves(leaf_of_node);
    require(n_leaves <= 65536, "leaf_of_node must name leaves from 0 to 65535.");
    n_leaves_ = n_leaves;
    const auto k = static_cast<std::size_t>(shard_->n_classes());
    double *own, *against;
    auto owns = new_array<double>({static_cast<std::size_t>(n_leaves), k}, &own);
    auto againsts = new_array<double>({static_cast<std::size_t>(n_leaves), k}, &against);
    {
      const ReleasedLock release;
      shard_->finish_tree(leaf_of_node, n_leaves, exponent, own, against);
    }
    return nb::make_tuple(owns, againsts);
  }

  auto exponentials(const Input<std::int64_t, 1>& rows) const {
    const std::span<const std::int64_t> wanted(rows.data(), rows.shape(0));
    for (const std::int64_t i : wanted) {
      require(i >= 0 && i < shard_->n_rows(), "rows must be below the number of rows.");
    }
    float* out;
    auto array = new_array<float>({rows.shape(0), static_cast<std::size_t>(shard_->n_classes())}, &out);
    shard_->exponentials(wanted, out);
    return array;
  }

  nb::tuple state() const {
    const auto m = static_cast<std::size_t>(shard_->n_rows());
    float* e;
    std::int32_t* g;
    auto exponentials = new_array<float>({m, static_cast<std::size_t>(shard_->n_classes())}, &e);
    auto direction = new_array<std::int32_t>({m, static_cast<std::size_t>(shard_->slots().lanes)}, &g);
    shard_->state(e, g);
    return nb::make_tuple(exponentials, direction);
  }

  nb::tuple slots() const {
    const Slots& slots = shard_->slots();
    return nb::make_tuple(slots.lanes, slots.tiles, slots.stored);
  }

 private:
  std::vector<nb::object> keep_;
  std::vector<std::int32_t> n_bins_;
  std::unique_ptr<TreeShard> shard_;
  GrowingNodes nodes_;
  bool searched_ = false;  // whether splits of the tree are looked for here
  std::size_t n_tree_features_ = 0;
  int n_leaves_ = 1;
  int n_threads_ = 1;
};

template <class Bin>
void bind_constructors(nb::class_<BoundTreeShard>& bound) {
  bound.def(nb::init<const Input<Bin, 2>&, const Input<std::int32_t, 1>&,
                     const Input<std::int64_t, 1>&, const Weight&, const Multiplicity&, const Hashes&,
                     const Multiplicity&, const Input<std::uint64_t, 1>&, const PairWeights&, int,
                     int>(),
            nb::arg("bins"), nb::arg("n_bins"), nb::arg("class_offsets"),
            nb::arg("weight").none(), nb::arg("multiplicity").none(), nb::arg("hashes").none(),
            nb::arg("copies").none(), nb::arg("bounds"), nb::arg("pair_weights").none(),
            nb::arg("loss"), nb::arg("n_threads"));
  bound.def(nb::init<const Input<std::int64_t, 1>&, const Input<std::int32_t, 1>&,
                     const Input<Bin, 1>&, const Input<std::int32_t, 1>&,
                     const Input<std::int32_t, 1>&, const Input<std::int64_t, 1>&, const Weight&,
                     const Multiplicity&, const Hashes&, const Multiplicity&,
                     const Input<std::uint64_t, 1>&, const PairWeights&, int, int>(),
            nb::arg("indptr"), nb::arg("rows"), nb::arg("bins"), nb::arg("zero_bin"),
            nb::arg("n_bins"), nb::arg("class_offsets"), nb::arg("weight").none(),
            nb::arg("multiplicity").none(), nb::arg("hashes").none(),
            nb::arg("copies").none(), nb::arg("bounds"), nb::arg("pair_weights").none(),
            nb::arg("loss"), nb::arg("n_threads"));
}

}  // namespace

void bind_tree_shard(nb::module_& m) {
  auto bound = nb::class_<BoundTreeShard>(m, "TreeShard");
  bind_constructors<std::uint8_t>(bound);
  bind_constructors<std::uint16_t>(bound);
  bound.def("advance", &BoundTreeShard::advance, nb::arg("up"), nb::arg("down"),
            nb::arg("signs"), nb::arg("exponent"), nb::arg("mass_exponent"))
      .def("start_tree", &BoundTreeShard::start_tree, nb::arg("features"),
           nb::arg("seed"), nb::arg("limit"), nb::arg("least_count"), nb::arg("smoothing"))
      .def("grow_tree", &BoundTreeShard::grow_tree, nb::arg("features"), nb::arg("seed"),
           nb::arg("limit"), nb::arg("least_count"), nb::arg("smoothing"),
           nb::arg("max_leaf_nodes"), nb::arg("max_depth").none())
      .def("boost_rounds", &BoundTreeShard::boost_rounds, nb::arg("features"), nb::arg("seeds"),
           nb::arg("limit"), nb::arg("signs"), nb::arg("least_count"), nb::arg("max_leaf_nodes"),
           nb::arg("max_depth").none(), nb::arg("pseudo_count"), nb::arg("normalized"),
           nb::arg("n_pairs"), nb::arg("row_mass"), nb::arg("factor"), nb::arg("most_step"),
           nb::arg("eta"), nb::arg("class_counts"), nb::arg("class_mass"), nb::arg("lanes"),
           nb::arg("sum_exponent"), nb::arg("mass"), nb::arg("mass_unit"), nb::arg("gain_unit"))
      .def("split", &BoundTreeShard::split, nb::arg("nodes"), nb::arg("features"),
           nb::arg("bins"), nb::arg("search"), nb::arg("allowed") = nb::none())
      .def("begin_tree", &BoundTreeShard::begin_tree, nb::arg("features"), nb::arg("seed"),
           nb::arg("limit"))
      .def("move_rows", &BoundTreeShard::move_rows, nb::arg("nodes"), nb::arg("features"),
           nb::arg("bins"))
      .def("node_histograms", &BoundTreeShard::node_histograms, nb::arg("nodes"),
           nb::arg("out") = nb::none())
      .def("finish_tree", &BoundTreeShard::finish_tree, nb::arg("leaf_of_node"),
           nb::arg("exponent"))
      .def("exponentials", &BoundTreeShard::exponentials, nb::arg("rows"))
      .def("slots", &BoundTreeShard::slots)
      .def("state", &BoundTreeShard::state);
}

}  // namespace marginboost
