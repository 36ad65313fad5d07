// Which kernels this CPU can run.
#include <atomic>
#include <cstring>

#include "marginboost/stumps/kernels.hpp"
#include "marginboost/trees/kernels.hpp"

#if defined(MARGINBOOST_X86) && defined(_MSC_VER)
#include <intrin.h>
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
#if defined(_MSC_VER)
bool leaf7(int reg, int bit, unsigned long long system_mask) {
  int info[4];
  __cpuid(info, 1);
  if (((info[2] >> 27) & 1) == 0) return false;  // the system saves no vector registers
  if ((_xgetbv(0) & system_mask) != system_mask) return false;
  __cpuidex(info, 7, 0);
  return ((info[reg] >> bit) & 1) != 0;
}
bool has_avx2() { return leaf7(1, 5, 0x6); }
bool has_avx512() {
  return leaf7(1, 16, 0xE6) && leaf7(1, 17, 0xE6) && leaf7(1, 30, 0xE6) && leaf7(1, 31, 0xE6);
}
#else
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif
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
