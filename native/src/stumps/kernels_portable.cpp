// Plain C++: what every machine can run. The compiler may vectorise it as it likes.
#include "stumps/kernels_impl.hpp"

#include <bit>

namespace marginboost {
namespace {

template <int lanes>
struct PortableLanes {
  std::int32_t v[lanes];

  static PortableLanes load(const std::int32_t* p) {
    PortableLanes x;
    for (int j = 0; j < lanes; ++j) x.v[j] = p[j];
    return x;
  }
  static void store(std::int32_t* p, const PortableLanes& x) {
    for (int j = 0; j < lanes; ++j) p[j] = x.v[j];
  }
  static PortableLanes zero() { return PortableLanes{}; }
  // Sums are done in unsigned arithmetic: a partial sum may wrap, the final one never does.
  static PortableLanes add(PortableLanes a, const PortableLanes& b) {
    for (int j = 0; j < lanes; ++j) {
      a.v[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[j]) +
                                         static_cast<std::uint32_t>(b.v[j]));
    }
    return a;
  }
  static PortableLanes sub(PortableLanes a, const PortableLanes& b) {
    for (int j = 0; j < lanes; ++j) {
      a.v[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[j]) -
                                         static_cast<std::uint32_t>(b.v[j]));
    }
    return a;
  }
  static PortableLanes abs(PortableLanes a) {
    for (int j = 0; j < lanes; ++j) a.v[j] = a.v[j] < 0 ? -a.v[j] : a.v[j];
    return a;
  }
  static PortableLanes max(PortableLanes a, const PortableLanes& b) {
    for (int j = 0; j < lanes; ++j) a.v[j] = a.v[j] < b.v[j] ? b.v[j] : a.v[j];
    return a;
  }
  static std::int64_t largest(const PortableLanes& a) {
    std::int32_t best = a.v[0];
    for (int j = 1; j < lanes; ++j) best = best < a.v[j] ? a.v[j] : best;
    return best;
  }
  static bool any_equal(const PortableLanes& a, std::int32_t value) {
    bool any = false;
    for (int j = 0; j < lanes; ++j) any |= a.v[j] == value;
    return any;
  }
};

struct Portable {
  static constexpr int width = 4;
  struct D {
    double v[width];
  };
  template <int lanes>
  using I = PortableLanes<lanes>;

  template <class Op>
  static D each(const D& a, const D& b, Op op) {
    D x;
    for (int j = 0; j < width; ++j) x.v[j] = op(a.v[j], b.v[j]);
    return x;
  }
  static D all(double value) {
    D x;
    for (double& v : x.v) v = value;
    return x;
  }
  // The first n of a vector's lanes.
  struct Part {
    int n;
  };
  static Part part(int n) { return {n}; }
  static D load(const double* p) {
    D x;
    for (int j = 0; j < width; ++j) x.v[j] = p[j];
    return x;
  }
  static D load(const double* p, Part part) {
    D x;
    for (int j = 0; j < width; ++j) x.v[j] = j < part.n ? p[j] : 0.0;
    return x;
  }
  static void store(double* p, const D& x) {
    for (int j = 0; j < width; ++j) p[j] = x.v[j];
  }
  static void store(double* p, Part part, const D& x) {
    for (int j = 0; j < width; ++j) {
      if (j < part.n) p[j] = x.v[j];
    }
  }
  static D add(const D& a, const D& b) {
    return each(a, b, [](double x, double y) { return x + y; });
  }
  static D sub(const D& a, const D& b) {
    return each(a, b, [](double x, double y) { return x - y; });
  }
  static D mul(const D& a, const D& b) {
    return each(a, b, [](double x, double y) { return x * y; });
  }
  static D div(const D& a, const D& b) {
    return each(a, b, [](double x, double y) { return x / y; });
  }
  static D smaller(const D& a, const D& b) {
    return each(a, b, [](double x, double y) { return x < y ? x : y; });
  }
  static D larger(const D& a, const D& b) {
    return each(a, b, [](double x, double y) { return x > y ? x : y; });
  }
  static D clamp(const D& e) {
    return smaller(larger(e, all(kSmallestExponential)), all(kLargestExponential));
  }
  // Added to 2^52, a smaller number is rounded to the nearest whole one.
  static D round(const D& a) { return sub(add(a, all(kTwoTo52)), all(kTwoTo52)); }
  static D first(const D& a, int n) {
    D x;
    for (int j = 0; j < width; ++j) x.v[j] = j < n ? a.v[j] : 0.0;
    return x;
  }
  // Of eight partial sums, two vectors of four.
  static double sum_eight(const D* a) {
    const D four = add(a[0], a[1]);
    return (four.v[0] + four.v[2]) + (four.v[1] + four.v[3]);
  }
  static std::uint8_t any_at_least_one(const D& a) {
    bool any = false;
    for (double v : a.v) any = any || v >= 1.0;
    return any ? 1 : 0;
  }

  using Q = PortableLanes<width>;
  static Q no_integers() { return Q::zero(); }
  // The same for numbers of both signs; the sum's lowest bits are the whole number's.
  static Q to_integers(const D& a) {
    Q x;
    for (int j = 0; j < width; ++j) {
      const auto bits = std::bit_cast<std::uint64_t>(a.v[j] + 1.5 * kTwoTo52);
      x.v[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    }
    return x;
  }
  static Q plus(const Q& a, const Q& b) { return Q::add(a, b); }
  static Q all_integers(std::int32_t value) {
    Q x;
    for (std::int32_t& v : x.v) v = value;
    return x;
  }
  static Q times(Q a, const Q& b) {
    for (int j = 0; j < width; ++j) a.v[j] *= b.v[j];
    return a;
  }
  // The sum of each of four vectors.
  static void sum_four(const Q* a, std::int32_t* sums) {
    for (int j = 0; j < 4; ++j) sums[j] = (a[j].v[0] + a[j].v[1]) + (a[j].v[2] + a[j].v[3]);
  }
  // Every tile is a whole number of these vectors.
  static Q load_integers(const std::int32_t* p, int) { return Q::load(p); }
  static void store_integers(std::int32_t* p, int, const Q& a) { Q::store(p, a); }

  struct W {
    std::uint64_t v[width] = {};
  };
  using Side = std::uint64_t;
  static Side side(std::uint8_t one) { return std::uint64_t{0} - one; }
  static W no_words() { return W{}; }
  static W to_words(const D& a) {
    W x;
    for (int j = 0; j < width; ++j) {
      x.v[j] = std::bit_cast<std::uint64_t>(a.v[j] + kTwoTo52) -
               std::bit_cast<std::uint64_t>(kTwoTo52);
    }
    return x;
  }
  static D from_words(const W& a) {
    D x;
    for (int j = 0; j < width; ++j) x.v[j] = static_cast<double>(static_cast<std::int64_t>(a.v[j]));
    return x;
  }
  static W plus_words(W a, const W& b) {
    for (int j = 0; j < width; ++j) a.v[j] += b.v[j];
    return a;
  }
  static W plus_words_if(Side side, W a, const W& b) {
    for (int j = 0; j < width; ++j) a.v[j] += b.v[j] & side;
    return a;
  }
};

}  // namespace

extern const Kernels kPortableKernels;
const Kernels kPortableKernels = KernelsOf<Portable>::table("portable");

}  // namespace marginboost
