# Every third-party library the project uses. All are Debian 12 packages; see tools/setup.
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_package(Threads REQUIRED)
if(REGRAPH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(REGRAPH_BENCH)
  find_package(benchmark REQUIRED)
endif()
list(PREPEND CMAKE_PREFIX_PATH /usr/lib/llvm-19)
find_package(LLVM 19 REQUIRED CONFIG)

# The CUDA toolkit is needed for headers at build time and for NVRTC at run time.
find_path(REGRAPH_CUDA_INCLUDE nvrtc.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH ${CMAKE_SOURCE_DIR}/.cuda/nvidia/cu13
  PATHS /usr/local/cuda
  PATH_SUFFIXES include NO_CMAKE_SYSTEM_PATH)
if(NOT REGRAPH_CUDA_INCLUDE)
  message(FATAL_ERROR "No CUDA toolkit found (CUDA_HOME, CUDA_PATH, /usr/local/cuda, .cuda/). Run tools/setup.")
endif()
