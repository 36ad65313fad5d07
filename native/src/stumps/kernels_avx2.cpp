#if defined(MARGINBOOST_X86)
#include "stumps/kernels_impl.hpp"

#include <immintrin.h>

namespace marginboost {
namespace {

template <int lanes>
struct Avx2Lanes {  // 8 or 16 lanes: one or two 256-bit vectors
  static constexpr int count = lanes / 8;
  __m256i v[count];

  static Avx2Lanes load(const std::int32_t* p) {
    Avx2Lanes x;
    for (int j = 0; j < count; ++j) {
      x.v[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p) + j);
    }
    return x;
  }
  static void store(std::int32_t* p, const Avx2Lanes& x) {
    for (int j = 0; j < count; ++j) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p) + j, x.v[j]);
    }
  }
  static Avx2Lanes zero() {
    Avx2Lanes x;
    for (auto& v : x.v) v = _mm256_setzero_si256();
    return x;
  }
  static Avx2Lanes add(Avx2Lanes a, const Avx2Lanes& b) {
    for (int j = 0; j < count; ++j) a.v[j] = _mm256_add_epi32(a.v[j], b.v[j]);
    return a;
  }
  static Avx2Lanes sub(Avx2Lanes a, const Avx2Lanes& b) {
    for (int j = 0; j < count; ++j) a.v[j] = _mm256_sub_epi32(a.v[j], b.v[j]);
    return a;
  }
  static Avx2Lanes abs(Avx2Lanes a) {
    for (int j = 0; j < count; ++j) a.v[j] = _mm256_abs_epi32(a.v[j]);
    return a;
  }
  static Avx2Lanes max(Avx2Lanes a, const Avx2Lanes& b) {
    for (int j = 0; j < count; ++j) a.v[j] = _mm256_max_epi32(a.v[j], b.v[j]);
    return a;
  }
  static std::int64_t largest(const Avx2Lanes& a) {
    alignas(32) std::int32_t p[lanes];
    store(p, a);
    std::int32_t best = p[0];
    for (std::int32_t x : p) best = best < x ? x : best;
    return best;
  }
  static bool any_equal(const Avx2Lanes& a, std::int32_t value) {
    __m256i any = _mm256_cmpeq_epi32(a.v[0], _mm256_set1_epi32(value));
    for (int j = 1; j < count; ++j) {
      any = _mm256_or_si256(any, _mm256_cmpeq_epi32(a.v[j], _mm256_set1_epi32(value)));
    }
    return _mm256_movemask_epi8(any) != 0;
  }
};

template <>
struct Avx2Lanes<4> {
  __m128i v;

  static Avx2Lanes load(const std::int32_t* p) {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
  }
  static void store(std::int32_t* p, const Avx2Lanes& x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x.v);
  }
  static Avx2Lanes zero() { return {_mm_setzero_si128()}; }
  static Avx2Lanes add(const Avx2Lanes& a, const Avx2Lanes& b) { return {_mm_add_epi32(a.v, b.v)}; }
  static Avx2Lanes sub(const Avx2Lanes& a, const Avx2Lanes& b) { return {_mm_sub_epi32(a.v, b.v)}; }
  static Avx2Lanes abs(const Avx2Lanes& a) { return {_mm_abs_epi32(a.v)}; }
  static Avx2Lanes max(const Avx2Lanes& a, const Avx2Lanes& b) { return {_mm_max_epi32(a.v, b.v)}; }
  static std::int64_t largest(const Avx2Lanes& a) {
    alignas(16) std::int32_t p[4];
    store(p, a);
    std::int32_t best = p[0];
    for (std::int32_t x : p) best = best < x ? x : best;
    return best;
  }
  static bool any_equal(const Avx2Lanes& a, std::int32_t value) {
    return _mm_movemask_epi8(_mm_cmpeq_epi32(a.v, _mm_set1_epi32(value))) != 0;
  }
};

struct Avx2 {
  static constexpr int width = 4;
  using D = __m256d;
  template <int lanes>
  using I = Avx2Lanes<lanes>;

  static __m256i mask(int n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_set_epi64x(3, 2, 1, 0));
  }
  // The first n of a vector's lanes.
  struct Part {
    int n;
    __m256i lanes;
  };
  static Part part(int n) { return {n, mask(n)}; }
  static D all(double value) { return _mm256_set1_pd(value); }
  static D load(const double* p) { return _mm256_loadu_pd(p); }
  static D load(const double* p, Part part) { return _mm256_maskload_pd(p, part.lanes); }
  static void store(double* p, D x) { _mm256_storeu_pd(p, x); }
  // To the byte: a masked store is slow, and the next row's load would wait for it.
  static void store(double* p, Part part, D x) {
    __m128d two = _mm256_castpd256_pd128(x);
    if (part.n & 2) {
      _mm_storeu_pd(p, two);
      two = _mm256_extractf128_pd(x, 1);
      p += 2;
    }
    if (part.n & 1) _mm_store_sd(p, two);
  }
  static D add(D a, D b) { return _mm256_add_pd(a, b); }
  static D sub(D a, D b) { return _mm256_sub_pd(a, b); }
  static D mul(D a, D b) { return _mm256_mul_pd(a, b); }
  static D div(D a, D b) { return _mm256_div_pd(a, b); }
  static D clamp(D e) {
    return _mm256_min_pd(_mm256_max_pd(e, all(kSmallestExponential)), all(kLargestExponential));
  }
  static D larger(D a, D b) { return _mm256_max_pd(a, b); }
  static D round(D a) {
    return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static D first(D a, int n) { return _mm256_and_pd(a, _mm256_castsi256_pd(mask(n))); }
  // Of eight partial sums, two vectors of four.
  static double sum_eight(const D* a) {
    alignas(32) double four[width];
    _mm256_store_pd(four, add(a[0], a[1]));
    return (four[0] + four[2]) + (four[1] + four[3]);
  }
  static std::uint8_t any_at_least_one(D a) {
    return static_cast<std::uint8_t>(_mm256_movemask_pd(_mm256_cmp_pd(a, all(1.0), _CMP_GE_OQ)));
  }

  using Q = __m128i;
  static Q no_integers() { return _mm_setzero_si128(); }
  static Q to_integers(D a) { return _mm256_cvtpd_epi32(a); }
  static Q plus(Q a, Q b) { return _mm_add_epi32(a, b); }
  static Q all_integers(std::int32_t value) { return _mm_set1_epi32(value); }
  static Q times(Q a, Q b) { return _mm_mullo_epi32(a, b); }
  // The sum of each of four vectors.
  static void sum_four(const Q* a, std::int32_t* sums) {
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(sums),
        _mm_hadd_epi32(_mm_hadd_epi32(a[0], a[1]), _mm_hadd_epi32(a[2], a[3])));
  }
  // Every tile is a whole number of these vectors.
  static Q load_integers(const std::int32_t* p, int) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static void store_integers(std::int32_t* p, int, Q a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
  }

  using W = __m256i;
  using Side = __m256i;
  static constexpr long long sides[2] = {0, -1};  // looked up: shorter than making it
  static Side side(std::uint8_t one) { return _mm256_set1_epi64x(sides[one]); }
  static W no_words() { return _mm256_setzero_si256(); }
  // Added to 2^52, a smaller number is rounded to the nearest whole one, which the sum's bits hold.
  static W to_words(D a) {
    const D large = all(kTwoTo52);
    return _mm256_sub_epi64(_mm256_castpd_si256(add(a, large)), _mm256_castpd_si256(large));
  }
  static D from_words(W a) {
    const D large = all(kTwoTo52);
    return sub(_mm256_castsi256_pd(_mm256_add_epi64(a, _mm256_castpd_si256(large))), large);
  }
  static W plus_words(W a, W b) { return _mm256_add_epi64(a, b); }
  static W plus_words_if(Side side, W a, W b) {
    return _mm256_add_epi64(a, _mm256_and_si256(b, side));
  }
};

}  // namespace

extern const Kernels kAvx2Kernels;
const Kernels kAvx2Kernels = KernelsOf<Avx2>::table("avx2");

}  // namespace marginboost
#endif
