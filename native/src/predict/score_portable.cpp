// What every machine can run, and the choice among what this one can.
#include <cstring>

#include "marginboost/stumps/kernels.hpp"
#include "predict/score_kernels_impl.hpp"

namespace marginboost {

#if defined(MARGINBOOST_X86)
extern const ScoreKernels kAvx2ScoreKernels;
extern const ScoreKernels kAvx512ScoreKernels;
#elif defined(__aarch64__)
extern const ScoreKernels kNeonScoreKernels;
#endif

namespace {

struct Portable;
constexpr ScoreKernels kPortableScoreKernels = score_kernels_of<Portable>();

}  // namespace

const ScoreKernels& score_kernels() {
#if defined(MARGINBOOST_X86)
  const char* name = kernels().name;
  if (std::strcmp(name, "avx512") == 0) return kAvx512ScoreKernels;
  if (std::strcmp(name, "avx2") == 0) return kAvx2ScoreKernels;
#elif defined(__aarch64__)
  if (std::strcmp(kernels().name, "neon") == 0) return kNeonScoreKernels;
#endif
  return kPortableScoreKernels;
}

}  // namespace marginboost
