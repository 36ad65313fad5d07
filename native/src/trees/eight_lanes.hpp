// Vectors of eight floats and of eight int32, for all instruction sets that have AVX2. Included by one
// file an instruction set: nothing here is shared between them, so that none is compiled for another.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace marginboost {
namespace {

struct EightLanes {
  using F = __m256;
  using I = __m256i;

  static F load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, F x) { _mm256_storeu_ps(p, x); }
  // The first n lanes, 4 or 8; the others are 0.
  static F load_first(const float* p, int n) {
    return n == 4 ? _mm256_insertf128_ps(_mm256_setzero_ps(), _mm_loadu_ps(p), 0) : load(p);
  }
  static void store_first(float* p, int n, F x) {
    if (n == 4) {
      _mm_storeu_ps(p, _mm256_castps256_ps128(x));
    } else {
      store(p, x);
    }
  }
  // The two last lanes, as the first ones of a vector of their own; a vector without them; both.
  static F spare(F x) {
    return _mm256_blend_ps(_mm256_permutevar8x32_ps(x, _mm256_setr_epi32(6, 7, 0, 0, 0, 0, 0, 0)),
                           _mm256_setzero_ps(), 0xFC);
  }
  static F without_spare(F x) { return _mm256_blend_ps(x, _mm256_setzero_ps(), 0xC0); }
  static F with_spare(F x, F spares) {
    const I last = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, 1);
    return _mm256_blend_ps(x, _mm256_permutevar8x32_ps(spares, last), 0xC0);
  }
  static F all(float value) { return _mm256_set1_ps(value); }
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F div(F a, F b) { return _mm256_div_ps(a, b); }
  static F min(F a, F b) { return _mm256_min_ps(a, b); }
  static F max(F a, F b) { return _mm256_max_ps(a, b); }
  static bool any_at_least_one(F a) {
    return _mm256_movemask_ps(_mm256_cmp_ps(a, all(1.0F), _CMP_GE_OQ)) != 0;
  }
  static float sum(F a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  // The halves of two vectors: lane j with lane j + 4.
  using Halves = F;
  static Halves halve(F a, F b) {
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
  // The sums of sixteen vectors that were halved; no lane idles.
  static void finish_sums(const Halves* four, float* sums) {
    for (int half = 0; half < 2; ++half, four += 4, sums += 8) {
      const F low = _mm256_add_ps(_mm256_shuffle_ps(four[0], four[1], 0x44),
                                  _mm256_shuffle_ps(four[0], four[1], 0xEE));
      const F high = _mm256_add_ps(_mm256_shuffle_ps(four[2], four[3], 0x44),
                                   _mm256_shuffle_ps(four[2], four[3], 0xEE));
      const F one =
          _mm256_add_ps(_mm256_shuffle_ps(low, high, 0x88), _mm256_shuffle_ps(low, high, 0xDD));
      const I order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
      _mm256_storeu_ps(sums, _mm256_permutevar8x32_ps(one, order));
    }
  }

  static I no_integers() { return _mm256_setzero_si256(); }
  static I load_integers(const std::int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const I*>(p));
  }
  static void store_integers(std::int32_t* p, I x) {
    _mm256_storeu_si256(reinterpret_cast<I*>(p), x);
  }
  static I plus(I a, I b) { return _mm256_add_epi32(a, b); }
  static I minus(I a, I b) { return _mm256_sub_epi32(a, b); }
  static I times(I a, std::int32_t copies) {
    return _mm256_mullo_epi32(a, _mm256_set1_epi32(copies));
  }
  static I to_integers(F a) { return _mm256_cvtps_epi32(a); }
  static F to_floats(I a) { return _mm256_cvtepi32_ps(a); }
  static I bits_of(F a) { return _mm256_castps_si256(a); }
  static F from_bits(I a) { return _mm256_castsi256_ps(a); }
  static I bits(std::int32_t value) { return _mm256_set1_epi32(value); }
  template <int n>
  static I shift_left(I a) {
    return _mm256_slli_epi32(a, n);
  }
  template <int n>
  static I shift_right(I a) {
    return _mm256_srai_epi32(a, n);
  }
  // Where an integer is 0, `a`, else `b`.
  static F where_zero(I n, F a, F b) {
    return _mm256_blendv_ps(b, a, from_bits(_mm256_cmpeq_epi32(n, no_integers())));
  }
  static F class_floats(I a) { return _mm256_blend_ps(to_floats(a), _mm256_setzero_ps(), 0xC0); }
};

}  // namespace
}  // namespace marginboost
