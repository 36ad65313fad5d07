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

__m256i equal(__m256i a, __m256i b, std::uint8_t) { return _mm256_cmpeq_epi8(a, b); }
__m256i equal(__m256i a, __m256i b, std::uint16_t) { return _mm256_cmpeq_epi16(a, b); }
__m256i least_of(__m256i a, __m256i b, std::uint8_t) { return _mm256_min_epu8(a, b); }
__m256i least_of(__m256i a, __m256i b, std::uint16_t) { return _mm256_min_epu16(a, b); }
__m256i everywhere(std::uint8_t value) { return _mm256_set1_epi8(static_cast<char>(value)); }
__m256i everywhere(std::uint16_t value) { return _mm256_set1_epi16(static_cast<short>(value)); }

/// The leaves of some rows, in registers from the first move to the last.
template <class Rank, int vectors>
void find_leaves_of(const Move<Rank>* moves, std::int64_t n_moves, Rank root, const Rank* ranks,
                    Rank* leaves) {
  constexpr int kLanes = 32 / sizeof(Rank);
  __m256i found[vectors];
  for (int v = 0; v < vectors; ++v) found[v] = everywhere(root);
  for (std::int64_t q = 0; q < n_moves; ++q) {
    const Move<Rank> move = moves[q];
    const Rank* column = ranks + std::int64_t{move.column} * kRowsAtOnce;
    const __m256i least = everywhere(move.least);
    const __m256i here = everywhere(move.here);
    const __m256i there = everywhere(move.there);
    for (int v = 0; v < vectors; ++v) {
      const __m256i rank =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column + v * kLanes));
      const __m256i moves_on = _mm256_and_si256(equal(found[v], here, Rank{}),
                                                equal(least_of(rank, least, Rank{}), least, Rank{}));
      found[v] = _mm256_blendv_epi8(found[v], there, moves_on);
    }
  }
  for (int v = 0; v < vectors; ++v)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(leaves + v * kLanes), found[v]);
}

template <class Rank>
void find_leaves(const Move<Rank>* moves, std::int64_t n_moves, Rank root, const Rank* ranks, int n,
                 Rank* leaves) {
  constexpr int kLanes = 32 / sizeof(Rank);
  constexpr int kMany = 8;                        // vectors that the registers hold
  constexpr int kFew = kRowsTogether / kLanes;
  int i = 0;
  for (; i + kMany * kLanes <= n; i += kMany * kLanes)
    find_leaves_of<Rank, kMany>(moves, n_moves, root, ranks + i, leaves + i);
  for (; i < n; i += kRowsTogether)
    find_leaves_of<Rank, kFew>(moves, n_moves, root, ranks + i, leaves + i);
}

constexpr ScoreKernels table() {
  ScoreKernels all = score_kernels_of<Avx2>();
  all.narrow.add = &add<std::uint8_t>;
  all.wide.add = &add<std::uint16_t>;
  all.narrow.find_leaves = &find_leaves<std::uint8_t>;
  all.wide.find_leaves = &find_leaves<std::uint16_t>;
  return all;
}

}  // namespace

extern const ScoreKernels kAvx2ScoreKernels;
const ScoreKernels kAvx2ScoreKernels = table();

}  // namespace marginboost
#endif
