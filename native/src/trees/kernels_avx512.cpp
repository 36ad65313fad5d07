#if defined(MARGINBOOST_X86)
#include "trees/kernels_impl.hpp"

#include <immintrin.h>

#include "trees/eight_lanes.hpp"

namespace marginboost {
namespace {

struct Avx512 {
  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

  template <int lanes>
  struct Vec;
};

template <>
struct Avx512::Vec<16> {
  using F = __m512;
  using I = __m512i;

  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static F load_first(const float* p, int n) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1), p);
  }
  static void store_first(float* p, int n, F x) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << n) - 1), x);
  }
  static F spare(F x) {
    const I first = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 14);
    return _mm512_maskz_permutexvar_ps(0x3, first, x);
  }
  static F without_spare(F x) { return _mm512_maskz_mov_ps(0x3FFF, x); }
  static F with_spare(F x, F spares) {
    const I last = _mm512_set_epi32(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return _mm512_mask_permutexvar_ps(x, 0xC000, last, spares);
  }
  static F all(float value) { return _mm512_set1_ps(value); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static bool any_at_least_one(F a) {
    return _mm512_cmp_ps_mask(a, all(1.0F), _CMP_GE_OQ) != 0;
  }
  static float sum(F a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    const __m128 four =
        _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  // The halves of two vectors: lane j with lane j + 8.
  using Halves = F;
  static Halves halve(F a, F b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
  }
  // The sums of sixteen vectors that were halved; no lane idles.
  static void finish_sums(const Halves* eight, float* sums) {
    F four[4], two[2];
    for (int q = 0; q < 4; ++q) {
      four[q] = _mm512_add_ps(_mm512_shuffle_f32x4(eight[2 * q], eight[2 * q + 1], 0x88),
                              _mm512_shuffle_f32x4(eight[2 * q], eight[2 * q + 1], 0xDD));
    }
    for (int q = 0; q < 2; ++q) {
      two[q] = _mm512_add_ps(_mm512_shuffle_ps(four[2 * q], four[2 * q + 1], 0x44),
                             _mm512_shuffle_ps(four[2 * q], four[2 * q + 1], 0xEE));
    }
    const F one = _mm512_add_ps(_mm512_shuffle_ps(two[0], two[1], 0x88),
                                _mm512_shuffle_ps(two[0], two[1], 0xDD));
    const I order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_ps(sums, _mm512_permutexvar_ps(order, one));
  }

  static I no_integers() { return _mm512_setzero_si512(); }
  static I load_integers(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static void store_integers(std::int32_t* p, I x) { _mm512_storeu_si512(p, x); }
  static I plus(I a, I b) { return _mm512_add_epi32(a, b); }
  static I minus(I a, I b) { return _mm512_sub_epi32(a, b); }
  static I times(I a, std::int32_t copies) {
    return _mm512_mullo_epi32(a, _mm512_set1_epi32(copies));
  }
  static I to_integers(F a) { return _mm512_cvtps_epi32(a); }
  static F to_floats(I a) { return _mm512_cvtepi32_ps(a); }
  static I bits_of(F a) { return _mm512_castps_si512(a); }
  static F from_bits(I a) { return _mm512_castsi512_ps(a); }
  static I bits(std::int32_t value) { return _mm512_set1_epi32(value); }
  template <int n>
  static I shift_left(I a) {
    return _mm512_slli_epi32(a, n);
  }
  template <int n>
  static I shift_right(I a) {
    return _mm512_srai_epi32(a, n);
  }
  static F where_zero(I n, F a, F b) {
    return _mm512_mask_blend_ps(_mm512_cmpeq_epi32_mask(n, no_integers()), b, a);
  }
  static F class_floats(I a) { return _mm512_maskz_cvtepi32_ps(0x3FFF, a); }
};

template <>
struct Avx512::Vec<8> : EightLanes {};

}  // namespace

extern const TreeKernels kAvx512TreeKernels;
const TreeKernels kAvx512TreeKernels = TreeKernelsOf<Avx512>::table();

}  // namespace marginboost
#endif
