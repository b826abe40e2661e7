# A relocatable archive: cmake --preset package && cmake --build --preset package --target package
# It holds the programs, the libraries they need beyond the C and C++ runtime, Clang's own headers, the
# shipped ReGraph and the examples. Where it is unpacked, a CUDA toolkit and a C++ standard library's
# headers (g++) must be there; a driver, to measure.
install(TARGETS regraph-search regraph-score regraph-train regraph-dataset regraph-calibrate regraph-capture regraph-reward-server
  regraph-score-worker regraph-eval regraph-compile-worker
  RUNTIME_DEPENDENCY_SET regraph_libraries
  RUNTIME DESTINATION bin)
install(TARGETS regraph_cudart regraph_injection LIBRARY DESTINATION lib/regraph-capture)
install(RUNTIME_DEPENDENCY_SET regraph_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so"
  LIBRARY DESTINATION lib)
install(DIRECTORY ${REGRAPH_LLVM_ROOT}/lib/clang/19/include DESTINATION lib/clang/19)
install(FILES graphs/cuda.yaml graphs/cuda.regraph-policy graphs/prices.yaml DESTINATION share/regraph)
install(DIRECTORY graphs/prompts graphs/prompts-small DESTINATION share/regraph)
install(DIRECTORY examples docs python DESTINATION share/regraph PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/regraph)

set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_NAME regraph)
set(CPACK_PACKAGE_VENDOR ReGraph)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
# Without the component "library", for which the preset builds nothing.
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};ReGraph;Unspecified;/")
include(CPack)
