# The benchmark of bench/kernels: its kernels are right, and searches of some of them gain what they gained before.
if(REGRAPH_TESTS)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_test(NAME BenchmarkKernels.EqualTheirReferences
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/kernels/check --programs $<TARGET_FILE_DIR:regraph-score>)
  add_test(NAME BenchmarkKernels.GainWhatIsNoted
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/kernels/run --check-floors
                   --programs $<TARGET_FILE_DIR:regraph-search>)
  set_tests_properties(BenchmarkKernels.EqualTheirReferences BenchmarkKernels.GainWhatIsNoted PROPERTIES TIMEOUT 1200 LABELS bench
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;REGRAPH_CACHE_DIR=${CMAKE_BINARY_DIR}/benchmark-kernels-cache")
endif()
