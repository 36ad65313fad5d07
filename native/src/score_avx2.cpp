#if defined(MARGINBOOST_X86)
#include <immintrin.h>

#include "score_kernels_impl.hpp"

namespace marginboost {
namespace {

struct Avx2 {};

/// Few wide sums: two rows where their registers suffice, so that one row's sums need not wait.
template <class Rank, int vectors, int rows>
void add_rows(const PanelSum<Rank>& sum, std::int64_t first) {
  constexpr int width = 4 * vectors;
  alignas(32) double edge[rows][width] = {};
  __m256d total[rows][vectors];
  for (int i = 0; i < rows; ++i) {
    const double* scores = sum.scores + (first + i) * sum.stride;
    for (int r = 0; r < sum.classes; ++r) edge[i][r] = scores[r];
    for (int v = 0; v < vectors; ++v) total[i][v] = _mm256_load_pd(edge[i] + 4 * v);
  }
  for (std::int64_t tree = 0; tree < sum.n_trees; ++tree)
    for (int i = 0; i < rows; ++i) {
      const double* vector = sum.vectors[tree] + std::int64_t{sum.leaves[tree][first + i]} * width;
      for (int v = 0; v < vectors; ++v)
        total[i][v] = _mm256_add_pd(total[i][v], _mm256_load_pd(vector + 4 * v));
    }
  for (int i = 0; i < rows; ++i) {
    double* scores = sum.scores + (first + i) * sum.stride;
    for (int v = 0; v < vectors; ++v) _mm256_store_pd(edge[i] + 4 * v, total[i][v]);
    for (int r = 0; r < sum.classes; ++r) scores[r] = edge[i][r];
  }
}

template <class Rank, int vectors>
void add_vectors(const PanelSum<Rank>& sum) {
  constexpr int rows = vectors <= 2 ? 4 : vectors <= 4 ? 2 : 1;
  std::int64_t i = 0;
  for (; i + rows <= sum.n_rows; i += rows) add_rows<Rank, vectors, rows>(sum, i);
  for (; i < sum.n_rows; ++i) add_rows<Rank, vectors, 1>(sum, i);
}

template <class Rank>
void add(const PanelSum<Rank>& sum) {
  switch (sum.width) {
    case 4: return add_vectors<Rank, 1>(sum);
    case 8: return add_vectors<Rank, 2>(sum);
    case 16: return add_vectors<Rank, 4>(sum);
    case 24: return add_vectors<Rank, 6>(sum);
    default: return add_vectors<Rank, 8>(sum);
  }
}

constexpr ScoreKernels table() {
  ScoreKernels all = score_kernels_of<Avx2>();
  all.narrow.add = &add<std::uint8_t>;
  all.wide.add = &add<std::uint16_t>;
  return all;
}

}  // namespace

extern const ScoreKernels kAvx2ScoreKernels;
const ScoreKernels kAvx2ScoreKernels = table();

}  // namespace marginboost
#endif
