add_executable(work_ahead ${CMAKE_CURRENT_SOURCE_DIR}/work_ahead.cpp)
target_link_libraries(work_ahead PRIVATE regraph_search fmt::fmt)
target_include_directories(work_ahead PRIVATE ${CMAKE_SOURCE_DIR}/tests)
regraph_flags(work_ahead)
