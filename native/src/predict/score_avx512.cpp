#if defined(MARGINBOOST_X86)
#include <immintrin.h>

#include "marginboost/predict/score_kernels.hpp"

namespace marginboost {

extern const ScoreKernels kAvx2ScoreKernels;
extern const ScoreKernels kAvx512ScoreKernels;

namespace {

// ---- ranks ---------------------------------------------------------------------------------------

/// Sixteen floats; thresholds that lie in two registers are looked up there.
struct Floats {
  using Key = float;
  using Keys = __m512;
  using Places = __m512i;
  static constexpr int lanes = 16;
  static constexpr int levels = 5;  // that two registers hold
  static Keys load(const float* p) { return _mm512_loadu_ps(p); }
  static Places none() { return _mm512_setzero_si512(); }
  static Places all(std::int32_t value) { return _mm512_set1_epi32(value); }
  static Keys look_up(Keys low, Keys high, Places at) {
    return _mm512_permutex2var_ps(low, at, high);
  }
  static Keys gather(const float* from, Places at) { return _mm512_i32gather_ps(at, from, 4); }
  /// Where a key is not at most its threshold, NaN included, step on.
  static Places step(Places at, Keys keys, Keys thresholds, Places by) {
    const __mmask16 beyond = _mm512_cmp_ps_mask(keys, thresholds, _CMP_NLE_UQ);
    return _mm512_mask_add_epi32(at, beyond, at, by);
  }
  static Places plus(Places a, Places b) { return _mm512_add_epi32(a, b); }
  static Places times_two_to(Places a, int n) {
    return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n));
  }
  static Places least(Places a, Places b) { return _mm512_min_epi32(a, b); }
  static void store(std::uint8_t* p, Places a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
  }
  static void store(std::uint16_t* p, Places a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a));
  }
};

/// Eight doubles.
struct Doubles {
  using Key = double;
  using Keys = __m512d;
  using Places = __m512i;
  static constexpr int lanes = 8;
  static constexpr int levels = 4;
  static Keys load(const double* p) { return _mm512_loadu_pd(p); }
  static Places none() { return _mm512_setzero_si512(); }
  static Places all(std::int32_t value) { return _mm512_set1_epi64(value); }
  static Keys look_up(Keys low, Keys high, Places at) {
    return _mm512_permutex2var_pd(low, at, high);
  }
  static Keys gather(const double* from, Places at) { return _mm512_i64gather_pd(at, from, 8); }
  static Places step(Places at, Keys keys, Keys thresholds, Places by) {
    const __mmask8 beyond = _mm512_cmp_pd_mask(keys, thresholds, _CMP_NLE_UQ);
    return _mm512_mask_add_epi64(at, beyond, at, by);
  }
  static Places plus(Places a, Places b) { return _mm512_add_epi64(a, b); }
  static Places times_two_to(Places a, int n) {
    return _mm512_sll_epi64(a, _mm_cvtsi32_si128(n));
  }
  static Places least(Places a, Places b) { return _mm512_min_epi64(a, b); }
  static void store(std::uint8_t* p, Places a) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm512_cvtepi64_epi8(a));
  }
  static void store(std::uint16_t* p, Places a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi64_epi16(a));
  }
};

template <class V, class Rank>
void rank(const typename V::Key* keys, int n, Ladder<typename V::Key> ladder, Rank* ranks) {
  constexpr int together = 4;
  // The first levels are searched in registers, among every `gap`-th threshold.
  const int in_registers = ladder.levels < V::levels ? ladder.levels : V::levels;
  const int deeper = ladder.levels - in_registers;
  const std::int32_t gap = 1 << deeper;
  alignas(64) typename V::Key top[2 * V::lanes] = {};
  for (int j = 0; j < (1 << in_registers) - 1; ++j)
    top[j] = ladder.thresholds[(j + 1) * gap - 1];
  const auto low = V::load(top);
  const auto high = V::load(top + V::lanes);
  const auto count = V::all(ladder.count);
  for (int first = 0; first < n; first += together * V::lanes) {
    typename V::Keys key[together];
    typename V::Places at[together];
    for (int j = 0; j < together; ++j) {
      key[j] = V::load(keys + first + j * V::lanes);
      at[j] = V::none();
    }
    for (std::int32_t step = 1 << in_registers >> 1; step > 0; step >>= 1) {
      const auto before = V::all(step - 1);
      const auto by = V::all(step);
      for (int j = 0; j < together; ++j)
        at[j] = V::step(at[j], key[j], V::look_up(low, high, V::plus(at[j], before)), by);
    }
    if (deeper > 0)
      for (int j = 0; j < together; ++j) at[j] = V::times_two_to(at[j], deeper);
    for (std::int32_t step = gap >> 1; step > 0; step >>= 1) {
      const auto by = V::all(step);
      for (int j = 0; j < together; ++j)
        at[j] = V::step(at[j], key[j], V::gather(ladder.thresholds + step - 1, at[j]), by);
    }
    for (int j = 0; j < together; ++j)
      V::store(ranks + first + j * V::lanes, V::least(at[j], count));
  }
}

// ---- leaves --------------------------------------------------------------------------------------

struct Bytes {
  static constexpr int lanes = 64;
  static __m512i all(std::uint8_t value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  static __m512i move(__m512i leaf, __m512i ranks, __m512i least, __m512i here, __m512i there) {
    const __mmask64 at_home = _mm512_cmpeq_epi8_mask(leaf, here);
    return _mm512_mask_mov_epi8(leaf, _mm512_mask_cmpge_epu8_mask(at_home, ranks, least), there);
  }
};

struct Words {
  static constexpr int lanes = 32;
  static __m512i all(std::uint16_t value) { return _mm512_set1_epi16(static_cast<short>(value)); }
  static __m512i move(__m512i leaf, __m512i ranks, __m512i least, __m512i here, __m512i there) {
    const __mmask32 at_home = _mm512_cmpeq_epi16_mask(leaf, here);
    return _mm512_mask_mov_epi16(leaf, _mm512_mask_cmpge_epu16_mask(at_home, ranks, least), there);
  }
};

template <class V, int vectors, class Rank>
void find_some(const Move<Rank>* moves, std::int64_t n_moves, Rank root, const Rank* ranks,
               Rank* leaves) {
  __m512i leaf[vectors];
  for (int j = 0; j < vectors; ++j) leaf[j] = V::all(root);
  for (std::int64_t q = 0; q < n_moves; ++q) {
    const Rank* column = ranks + std::int64_t{moves[q].column} * kRowsAtOnce;
    const __m512i least = V::all(moves[q].least);
    const __m512i here = V::all(moves[q].here);
    const __m512i there = V::all(moves[q].there);
    for (int j = 0; j < vectors; ++j)
      leaf[j] = V::move(leaf[j], _mm512_loadu_si512(column + j * V::lanes), least, here, there);
  }
  for (int j = 0; j < vectors; ++j) _mm512_storeu_si512(leaves + j * V::lanes, leaf[j]);
}

template <class V, class Rank>
void find_leaves(const Move<Rank>* moves, std::int64_t n_moves, Rank root, const Rank* ranks, int n,
                 Rank* leaves) {
  constexpr int few = kRowsTogether / V::lanes;
  constexpr int many = kRowsAtOnce / V::lanes;
  if (n == kRowsAtOnce) {
    find_some<V, many>(moves, n_moves, root, ranks, leaves);
    return;
  }
  for (int i = 0; i < n; i += kRowsTogether)
    find_some<V, few>(moves, n_moves, root, ranks + i, leaves + i);
}

// ---- sums ----------------------------------------------------------------------------------------

/// Several rows at a time: a row's next sum waits for its last one.
template <class Rank, int rows>
void add_rows(const PanelSum<Rank>& sum, std::int64_t first) {
  double* scores = sum.scores + first * 8;
  __m512d total[rows];
  for (int i = 0; i < rows; ++i) total[i] = _mm512_load_pd(scores + 8 * i);
  for (std::int64_t tree = 0; tree < sum.n_trees; ++tree) {
    const Rank* leaves = sum.leaves[tree] + first;
    const double* vectors = sum.vectors[tree];
    for (int i = 0; i < rows; ++i)
      total[i] = _mm512_add_pd(total[i], _mm512_load_pd(vectors + std::int64_t{leaves[i]} * 8));
  }
  for (int i = 0; i < rows; ++i) _mm512_store_pd(scores + 8 * i, total[i]);
}

template <class Rank>
void add(const PanelSum<Rank>& sum) {
  if (sum.width == 4) {  // half a vector
    kAvx2ScoreKernels.of<Rank>().add(sum);
    return;
  }
  std::int64_t i = 0;
  for (; i + 8 <= sum.n_rows; i += 8) add_rows<Rank, 8>(sum, i);
  for (; i < sum.n_rows; ++i) add_rows<Rank, 1>(sum, i);
}

template <class V, class Rank>
constexpr RankKernels<Rank> table() {
  return {&rank<Floats, Rank>, &rank<Doubles, Rank>, &find_leaves<V, Rank>, &add<Rank>};
}

}  // namespace

const ScoreKernels kAvx512ScoreKernels = {table<Bytes, std::uint8_t>(),
                                          table<Words, std::uint16_t>()};

}  // namespace marginboost
#endif
