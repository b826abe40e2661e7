# Every third-party library the project uses. All are Debian 12 packages; see tools/setup.
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_package(Threads REQUIRED)
# The server of rewards; with the definitions that Debian's library was built with, hence OpenSSL's headers.
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(OpenSSL REQUIRED)
# Headers only: libcurl is loaded at run time (src/llm/client).
find_path(REGRAPH_CURL_INCLUDE curl/curl.h)
if(NOT REGRAPH_CURL_INCLUDE)
  message(FATAL_ERROR "No curl/curl.h found (Debian: libcurl4-openssl-dev). Run tools/setup.")
endif()
# Headers only, too, and optional: without them nothing can be scaled out over a NATS server (src/fleet/nats).
find_path(REGRAPH_NATS_INCLUDE nats/nats.h)
# One file, which the build puts into the page of a run (src/report/page).
find_file(REGRAPH_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH)
if(NOT REGRAPH_D3)
  message(FATAL_ERROR "No d3.min.js found in /usr/share/nodejs/d3/dist (Debian: node-d3). Run tools/setup.")
endif()
if(REGRAPH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(REGRAPH_BENCH)
  find_package(benchmark REQUIRED)
endif()

# Clang 19. Its own CMake files are not used: they pull in what we do not need. As shared libraries for
# builds that stay here; as archives, with REGRAPH_STATIC_CLANG, for programs that are carried elsewhere.
set(REGRAPH_LLVM_ROOT /usr/lib/llvm-19 CACHE PATH "Where LLVM and Clang 19 are installed")
option(REGRAPH_STATIC_CLANG "Link Clang and LLVM statically" OFF)
find_path(REGRAPH_LLVM_INCLUDE clang/Tooling/Tooling.h REQUIRED
  PATHS ${REGRAPH_LLVM_ROOT}/include NO_DEFAULT_PATH)
if(REGRAPH_STATIC_CLANG)
  file(GLOB CLANG_ARCHIVES ${REGRAPH_LLVM_ROOT}/lib/libclang[A-Z]*.a)
  execute_process(
    COMMAND ${REGRAPH_LLVM_ROOT}/bin/llvm-config --link-static --libfiles
      support option frontendopenmp frontendhlsl windowsdriver targetparser bitreader
    OUTPUT_VARIABLE LLVM_ARCHIVES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(LLVM_ARCHIVES)
  set(REGRAPH_CLANG_LIBRARIES
    -Wl,--start-group ${CLANG_ARCHIVES} ${LLVM_ARCHIVES} -Wl,--end-group z zstd)
else()
  find_library(REGRAPH_CLANG_LIBRARY clang-cpp REQUIRED
    PATHS ${REGRAPH_LLVM_ROOT}/lib NO_DEFAULT_PATH)
  find_library(REGRAPH_LLVM_LIBRARY LLVM-19 REQUIRED PATHS ${REGRAPH_LLVM_ROOT}/lib NO_DEFAULT_PATH)
  set(REGRAPH_CLANG_LIBRARIES ${REGRAPH_CLANG_LIBRARY} ${REGRAPH_LLVM_LIBRARY})
endif()

# The CUDA toolkit is needed for headers at build time and for NVRTC at run time.
if("$ENV{REGRAPH_HIDE_CUDA}" STREQUAL "1")
  # As if there were no toolkit: the project's own wheels only.
  find_path(REGRAPH_CUDA_INCLUDE nvrtc.h HINTS ${CMAKE_SOURCE_DIR}/.cuda/nvidia/cu13
    PATH_SUFFIXES include NO_DEFAULT_PATH)
endif()
find_path(REGRAPH_CUDA_INCLUDE nvrtc.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH ${CMAKE_SOURCE_DIR}/.cuda/nvidia/cu13
  PATHS /usr/local/cuda
  PATH_SUFFIXES include NO_CMAKE_SYSTEM_PATH)
if(NOT REGRAPH_CUDA_INCLUDE)
  message(FATAL_ERROR "No CUDA toolkit found (CUDA_HOME, CUDA_PATH, /usr/local/cuda, .cuda/). Run tools/setup.")
endif()
