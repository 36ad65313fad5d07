#if defined(MARGINBOOST_X86)
#include "kernels_impl.hpp"

#include <immintrin.h>

namespace marginboost {
namespace {

template <int lanes>
struct Avx512Lanes;

template <>
struct Avx512Lanes<16> {
  __m512i v;

  static Avx512Lanes load(const std::int32_t* p) { return {_mm512_loadu_si512(p)}; }
  static void store(std::int32_t* p, const Avx512Lanes& x) { _mm512_storeu_si512(p, x.v); }
  static Avx512Lanes zero() { return {_mm512_setzero_si512()}; }
  static Avx512Lanes add(Avx512Lanes a, Avx512Lanes b) { return {_mm512_add_epi32(a.v, b.v)}; }
  static Avx512Lanes sub(Avx512Lanes a, Avx512Lanes b) { return {_mm512_sub_epi32(a.v, b.v)}; }
  static Avx512Lanes abs(Avx512Lanes a) { return {_mm512_abs_epi32(a.v)}; }
  static Avx512Lanes max(Avx512Lanes a, Avx512Lanes b) { return {_mm512_max_epi32(a.v, b.v)}; }
  static std::int64_t largest(Avx512Lanes a) { return _mm512_reduce_max_epi32(a.v); }
};

template <>
struct Avx512Lanes<8> {
  __m256i v;

  static Avx512Lanes load(const std::int32_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  static void store(std::int32_t* p, const Avx512Lanes& x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.v);
  }
  static Avx512Lanes zero() { return {_mm256_setzero_si256()}; }
  static Avx512Lanes add(Avx512Lanes a, Avx512Lanes b) { return {_mm256_add_epi32(a.v, b.v)}; }
  static Avx512Lanes sub(Avx512Lanes a, Avx512Lanes b) { return {_mm256_sub_epi32(a.v, b.v)}; }
  static Avx512Lanes abs(Avx512Lanes a) { return {_mm256_abs_epi32(a.v)}; }
  static Avx512Lanes max(Avx512Lanes a, Avx512Lanes b) { return {_mm256_max_epi32(a.v, b.v)}; }
  static std::int64_t largest(Avx512Lanes a) {
    return _mm512_mask_reduce_max_epi32(0xFF, _mm512_castsi256_si512(a.v));
  }
};

template <>
struct Avx512Lanes<4> {
  __m128i v;

  static Avx512Lanes load(const std::int32_t* p) {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
  }
  static void store(std::int32_t* p, const Avx512Lanes& x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x.v);
  }
  static Avx512Lanes zero() { return {_mm_setzero_si128()}; }
  static Avx512Lanes add(Avx512Lanes a, Avx512Lanes b) { return {_mm_add_epi32(a.v, b.v)}; }
  static Avx512Lanes sub(Avx512Lanes a, Avx512Lanes b) { return {_mm_sub_epi32(a.v, b.v)}; }
  static Avx512Lanes abs(Avx512Lanes a) { return {_mm_abs_epi32(a.v)}; }
  static Avx512Lanes max(Avx512Lanes a, Avx512Lanes b) { return {_mm_max_epi32(a.v, b.v)}; }
  static std::int64_t largest(Avx512Lanes a) {
    return _mm512_mask_reduce_max_epi32(0xF, _mm512_castsi128_si512(a.v));
  }
};

struct Avx512 {
  static constexpr int width = 8;
  using D = __m512d;
  template <int lanes>
  using I = Avx512Lanes<lanes>;

  static __mmask8 mask(int n) { return static_cast<__mmask8>((1u << n) - 1u); }
  static D all(double value) { return _mm512_set1_pd(value); }
  static D load(const double* p, int n) { return _mm512_maskz_loadu_pd(mask(n), p); }
  static void store(double* p, int n, D x) { _mm512_mask_storeu_pd(p, mask(n), x); }
  static D add(D a, D b) { return _mm512_add_pd(a, b); }
  static D sub(D a, D b) { return _mm512_sub_pd(a, b); }
  static D mul(D a, D b) { return _mm512_mul_pd(a, b); }
  static D div(D a, D b) { return _mm512_div_pd(a, b); }
  static D min(D a, D b) { return _mm512_min_pd(a, b); }
  static D max(D a, D b) { return _mm512_max_pd(a, b); }
  static D round(D a) {
    return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static double largest(D a) { return _mm512_reduce_max_pd(a); }
  static std::int32_t store_negated(std::int32_t* g, int room, D x, std::int32_t copies) {
    const __m256i q = _mm256_mullo_epi32(_mm512_cvtpd_epi32(x), _mm256_set1_epi32(copies));
    _mm256_mask_storeu_epi32(g, mask(room), _mm256_sub_epi32(_mm256_setzero_si256(), q));
    return _mm512_mask_reduce_add_epi32(0xFF, _mm512_castsi256_si512(q));
  }
};

}  // namespace

extern const Kernels kAvx512Kernels;
const Kernels kAvx512Kernels = KernelsOf<Avx512>::table("avx512");

}  // namespace marginboost
#endif
