# A small learning table, whole and the same each time it is made.
if(REGRAPH_TESTS)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_test(NAME LearningTable.IsConsistentAndRepeatable
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/learning/check $<TARGET_FILE:regraph-train>)
  set_tests_properties(LearningTable.IsConsistentAndRepeatable PROPERTIES TIMEOUT 600
    ENVIRONMENT "REGRAPH_CACHE_DIR=${CMAKE_BINARY_DIR}/learning-table-cache")
endif()
