add_executable(llm_client llm_client.cpp ${CMAKE_SOURCE_DIR}/tests/llm/client/fault_server.cpp)
target_include_directories(llm_client PRIVATE ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(llm_client PRIVATE regraph_llm_client)
regraph_flags(llm_client)
