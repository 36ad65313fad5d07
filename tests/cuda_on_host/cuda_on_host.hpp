// Enough of CUDA to run a kernel on the host, as it is written, and always in the same order.
//
// The blocks of a launch run one after the other. The threads of a block are fibers: each runs until it
// comes to a barrier, and the last one to come there lets all go on. Every other launch takes the
// threads in descending order, so that a kernel that lacks a barrier does not get away with it. A
// barrier that some thread never reaches is an error, and so are lanes of a warp at different masks.
#pragma once

#include <csetjmp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __constant__ static
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
#define SHARED_BYTES(name) unsigned char* name = cuda_on_host::shared_memory()

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

static dim3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

#define CUDA_ON_HOST_VECTORS(type, name, align2, align4)                        \
  struct alignas(align2) name##2 { type x, y; };                                \
  struct alignas(align4) name##4 { type x, y, z, w; };                          \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }              \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
CUDA_ON_HOST_VECTORS(signed char, char, 2, 4)
CUDA_ON_HOST_VECTORS(unsigned char, uchar, 2, 4)
CUDA_ON_HOST_VECTORS(short, short, 4, 8)
CUDA_ON_HOST_VECTORS(unsigned short, ushort, 4, 8)
CUDA_ON_HOST_VECTORS(int, int, 8, 16)
CUDA_ON_HOST_VECTORS(unsigned int, uint, 8, 16)
CUDA_ON_HOST_VECTORS(float, float, 8, 16)
CUDA_ON_HOST_VECTORS(double, double, 16, 16)
CUDA_ON_HOST_VECTORS(long long, longlong, 16, 16)
CUDA_ON_HOST_VECTORS(unsigned long long, ulonglong, 16, 16)

namespace cuda_on_host {

constexpr std::size_t kStack = 128 << 10;
constexpr int kMostThreads = 1024;

enum class State { ready, at_block_barrier, at_warp_barrier, done };

struct Fiber {
  ucontext_t start;
  jmp_buf here;
  State state = State::done;
  bool started = false;
};

struct Warp {
  unsigned mask = 0;  // of the lanes that will meet; 0: none has come yet
  unsigned arrived = 0;
  unsigned epoch = 0;  // how often lanes have met
  std::uint64_t slots[2][32];  // of this epoch and of the last one, which some may still read

  std::uint64_t* slot() { return slots[epoch % 2]; }
};

struct Block {
  Fiber fibers[kMostThreads];
  Warp warps[kMostThreads / 32];
  unsigned char* stacks = nullptr;
  std::vector<unsigned char> shared;
  int n_threads = 0;
  int current = 0;
  jmp_buf scheduler;
  void (*run)(void*) = nullptr;
  void* arguments = nullptr;
  std::string error;
};

inline Block& block() {
  static Block one;
  return one;
}

inline unsigned char* shared_memory() { return block().shared.data(); }

inline void pause(State state) {
  Block& b = block();
  Fiber& fiber = b.fibers[b.current];
  fiber.state = state;
  if (_setjmp(fiber.here) == 0) _longjmp(b.scheduler, 1);
}

[[noreturn]] inline void fail(const std::string& what) {
  Block& b = block();
  if (b.error.empty()) b.error = what;
  _longjmp(b.scheduler, 2);
}

// A fiber runs its thread of one block after the other: starting anew costs a system call.
inline void entry() {
  for (Block& b = block();;) {
    b.run(b.arguments);
    pause(State::done);
  }
}

inline unsigned lanes_of(int warp) {
  const int n = block().n_threads - 32 * warp;
  return n >= 32 ? 0xffffffffu : (1u << n) - 1;
}

// Waits for the lanes of the mask; the last to come lets the others go.
inline void meet(unsigned mask) {
  Block& b = block();
  const int warp = b.current / 32;
  const unsigned me = 1u << (b.current % 32);
  Warp& w = b.warps[warp];
  mask &= lanes_of(warp);
  if (!(mask & me)) fail("a lane that its mask leaves out takes part in a warp's exchange");
  if (w.mask == 0) w.mask = mask;
  if (w.mask != mask) fail("lanes of a warp take part in an exchange with different masks");
  w.arrived |= me;
  if (w.arrived != mask) return pause(State::at_warp_barrier);
  w.mask = w.arrived = 0;
  ++w.epoch;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    Fiber& fiber = b.fibers[32 * warp + lane];
    if (fiber.state == State::at_warp_barrier) fiber.state = State::ready;
  }
}

template <class T>
T exchange(unsigned mask, T value, int from) {
  static_assert(sizeof(T) <= 8);
  Block& b = block();
  Warp& w = b.warps[b.current / 32];
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  std::uint64_t* const slot = w.slot();
  slot[b.current % 32] = bits;
  meet(mask);
  if (from >= 0 && from < 32 && (mask >> from & 1)) bits = slot[from];
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline int lane() { return block().current % 32; }

// Runs one thread until it pauses; false after an error.
inline bool resume(int thread) {
  Block& b = block();
  Fiber& fiber = b.fibers[thread];
  b.current = thread;
  threadIdx = {static_cast<unsigned>(thread), 0, 0};
  const int back = _setjmp(b.scheduler);
  if (back == 2) return false;
  if (back == 1) return true;
  if (fiber.started) _longjmp(fiber.here, 1);
  fiber.started = true;
  setcontext(&fiber.start);
  std::abort();
}

// Lets every thread that can run go on until none can.
inline bool run_ready(bool descending) {
  Block& b = block();
  for (bool any = true; any;) {
    any = false;
    for (int i = 0; i < b.n_threads; ++i) {
      const int thread = descending ? b.n_threads - 1 - i : i;
      if (b.fibers[thread].state != State::ready) continue;
      any = true;
      if (!resume(thread)) return false;
    }
  }
  return true;
}

inline bool run_block(bool descending) {
  Block& b = block();
  std::fill(b.shared.begin(), b.shared.end(), static_cast<unsigned char>(0xcd));
  for (Warp& warp : b.warps) warp.mask = warp.arrived = warp.epoch = 0;
  for (int t = 0; t < b.n_threads; ++t) {
    Fiber& fiber = b.fibers[t];
    fiber.state = State::ready;
    if (fiber.started) continue;
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = b.stacks + static_cast<std::size_t>(t) * kStack;
    fiber.start.uc_stack.ss_size = kStack;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, entry, 0);
  }
  for (;;) {
    if (!run_ready(descending)) return false;
    int waiting = 0, done = 0;
    for (int t = 0; t < b.n_threads; ++t) {
      waiting += b.fibers[t].state == State::at_block_barrier;
      done += b.fibers[t].state == State::done;
    }
    if (done == b.n_threads) return true;
    if (waiting != b.n_threads) {
      b.error = "some threads wait at a barrier that others never reach";
      return false;
    }
    for (int t = 0; t < b.n_threads; ++t) b.fibers[t].state = State::ready;
  }
}

template <class... Args>
struct Bound {
  void (*kernel)(Args...);
  std::tuple<Args...> values;
  static void run(void* self) {
    const auto& bound = *static_cast<Bound*>(self);
    std::apply(bound.kernel, bound.values);
  }
};

template <class... Args, std::size_t... I>
std::tuple<Args...> unpack(void** arguments, std::index_sequence<I...>) {
  return std::tuple<Args...>(*static_cast<Args*>(arguments[I])...);
}

template <class... Args>
const char* launch(void (*kernel)(Args...), const unsigned* grid, unsigned n_threads,
                   std::size_t shared, bool descending, void** arguments) {
  Block& b = block();
  if (!b.stacks) {
    void* room = mmap(nullptr, kStack * kMostThreads, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return "no memory for the threads' stacks";
    b.stacks = static_cast<unsigned char*>(room);
  }
  Bound<Args...> bound{kernel, unpack<Args...>(arguments, std::index_sequence_for<Args...>{})};
  b.run = &Bound<Args...>::run;
  b.arguments = &bound;
  b.n_threads = static_cast<int>(n_threads);
  b.shared.assign(shared + 16, 0);  // never empty; vectors of bytes are aligned well enough
  b.error.clear();
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {n_threads, 1, 1};
  for (unsigned z = 0; z < grid[2]; ++z) {
    for (unsigned y = 0; y < grid[1]; ++y) {
      for (unsigned x = 0; x < grid[0]; ++x) {
        blockIdx = {x, y, z};
        if (run_block(descending)) continue;
        for (Fiber& fiber : b.fibers) fiber.started = false;  // they hang somewhere in the kernel
        return b.error.c_str();
      }
    }
  }
  return nullptr;
}

// The types of a kernel's parameters, as NumPy writes them; pointers with a star before.
template <class T>
std::string type_code() {
  if constexpr (std::is_pointer_v<T>) {
    return "*" + type_code<std::remove_cv_t<std::remove_pointer_t<T>>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return "b1";
  } else if constexpr (std::is_arithmetic_v<T>) {
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return kind + std::to_string(sizeof(T));
  } else {
    return "?";  // vector types and structures: any array will do
  }
}

template <class... Args>
const char* signature(void (*)(Args...)) {
  static const std::string codes = ((type_code<Args>() + " ") + ... + std::string());
  return codes.c_str();
}

}  // namespace cuda_on_host

inline void __syncthreads() { cuda_on_host::pause(cuda_on_host::State::at_block_barrier); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { cuda_on_host::meet(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}

// `width` as CUDA has it: the warp falls into parts that exchange among themselves.
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const int first = cuda_on_host::lane() / width * width;
  return cuda_on_host::exchange(mask, value, first + (from & (width - 1)));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned step, int width = 32) {
  const int from = cuda_on_host::lane() + static_cast<int>(step);
  return cuda_on_host::exchange(mask, value, from / width == cuda_on_host::lane() / width ? from : -1);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned step, int width = 32) {
  const int from = cuda_on_host::lane() - static_cast<int>(step);
  const int first = cuda_on_host::lane() / width * width;
  return cuda_on_host::exchange(mask, value, from >= first ? from : -1);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32) {
  const int from = cuda_on_host::lane() ^ flip;
  return cuda_on_host::exchange(mask, value, from / width <= cuda_on_host::lane() / width ? from : -1);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  using cuda_on_host::block;
  cuda_on_host::Warp& w = block().warps[block().current / 32];
  std::uint64_t* const slot = w.slot();
  slot[cuda_on_host::lane()] = predicate != 0;
  cuda_on_host::meet(mask);
  unsigned votes = 0;
  const unsigned present = mask & cuda_on_host::lanes_of(block().current / 32);
  for (int lane = 0; lane < 32; ++lane) {
    if (present >> lane & 1) votes |= static_cast<unsigned>(slot[lane]) << lane;
  }
  return votes;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
inline unsigned __activemask() { return cuda_on_host::lanes_of(cuda_on_host::block().current / 32); }

// A fiber is never interrupted, so these are atomic as they stand. Signed sums wrap as CUDA's do.
template <class T>
T atomic_on_host(T* to, T value) {
  const T before = *to;
  *to = value;
  return before;
}
#define CUDA_ON_HOST_ATOMICS(type)                                                             \
  inline type atomicMin(type* to, type v) { return atomic_on_host(to, v < *to ? v : *to); }    \
  inline type atomicMax(type* to, type v) { return atomic_on_host(to, v > *to ? v : *to); }    \
  inline type atomicExch(type* to, type v) { return atomic_on_host(to, v); }                   \
  inline type atomicOr(type* to, type v) { return atomic_on_host(to, *to | v); }               \
  inline type atomicAnd(type* to, type v) { return atomic_on_host(to, *to & v); }              \
  inline type atomicCAS(type* to, type was, type v) { return atomic_on_host(to, *to == was ? v : *to); }
CUDA_ON_HOST_ATOMICS(int)
CUDA_ON_HOST_ATOMICS(unsigned)
CUDA_ON_HOST_ATOMICS(unsigned long long)
inline long long atomicMin(long long* to, long long v) { return atomic_on_host(to, v < *to ? v : *to); }
inline long long atomicMax(long long* to, long long v) { return atomic_on_host(to, v > *to ? v : *to); }
inline int atomicAdd(int* to, int v) {
  return atomic_on_host(to, static_cast<int>(static_cast<unsigned>(*to) + static_cast<unsigned>(v)));
}
inline unsigned atomicAdd(unsigned* to, unsigned v) { return atomic_on_host(to, *to + v); }
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long v) {
  return atomic_on_host(to, *to + v);
}
inline float atomicAdd(float* to, float v) { return atomic_on_host(to, *to + v); }
inline double atomicAdd(double* to, double v) { return atomic_on_host(to, *to + v); }

template <class T>
T __ldg(const T* from) { return *from; }
template <class T>
T __ldcs(const T* from) { return *from; }
template <class T>
void __stcs(T* to, T value) { *to = value; }
inline long long __double2ll_rn(double x) { return std::llrint(x); }
inline int __double2int_rn(double x) { return static_cast<int>(std::lrint(x)); }
inline int __float2int_rn(float x) { return static_cast<int>(std::lrintf(x)); }
inline long long __float2ll_rn(float x) { return std::llrintf(x); }
template <class To, class From>
To bits_on_host(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}
inline int __float_as_int(float x) { return bits_on_host<int>(x); }
inline unsigned __float_as_uint(float x) { return bits_on_host<unsigned>(x); }
inline float __int_as_float(int x) { return bits_on_host<float>(x); }
inline float __uint_as_float(unsigned x) { return bits_on_host<float>(x); }
inline long long __double_as_longlong(double x) { return bits_on_host<long long>(x); }
inline double __longlong_as_double(long long x) { return bits_on_host<double>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
// CUDA's own versions of these take mixed types.
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
using std::abs;
