// How much longer the search proper takes where every access is watched: what sleeps in its stead
// must sleep longer as well, or there is nothing to do meanwhile.
#pragma once

namespace regraph::test {

#ifdef __SANITIZE_THREAD__
inline constexpr int kInstrumentedSlowness = 20;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kInstrumentedSlowness = 5;
#else
inline constexpr int kInstrumentedSlowness = 1;
#endif

}  // namespace regraph::test
