# Every third-party library the project uses. All are Debian 12 packages; see tools/setup.
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
find_package(Threads REQUIRED)
if(REGRAPH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(REGRAPH_BENCH)
  find_package(benchmark REQUIRED)
endif()

# Clang 19 as shared libraries. Its own CMake files are not used: they pull in what we do not need.
set(REGRAPH_LLVM_ROOT /usr/lib/llvm-19 CACHE PATH "Where LLVM and Clang 19 are installed")
find_path(REGRAPH_LLVM_INCLUDE clang/Tooling/Tooling.h REQUIRED
  PATHS ${REGRAPH_LLVM_ROOT}/include NO_DEFAULT_PATH)
find_library(REGRAPH_CLANG_LIBRARY clang-cpp REQUIRED PATHS ${REGRAPH_LLVM_ROOT}/lib NO_DEFAULT_PATH)
find_library(REGRAPH_LLVM_LIBRARY LLVM-19 REQUIRED PATHS ${REGRAPH_LLVM_ROOT}/lib NO_DEFAULT_PATH)

# The CUDA toolkit is needed for headers at build time and for NVRTC at run time.
find_path(REGRAPH_CUDA_INCLUDE nvrtc.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH ${CMAKE_SOURCE_DIR}/.cuda/nvidia/cu13
  PATHS /usr/local/cuda
  PATH_SUFFIXES include NO_CMAKE_SYSTEM_PATH)
if(NOT REGRAPH_CUDA_INCLUDE)
  message(FATAL_ERROR "No CUDA toolkit found (CUDA_HOME, CUDA_PATH, /usr/local/cuda, .cuda/). Run tools/setup.")
endif()
