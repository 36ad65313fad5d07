// Prediction of many rows: values become ranks, ranks become leaves, leaves become sums.
#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "marginboost/predict/predict.hpp"
#include "marginboost/predict/score_kernels.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "predict/predict_types.hpp"
#include "binning/sparse_rows.hpp"

namespace marginboost {
namespace {

/// Trees whose leaves are found before they are added: one byte or two a row and tree wait in a near
/// cache meanwhile.
constexpr std::int64_t kTreesTogether = 128;

/// Blocks of kRowsAtOnce rows whose leaves are added together. A leaf vector that comes from a far cache
/// is then near for the other rows in that leaf: of 256 rows hardly two are in the same of 255 leaves.
constexpr std::int64_t kMostBlocks = 8;
constexpr std::int64_t kMostRows = kMostBlocks * kRowsAtOnce;

/// Ranks of these rows, and leaf vectors of trees that are added together, stay in a near cache.
constexpr std::int64_t kRankBytes = 1 << 17;
constexpr std::int64_t kVectorBytes = 3 << 16;

/// Columns that are copied together, so that a row's cache lines are read once.
constexpr std::int64_t kColumnsTogether = 16;

/// A column of keys; a little longer than its rows, so that columns do not fall on the same lines.
constexpr std::int64_t kKeyStride = kRowsAtOnce + 16;

/// For fewer rows the vectors would be mostly empty.
constexpr std::int64_t kFewestRows = 24;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// What a value is ranked as: float where that holds every value of the type.
template <class T>
using KeyOf = std::conditional_t<std::is_same_v<T, float> || (std::is_integral_v<T> && sizeof(T) <= 2),
                                 float, double>;

/// Rows lie far from each other, so no processor guesses by itself what is read next.
inline void prefetch([[maybe_unused]] const void* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p);
#endif
}

/// A whole number of vectors of rows.
int whole(std::int64_t n_rows) {
  return static_cast<int>((n_rows + kRowsTogether - 1) / kRowsTogether * kRowsTogether);
}

/// Small enough that every thread has some, and that the ranks of `n_used` columns stay near.
template <class Rank>
std::int64_t rows_a_task(std::int64_t n_rows, std::int64_t n_used, int threads) {
  const std::int64_t block_bytes = n_used * kRowsAtOnce * static_cast<std::int64_t>(sizeof(Rank));
  const std::int64_t blocks =
      std::clamp<std::int64_t>(kRankBytes / std::max<std::int64_t>(block_bytes, 1), 1, kMostBlocks);
  const std::int64_t share = whole((n_rows + 2 * threads - 1) / (2 * threads));
  // Whole blocks, where there is more than one.
  const std::int64_t even = share < kRowsAtOnce ? share : share / kRowsAtOnce * kRowsAtOnce;
  return std::clamp<std::int64_t>(even, kRowsTogether, blocks * kRowsAtOnce);
}

/// Calls body(begin, n, block) for the blocks of some rows.
template <class Body>
void for_each_block(std::int64_t n_rows, const Body& body) {
  for (std::int64_t begin = 0; begin < n_rows; begin += kRowsAtOnce)
    body(begin, std::min<std::int64_t>(kRowsAtOnce, n_rows - begin), begin / kRowsAtOnce);
}

}  // namespace

/// What one thread needs for the rows of a task.
template <class Rank>
struct Predictor::Ranked {
  std::vector<Rank> ranks;   // by block: kRowsAtOnce a used column
  std::vector<Rank> leaves;  // `stride` a tree of those together
  std::int64_t stride = 0;
  std::int64_t n_used = 0;
  alignas(64) std::array<double, at(kMostRows * kPanelClasses)> sums;

  void reserve(std::int64_t task_rows, std::int64_t columns, std::int64_t n_trees) {
    stride = (task_rows + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
    n_used = columns;
    ranks.resize(at(n_used * stride));
    leaves.resize(at(std::min(n_trees, kTreesTogether) * stride));
  }
  Rank* ranks_of(std::int64_t block) { return ranks.data() + block * n_used * kRowsAtOnce; }
};

template <>
const std::optional<LeafMoves<std::uint8_t>>& Predictor::moves() const {
  return narrow_moves_;
}

template <>
const std::optional<LeafMoves<std::uint16_t>>& Predictor::moves() const {
  return wide_moves_;
}

template <class Rank>
bool Predictor::worth_ranking(Trees trees, std::int64_t n_values) const {
  if (!moves<Rank>() || all_shared(trees)) return false;
  // In cycles a row, roughly: a value to rank, a node to ask (by vectors), a walk.
  const double ranked = 4.0 * static_cast<double>(n_values) +
                        0.06 * sizeof(Rank) *
                            static_cast<double>(moves<Rank>()->n_moves(trees.first, trees.last));
  return ranked < 96.0 * static_cast<double>(trees.count());
}

template <class Rank>
void Predictor::add_found(Ranked<Rank>& block, Trees trees, std::int64_t n_rows,
                          double* scores) const {
  std::array<const Rank*, at(kTreesTogether)> leaves;
  std::array<const double*, at(kTreesTogether)> vectors;
  for (std::int64_t first = trees.first; first < trees.last; first += kTreesTogether) {
    const std::int64_t count = std::min(kTreesTogether, trees.last - first);
    for (std::int64_t q = 0; q < count; ++q) leaves[at(q)] = block.leaves.data() + q * block.stride;
    for_each_block(n_rows, [&](std::int64_t begin, std::int64_t n, std::int64_t number) {
      for (std::int64_t q = 0; q < count; ++q) {
        Rank* to = block.leaves.data() + q * block.stride + begin;
        const Rank* found = moves<Rank>()->find(first + q, block.ranks_of(number), whole(n), to);
        if (found != to) std::copy_n(found, n, to);
      }
    });
    if (!panels_) {
      for (std::int64_t q = 0; q < count; ++q)
        for (std::int64_t i = 0; i < n_rows; ++i)
          add_leaf(leaf_offsets_[at(first + q)] + leaves[at(q)][i], scores + i * n_classes_);
      continue;
    }
    for (const LeafPanels::Panel& panel : panels_->panels()) {
      for (std::int64_t i = 0; i < n_rows; ++i)
        std::copy_n(scores + i * n_classes_ + panel.first_class, panel.classes,
                    block.sums.data() + i * panel.width);
      for (std::int64_t q = 0; q < count; ++q)
        vectors[at(q)] = panel.vectors + leaf_offsets_[at(first + q)] * panel.width;
      // All rows through as many trees as are near, then through the next ones.
      const std::int64_t leaf_bytes = panel.width * static_cast<std::int64_t>(sizeof(double));
      std::int64_t begin = 0;
      while (begin < count) {
        std::int64_t end = begin + 1;
        while (end < count && (leaf_offsets_[at(first + end + 1)] - leaf_offsets_[at(first + begin)]) *
                                      leaf_bytes <= kVectorBytes)
          ++end;
        score_kernels().of<Rank>().add({vectors.data() + begin, leaves.data() + begin, end - begin,
                                        panel.width, n_rows, block.sums.data()});
        begin = end;
      }
      for (std::int64_t i = 0; i < n_rows; ++i)
        std::copy_n(block.sums.data() + i * panel.width, panel.classes,
                    scores + i * n_classes_ + panel.first_class);
    }
  }
}

template <class Rank, class T>
bool Predictor::add_ranked(const MatrixView<T>& x, Trees trees, int threads,
                           std::span<double> scores) const {
  using Key = KeyOf<T>;
  if (x.n_rows < kFewestRows || !worth_ranking<Rank>(trees, ranks_.n_used())) return false;
  const std::int64_t n_used = ranks_.n_used();
  const std::int64_t task_rows = rows_a_task<Rank>(x.n_rows, n_used, threads);
  std::vector<Ranked<Rank>> blocks(at(threads));
  const auto rank_rows = [&](const T* rows, std::int64_t n_rows, Rank* all_ranks) {
    const RankKernels<Rank>& run = score_kernels().of<Rank>();
    std::array<Key, at(kColumnsTogether * kKeyStride)> keys;
    for (std::int64_t c = 0; c < n_used; c += kColumnsTogether) {
      const std::int64_t count = std::min(kColumnsTogether, n_used - c);
      std::array<std::int64_t, at(kColumnsTogether)> offset{};
      for (std::int64_t j = 0; j < count; ++j)
        offset[at(j)] = ranks_.used()[at(c + j)] * x.column_stride;
      if (x.row_stride == 1) {
        for (std::int64_t j = 0; j < count; ++j)
          for (std::int64_t i = 0; i < n_rows; ++i)
            keys[at(j * kKeyStride + i)] = static_cast<Key>(rows[offset[at(j)] + i]);
      } else {
        const std::int64_t ahead = ranks_.used()[at(std::min(c + kColumnsTogether, n_used - 1))];
        const std::int64_t further =
            ranks_.used()[at(std::min(c + 2 * kColumnsTogether, n_used) - 1)];
        for (std::int64_t i = 0; i < n_rows; ++i) {
          const T* row = rows + i * x.row_stride;
          prefetch(row + ahead * x.column_stride);
          prefetch(row + further * x.column_stride);
          for (std::int64_t j = 0; j < count; ++j)
            keys[at(j * kKeyStride + i)] = static_cast<Key>(row[offset[at(j)]]);
        }
      }
      for (std::int64_t j = 0; j < count; ++j) {
        Key* column = keys.data() + j * kKeyStride;
        std::fill(column + n_rows, column + whole(n_rows), Key{0});
        Rank* ranks = all_ranks + (c + j) * kRowsAtOnce;
        if constexpr (std::is_same_v<Key, float>) {
          run.rank_floats(column, whole(n_rows), ranks_.ladder<float>(c + j), ranks);
        } else {
          run.rank_doubles(column, whole(n_rows), ranks_.ladder<double>(c + j), ranks);
        }
      }
    }
  };
  parallel_for((x.n_rows + task_rows - 1) / task_rows, threads, [&](std::int64_t task, int slot) {
    Ranked<Rank>& block = blocks[at(slot)];
    block.reserve(task_rows, n_used, trees.count());
    const std::int64_t first_row = task * task_rows;
    const std::int64_t n_rows = std::min(task_rows, x.n_rows - first_row);
    for_each_block(n_rows, [&](std::int64_t begin, std::int64_t n, std::int64_t number) {
      rank_rows(x.data + (first_row + begin) * x.row_stride, n, block.ranks_of(number));
    });
    add_found(block, trees, n_rows, scores.data() + first_row * n_classes_);
  });
  return true;
}

/// A column is the rank of zero but for the rows that have a value there, and again afterwards.
template <class Rank, class T, class Index>
bool Predictor::add_ranked(const SparseView<T, Index>& x, Trees trees, int threads,
                           std::span<double> scores) const {
  if (x.n_rows < kFewestRows) return false;
  const std::int64_t values_a_row = x.offsets[x.n_rows] / x.n_rows;
  if (!worth_ranking<Rank>(trees, std::min(ranks_.n_used(), values_a_row))) return false;
  const std::int64_t n_used = ranks_.n_used();
  const std::int64_t task_rows = rows_a_task<Rank>(x.n_rows, n_used, threads);
  std::vector<Rank> zero(at(n_used));
  for (std::int64_t c = 0; c < n_used; ++c) zero[at(c)] = static_cast<Rank>(ranks_.rank(c, T{0}));
  std::vector<Ranked<Rank>> blocks(at(threads));
  parallel_for((x.n_rows + task_rows - 1) / task_rows, threads, [&](std::int64_t task, int slot) {
    Ranked<Rank>& block = blocks[at(slot)];
    const std::int64_t first_row = task * task_rows;
    const std::int64_t n_rows = std::min(task_rows, x.n_rows - first_row);
    if (block.ranks.empty()) {
      block.reserve(task_rows, n_used, trees.count());
      for_each_block(block.stride, [&](std::int64_t, std::int64_t, std::int64_t number) {
        for (std::int64_t c = 0; c < n_used; ++c)
          std::fill_n(block.ranks_of(number) + c * kRowsAtOnce, kRowsAtOnce, zero[at(c)]);
      });
    }
    const auto place = [&](std::int64_t i, std::int32_t c) {
      return block.ranks_of(i / kRowsAtOnce) + c * kRowsAtOnce + i % kRowsAtOnce;
    };
    for_each_value(x, first_row, n_rows, [&](std::int64_t i, std::int64_t feature, T value) {
      const std::int32_t c = ranks_.column(feature);
      if (c >= 0) *place(i, c) = static_cast<Rank>(ranks_.rank(c, value));
    });
    add_found(block, trees, n_rows, scores.data() + first_row * n_classes_);
    for_each_value(x, first_row, n_rows, [&](std::int64_t i, std::int64_t feature, T) {
      const std::int32_t c = ranks_.column(feature);
      if (c >= 0) *place(i, c) = zero[at(c)];
    });
  });
  return true;
}

#define MARGINBOOST_INSTANTIATE(T)                                                              \
  template bool Predictor::add_ranked<std::uint8_t>(const MatrixView<T>&, Trees, int,         \
                                                    std::span<double>) const;                 \
  template bool Predictor::add_ranked<std::uint16_t>(const MatrixView<T>&, Trees, int,        \
                                                     std::span<double>) const;
MARGINBOOST_DENSE_TYPES(MARGINBOOST_INSTANTIATE)
#undef MARGINBOOST_INSTANTIATE

#define MARGINBOOST_INSTANTIATE(T, Index)                                                      \
  template bool Predictor::add_ranked<std::uint8_t>(const SparseView<T, Index>&, Trees, int, \
                                                    std::span<double>) const;                \
  template bool Predictor::add_ranked<std::uint16_t>(const SparseView<T, Index>&, Trees, int, \
                                                     std::span<double>) const;
MARGINBOOST_SPARSE_TYPES(MARGINBOOST_INSTANTIATE)
#undef MARGINBOOST_INSTANTIATE

}  // namespace marginboost
