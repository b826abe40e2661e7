# What is installed, and two packages of it: a relocatable archive and, for Debian 12, a .deb. `tools/package` makes both.
# They hold the programs, Clang's own headers, the shipped ReGraph, manual pages, completions and the examples; the
# archive also the libraries that the programs need beyond the C and C++ runtime, where the .deb depends on Debian's.
# Where they are unpacked, a CUDA toolkit and a C++ standard library's headers must be there; a driver, to measure.

# All programs are one file under many names (src/cli/regraph.cpp).
set(REGRAPH_PROGRAMS search score run train dataset calibrate capture reward-server score-worker worker judge mcp)
install(TARGETS regraph-programs regraph-eval regraph-compile-worker
  RUNTIME_DEPENDENCY_SET regraph_libraries
  RUNTIME DESTINATION bin)
list(TRANSFORM REGRAPH_PROGRAMS REPLACE "(.+)" "bin/regraph-\\1" OUTPUT_VARIABLE REGRAPH_LINKS)
install(CODE "foreach(link ${REGRAPH_LINKS})
  file(CREATE_LINK regraph \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${link}\" SYMBOLIC)
endforeach()")
install(TARGETS regraph_cudart regraph_injection LIBRARY DESTINATION lib/regraph-capture)
install(RUNTIME_DEPENDENCY_SET regraph_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so"
  LIBRARY DESTINATION lib)
install(DIRECTORY ${REGRAPH_LLVM_ROOT}/lib/clang/19/include DESTINATION lib/clang/19)
install(FILES graphs/cuda.yaml graphs/triton.yaml graphs/cuda.regraph-policy graphs/prices.yaml DESTINATION share/regraph)
install(DIRECTORY graphs/prompts graphs/prompts-triton graphs/prompts-small DESTINATION share/regraph)
install(DIRECTORY examples docs deploy python DESTINATION share/regraph PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/regraph)
# Of what is in the programs, or beside them, as Debian ships it.
foreach(package libclang-19-dev node-d3 nlohmann-json3-dev libcli11-dev)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION share/regraph/licences RENAME ${package} OPTIONAL)
endforeach()
# What the programs say of themselves, asked of them.
install(CODE "execute_process(
  COMMAND \"${CMAKE_COMMAND}\" -DPROGRAM=$<TARGET_FILE:regraph-programs> \"-DNAMES=${REGRAPH_PROGRAMS}\"
          -DVERSION=${PROJECT_VERSION} \"-DSHARE=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share\"
          -P \"${CMAKE_SOURCE_DIR}/cmake/manual_pages.cmake\" COMMAND_ERROR_IS_FATAL ANY)")

set(CPACK_GENERATOR TXZ DEB)
set(CPACK_PACKAGE_NAME regraph)
set(CPACK_PACKAGE_VENDOR ReGraph)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "search for faster CUDA kernels that compute the same")
set(CPACK_PACKAGE_DESCRIPTION "ReGraph takes a working CUDA kernel and returns a faster one that computes the same thing, with the
evidence. A Monte Carlo graph search applies optimization steps to the kernel's syntax tree; every
result is compiled, compared with the original, and timed: on a GPU where there is one, else by a model.")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
# Without the component "library", for which the preset builds nothing.
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};ReGraph;Unspecified;/")

# The .deb is the same tree below /usr/lib/regraph, which cmake/debian_layout.cmake makes a Debian package of.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The ReGraph developers <regraph@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Clang reads the C and C++ libraries' headers; what they are compiled with later comes with CUDA.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libstdc++-12-dev, libc6-dev")
# Programs are built and captured with g++; language models are asked through libcurl, and fleets
# through libnats, which are loaded then.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, libcurl4, libnats3.4")
# NVIDIA's repository has it; Debian's own nvidia-cuda-toolkit is too old.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cuda-toolkit-13-0, python3")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_generators.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian_layout.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian_size.cmake)
set(CPACK_REGRAPH_SOURCE ${CMAKE_SOURCE_DIR})
include(CPack)
