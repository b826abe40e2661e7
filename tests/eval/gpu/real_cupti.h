// The CUPTI of the toolkit that the build was configured with, for tests; null where it has none.
#pragma once

#include "eval/gpu/counters/cupti_api.h"
#include "eval/gpu/counters/cupti_library.h"
#include "support/cuda.h"

#include <memory>

namespace regraph::gpu::test {

// CUPTI's planning loads a library with RTLD_DEEPBIND, at which AddressSanitizer ends the program.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kCuptiCanPlan = false;
#else
inline constexpr bool kCuptiCanPlan = true;
#endif

inline std::shared_ptr<const CuptiApi> real_cupti() {
  const auto api = load_cupti(cupti_candidates(regraph::test::cuda_root()));
  return api.ok() ? *api : nullptr;
}

}  // namespace regraph::gpu::test
