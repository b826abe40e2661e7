# Not a Google Benchmark: prints a table.
add_executable(reading ${CMAKE_CURRENT_SOURCE_DIR}/reading.cpp)
target_link_libraries(reading PRIVATE regraph_session fmt::fmt)
regraph_flags(reading)
