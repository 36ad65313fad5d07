#if defined(MARGINBOOST_X86)
#include <immintrin.h>

#include "predict/score_kernels_impl.hpp"

namespace marginboost {
namespace {

struct Avx2 {};

/// Several rows at a time: a row's next sum waits for its last one.
template <class Rank, int vectors, int rows>
void add_rows(const PanelSum<Rank>& sum, std::int64_t first) {
  constexpr int width = 4 * vectors;
  double* scores = sum.scores + first * width;
  __m256d total[rows][vectors];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) total[i][v] = _mm256_load_pd(scores + i * width + 4 * v);
  for (std::int64_t tree = 0; tree < sum.n_trees; ++tree) {
    const Rank* leaves = sum.leaves[tree] + first;
    for (int i = 0; i < rows; ++i) {
      const double* vector = sum.vectors[tree] + std::int64_t{leaves[i]} * width;
      for (int v = 0; v < vectors; ++v)
        total[i][v] = _mm256_add_pd(total[i][v], _mm256_load_pd(vector + 4 * v));
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) _mm256_store_pd(scores + i * width + 4 * v, total[i][v]);
}

template <class Rank, int vectors>
void add_vectors(const PanelSum<Rank>& sum) {
  constexpr int rows = 8 / vectors;
  std::int64_t i = 0;
  for (; i + rows <= sum.n_rows; i += rows) add_rows<Rank, vectors, rows>(sum, i);
  for (; i < sum.n_rows; ++i) add_rows<Rank, vectors, 1>(sum, i);
}

template <class Rank>
void add(const PanelSum<Rank>& sum) {
  if (sum.width == 4) {
    add_vectors<Rank, 1>(sum);
  } else {
    add_vectors<Rank, 2>(sum);
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
