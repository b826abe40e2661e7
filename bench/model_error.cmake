# Not a Google Benchmark: prints a table.
add_executable(model_error 
  ${CMAKE_CURRENT_SOURCE_DIR}/model_error.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/model_error_atomics.cpp)
target_link_libraries(model_error PRIVATE regraph_eval_model regraph_source fmt::fmt)
target_compile_definitions(model_error PRIVATE REGRAPH_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  REGRAPH_COMPILE_WORKER="$<TARGET_FILE:regraph-compile-worker>")
regraph_flags(model_error)
