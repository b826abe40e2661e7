// Drivers that no test machine has, as shared libraries: one of another age (FAKE_VERSION), one
// that does not start (FAKE_BROKEN), one from before most functions (FAKE_ANCIENT).
#include "eval/gpu/driver/driver_api.h"

#define FAKE_TEXT_OF(name) #name
#define FAKE_NAME_OF(name) FAKE_TEXT_OF(name)

extern "C" {
int fake_init(unsigned) __asm__("cuInit");
int fake_init(unsigned) {
#ifdef FAKE_BROKEN
  return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
#else
  return CUDA_SUCCESS;
#endif
}

int fake_version(int* version) __asm__("cuDriverGetVersion");
int fake_version(int* version) {
  *version = FAKE_VERSION;
  return CUDA_SUCCESS;
}

#ifndef FAKE_ANCIENT
// These two are above.
#define cuInit not_cuInit
#define cuDriverGetVersion not_cuDriverGetVersion
#define X(function)                                      \
  int fake_##function() __asm__(FAKE_NAME_OF(function)); \
  int fake_##function() {                                \
    return CUDA_ERROR_NOT_SUPPORTED;                     \
  }
REGRAPH_DRIVER_FUNCTIONS(X)
#endif
}
