// Which kernels this CPU can run.
#include <atomic>
#include <cstring>

#include "marginboost/stumps/kernels.hpp"
#include "marginboost/trees/kernels.hpp"

#if defined(MARGINBOOST_X86)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace marginboost {

extern const Kernels kPortableKernels;
extern const TreeKernels kPortableTreeKernels;
#if defined(MARGINBOOST_X86)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
extern const TreeKernels kAvx2TreeKernels;
extern const TreeKernels kAvx512TreeKernels;
#elif defined(__aarch64__)
extern const Kernels kNeonKernels;
extern const TreeKernels kNeonTreeKernels;
#endif

namespace {

#if defined(MARGINBOOST_X86)
// The processor is asked directly: not every compiler's library has what __builtin_cpu_supports reads.
struct Registers {
  unsigned int a = 0, b = 0, c = 0, d = 0;
};

#if defined(_MSC_VER)
Registers cpuid(unsigned int leaf) {
  int found[4];
  __cpuidex(found, static_cast<int>(leaf), 0);
  return {static_cast<unsigned int>(found[0]), static_cast<unsigned int>(found[1]),
          static_cast<unsigned int>(found[2]), static_cast<unsigned int>(found[3])};
}
unsigned long long saved_registers() { return _xgetbv(0); }
#else
Registers cpuid(unsigned int leaf) {
  Registers found;
  __cpuid_count(leaf, 0, found.a, found.b, found.c, found.d);
  return found;
}
unsigned long long saved_registers() {
  unsigned int low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<unsigned long long>(high) << 32) | low;
}
#endif

// Whether the processor has all of some extensions, which are bits of leaf 7, and the system saves
// the registers that they need.
bool has_all(unsigned int extensions, unsigned long long registers) {
  constexpr unsigned int kSavesVectors = 1u << 27;
  if (cpuid(0).a < 7 || (cpuid(1).c & kSavesVectors) == 0) return false;
  return (saved_registers() & registers) == registers && (cpuid(7).b & extensions) == extensions;
}
bool has_avx2() { return has_all(1u << 5, 0x6); }
bool has_avx512() {
  constexpr unsigned int kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;
  return has_all(kF | kDq | kBw | kVl, 0xE6);
}
#endif

const Kernels* find(const char* name) {
  const bool any = std::strcmp(name, "auto") == 0;
#if defined(MARGINBOOST_X86)
  if ((any || std::strcmp(name, "avx512") == 0) && has_avx512()) return &kAvx512Kernels;
  if ((any || std::strcmp(name, "avx2") == 0) && has_avx2()) return &kAvx2Kernels;
#elif defined(__aarch64__)  // whose every CPU has NEON
  if (any || std::strcmp(name, "neon") == 0) return &kNeonKernels;
#endif
  if (any || std::strcmp(name, "portable") == 0) return &kPortableKernels;
  return nullptr;
}

std::atomic<const Kernels*> in_use{nullptr};

}  // namespace

Lanes Lanes::of(int n_outputs) {
  const int lanes = n_outputs <= 4 ? 4 : n_outputs <= 8 ? 8 : 16;
  return {lanes, (n_outputs + lanes - 1) / lanes};
}

Slots Slots::of(int n_classes) {
  Slots slots;
  slots.lanes = n_classes <= 7 ? 8 : 16;
  slots.tiles = (n_classes + slots.per_tile() - 1) / slots.per_tile();
  slots.stored = slots.padded();
  // One tile is cut after its last four classes; one or two classes more are kept in its two spare
  // lanes. With more tiles there is little to save.
  if (slots.tiles == 1) slots.stored = (n_classes + 3) / 4 * 4;
  if (slots.tiles == 2 && n_classes <= slots.lanes) slots.stored = slots.lanes;
  return slots;
}

const Kernels& kernels() {
  const Kernels* chosen = in_use.load(std::memory_order_acquire);
  if (chosen == nullptr) {
    chosen = find("auto");
    in_use.store(chosen, std::memory_order_release);
  }
  return *chosen;
}

const TreeKernels& tree_kernels() {
#if defined(MARGINBOOST_X86)
  if (&kernels() == &kAvx512Kernels) return kAvx512TreeKernels;
  if (&kernels() == &kAvx2Kernels) return kAvx2TreeKernels;
#elif defined(__aarch64__)
  if (&kernels() == &kNeonKernels) return kNeonTreeKernels;
#endif
  return kPortableTreeKernels;
}

bool use_kernels(const char* name) {
  const Kernels* chosen = find(name);
  if (chosen == nullptr) return false;
  in_use.store(chosen, std::memory_order_release);
  return true;
}

}  // namespace marginboost
