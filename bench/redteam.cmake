# A small part of bench/redteam: mutants of the benchmark's kernels are caught, and its other styles pass.
if(REGRAPH_TESTS)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_test(NAME RedTeam.CatchesMutantsAndPassesHonestKernels
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/redteam/run --small --jobs 1 --program $<TARGET_FILE:regraph-score>)
  set_tests_properties(RedTeam.CatchesMutantsAndPassesHonestKernels PROPERTIES TIMEOUT 600 LABELS bench
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;REGRAPH_CACHE_DIR=${CMAKE_BINARY_DIR}/red-team-cache")
endif()
