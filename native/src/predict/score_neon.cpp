#if defined(__aarch64__)
#include <arm_neon.h>

#include "predict/score_kernels_impl.hpp"

namespace marginboost {
namespace {

struct Neon {};

// ---- leaves --------------------------------------------------------------------------------------

struct Bytes {
  using Rank = std::uint8_t;
  using Vector = uint8x16_t;
  static constexpr int lanes = 16;
  static Vector all(Rank value) { return vdupq_n_u8(value); }
  static Vector load(const Rank* p) { return vld1q_u8(p); }
  static void store(Rank* p, Vector x) { vst1q_u8(p, x); }
  static Vector move(Vector leaf, Vector ranks, Vector least, Vector here, Vector there) {
    return vbslq_u8(vandq_u8(vceqq_u8(leaf, here), vcgeq_u8(ranks, least)), there, leaf);
  }
};

struct Words {
  using Rank = std::uint16_t;
  using Vector = uint16x8_t;
  static constexpr int lanes = 8;
  static Vector all(Rank value) { return vdupq_n_u16(value); }
  static Vector load(const Rank* p) { return vld1q_u16(p); }
  static void store(Rank* p, Vector x) { vst1q_u16(p, x); }
  static Vector move(Vector leaf, Vector ranks, Vector least, Vector here, Vector there) {
    return vbslq_u16(vandq_u16(vceqq_u16(leaf, here), vcgeq_u16(ranks, least)), there, leaf);
  }
};

/// The rows' leaves stay in registers while the moves go by.
template <class V, int vectors>
void find_some(const Move<typename V::Rank>* moves, std::int64_t n_moves, typename V::Rank root,
               const typename V::Rank* ranks, typename V::Rank* leaves) {
  typename V::Vector leaf[vectors];
  for (auto& one : leaf) one = V::all(root);
  for (std::int64_t q = 0; q < n_moves; ++q) {
    const typename V::Rank* column = ranks + std::int64_t{moves[q].column} * kRowsAtOnce;
    const auto least = V::all(moves[q].least);
    const auto here = V::all(moves[q].here);
    const auto there = V::all(moves[q].there);
    for (int j = 0; j < vectors; ++j)
      leaf[j] = V::move(leaf[j], V::load(column + j * V::lanes), least, here, there);
  }
  for (int j = 0; j < vectors; ++j) V::store(leaves + j * V::lanes, leaf[j]);
}

template <class V>
void find_leaves(const Move<typename V::Rank>* moves, std::int64_t n_moves, typename V::Rank root,
                 const typename V::Rank* ranks, int n, typename V::Rank* leaves) {
  constexpr int many = 16;  // of 32 registers
  constexpr int few = kRowsTogether / V::lanes;
  int i = 0;
  for (; i + many * V::lanes <= n; i += many * V::lanes)
    find_some<V, many>(moves, n_moves, root, ranks + i, leaves + i);
  for (; i < n; i += kRowsTogether)
    find_some<V, few>(moves, n_moves, root, ranks + i, leaves + i);
}

// ---- sums ----------------------------------------------------------------------------------------

/// Several rows at a time: a row's next sum waits for its last one.
template <class Rank, int vectors, int rows>
void add_rows(const PanelSum<Rank>& sum, std::int64_t first) {
  constexpr int width = 2 * vectors;
  double* scores = sum.scores + first * width;
  float64x2_t total[rows][vectors];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) total[i][v] = vld1q_f64(scores + i * width + 2 * v);
  for (std::int64_t tree = 0; tree < sum.n_trees; ++tree) {
    const Rank* leaves = sum.leaves[tree] + first;
    for (int i = 0; i < rows; ++i) {
      const double* vector = sum.vectors[tree] + std::int64_t{leaves[i]} * width;
      for (int v = 0; v < vectors; ++v)
        total[i][v] = vaddq_f64(total[i][v], vld1q_f64(vector + 2 * v));
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) vst1q_f64(scores + i * width + 2 * v, total[i][v]);
}

template <class Rank, int vectors>
void add_vectors(const PanelSum<Rank>& sum) {
  constexpr int rows = 16 / vectors;
  std::int64_t i = 0;
  for (; i + rows <= sum.n_rows; i += rows) add_rows<Rank, vectors, rows>(sum, i);
  for (; i < sum.n_rows; ++i) add_rows<Rank, vectors, 1>(sum, i);
}

template <class Rank>
void add(const PanelSum<Rank>& sum) {
  if (sum.width == 4) {
    add_vectors<Rank, 2>(sum);
  } else {
    add_vectors<Rank, 4>(sum);
  }
}

constexpr ScoreKernels table() {
  ScoreKernels all = score_kernels_of<Neon>();  // a rank is looked up lane by lane
  all.narrow.find_leaves = &find_leaves<Bytes>;
  all.wide.find_leaves = &find_leaves<Words>;
  all.narrow.add = &add<std::uint8_t>;
  all.wide.add = &add<std::uint16_t>;
  return all;
}

}  // namespace

extern const ScoreKernels kNeonScoreKernels;
const ScoreKernels kNeonScoreKernels = table();

}  // namespace marginboost
#endif
