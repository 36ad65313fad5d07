#if defined(MARGINBOOST_X86)
#include "stumps/kernels_impl.hpp"

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
  static bool any_equal(Avx512Lanes a, std::int32_t value) {
    return _mm512_cmpeq_epi32_mask(a.v, _mm512_set1_epi32(value)) != 0;
  }
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
  static bool any_equal(Avx512Lanes a, std::int32_t value) {
    return _mm256_cmpeq_epi32_mask(a.v, _mm256_set1_epi32(value)) != 0;
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
  static bool any_equal(Avx512Lanes a, std::int32_t value) {
    return _mm_cmpeq_epi32_mask(a.v, _mm_set1_epi32(value)) != 0;
  }
};

struct Avx512 {
  static constexpr int width = 8;
  using D = __m512d;
  template <int lanes>
  using I = Avx512Lanes<lanes>;

  static __mmask8 mask(int n) { return static_cast<__mmask8>((1u << n) - 1u); }
  // The first n of a vector's lanes.
  struct Part {
    int n;
    __mmask8 lanes;
  };
  static Part part(int n) { return {n, mask(n)}; }
  static D all(double value) { return _mm512_set1_pd(value); }
  static D load(const double* p) { return _mm512_loadu_pd(p); }
  static D load(const double* p, Part part) { return _mm512_maskz_loadu_pd(part.lanes, p); }
  static void store(double* p, D x) { _mm512_storeu_pd(p, x); }
  // To the byte: a masked store counts as a whole one, and the next row's load would wait for it.
  static void store(double* p, Part part, D x) {
    __m256d four = _mm512_castpd512_pd256(x);
    if (part.n & 4) {
      _mm256_storeu_pd(p, four);
      four = _mm512_extractf64x4_pd(x, 1);
      p += 4;
    }
    __m128d two = _mm256_castpd256_pd128(four);
    if (part.n & 2) {
      _mm_storeu_pd(p, two);
      two = _mm256_extractf128_pd(four, 1);
      p += 2;
    }
    if (part.n & 1) _mm_store_sd(p, two);
  }
  static D add(D a, D b) { return _mm512_add_pd(a, b); }
  static D sub(D a, D b) { return _mm512_sub_pd(a, b); }
  static D mul(D a, D b) { return _mm512_mul_pd(a, b); }
  static D div(D a, D b) { return _mm512_div_pd(a, b); }
  static D clamp(D e) {
    return _mm512_min_pd(_mm512_max_pd(e, all(kSmallestExponential)), all(kLargestExponential));
  }
  static D larger(D a, D b) { return _mm512_max_pd(a, b); }
  static D round(D a) {
    return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static D first(D a, int n) { return _mm512_maskz_mov_pd(mask(n), a); }
  static double sum_eight(const D* a) {
    alignas(64) double eight[width];
    _mm512_store_pd(eight, *a);
    return ((eight[0] + eight[4]) + (eight[2] + eight[6])) +
           ((eight[1] + eight[5]) + (eight[3] + eight[7]));
  }
  static std::uint8_t any_at_least_one(D a) {
    return _mm512_cmp_pd_mask(a, all(1.0), _CMP_GE_OQ);
  }

  using Q = __m256i;
  static Q no_integers() { return _mm256_setzero_si256(); }
  static Q to_integers(D a) { return _mm512_cvtpd_epi32(a); }
  static Q plus(Q a, Q b) { return _mm256_add_epi32(a, b); }
  static Q all_integers(std::int32_t value) { return _mm256_set1_epi32(value); }
  static Q times(Q a, Q b) { return _mm256_mullo_epi32(a, b); }
  // The sum of each of four vectors.
  static void sum_four(const Q* a, std::int32_t* sums) {
    const Q halves =
        _mm256_hadd_epi32(_mm256_hadd_epi32(a[0], a[1]), _mm256_hadd_epi32(a[2], a[3]));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(sums),
        _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
  }
  // A tile of 4 lanes is half a vector; every other is a whole number of them.
  static Q load_integers(const std::int32_t* p, int room) {
    return _mm256_maskz_loadu_epi32(mask(room), p);
  }
  static void store_integers(std::int32_t* p, int room, Q a) {
    if (room == width) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(a));
    }
  }

  using W = __m512i;
  using Side = __mmask8;
  static Side side(std::uint8_t one) { return static_cast<__mmask8>(-static_cast<int>(one)); }
  static W no_words() { return _mm512_setzero_si512(); }
  static W to_words(D a) { return _mm512_cvtpd_epi64(a); }
  static D from_words(W a) { return _mm512_cvtepi64_pd(a); }
  static W plus_words(W a, W b) { return _mm512_add_epi64(a, b); }
  static W plus_words_if(Side side, W a, W b) { return _mm512_mask_add_epi64(a, side, a, b); }
};

}  // namespace

extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

namespace {

// Rows that are not whole vectors do not start on cache lines, and a store of 64 bytes then always
// touches two of them: narrower ones are faster, and give the same bits.
std::int64_t advance(const RowArrays& rows, RowSpan span, Factors factors, double scale,
                     std::int32_t* totals) {
  const bool whole = rows.n_outputs % Avx512::width == 0;
  const auto kernel = whole ? &RowKernelsOf<Avx512>::advance : kAvx2Kernels.advance;
  return kernel(rows, span, factors, scale, totals);
}

// Few outputs fill less than half a vector.
void sum(const RowArrays& rows, RowSpan span, Factors factors, double scale, double* sums,
         double* curvature, std::int64_t stride) {
  const bool few = rows.n_outputs <= Avx512::width / 2;
  const auto kernel = few ? kAvx2Kernels.sum : &RowKernelsOf<Avx512>::sum;
  kernel(rows, span, factors, scale, sums, curvature, stride);
}

constexpr Kernels table() {
  Kernels all = KernelsOf<Avx512>::table("avx512");
  all.advance = &advance;
  all.sum = &sum;
  return all;
}

}  // namespace

const Kernels kAvx512Kernels = table();

}  // namespace marginboost
#endif
