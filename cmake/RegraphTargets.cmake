function(regraph_flags TARGET)
  # GCC 12 warns of overlapping copies in `"literal" + std::string` where there are none (GCC bug 105651).
  target_compile_options(${TARGET} PRIVATE -Wall -Wextra -Wno-restrict $<$<BOOL:${REGRAPH_WERROR}>:-Werror>)
  if(REGRAPH_SANITIZE STREQUAL "address")
    target_compile_options(${TARGET} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                             -fno-omit-frame-pointer)
    target_link_options(${TARGET} PRIVATE -fsanitize=address,undefined)
  elseif(REGRAPH_SANITIZE STREQUAL "thread")
    # GCC warns of std::atomic_thread_fence, which ThreadSanitizer does not follow; headers of libraries use it.
    target_compile_options(${TARGET} PRIVATE -fsanitize=thread -fno-omit-frame-pointer -Wno-tsan)
    target_link_options(${TARGET} PRIVATE -fsanitize=thread)
  elseif(REGRAPH_SANITIZE)
    message(FATAL_ERROR "REGRAPH_SANITIZE is address, thread or empty, not '${REGRAPH_SANITIZE}'")
  endif()
endfunction()

# regraph_room(NAME [FLOORS ...] DEPENDS ...): the static library of one room of src/. All its *.cpp are built
# in, with those of its floors, which are folders in it. Dependencies name the only rooms and libraries it may
# include.
function(regraph_room NAME)
  cmake_parse_arguments(ROOM "" "" "FLOORS;DEPENDS" ${ARGN})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(floor ${ROOM_FLOORS})
    file(GLOB FLOOR_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${floor}/*.cpp)
    list(APPEND SOURCES ${FLOOR_SOURCES})
  endforeach()
  add_library(regraph_${NAME} STATIC ${SOURCES})
  target_include_directories(regraph_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(regraph_${NAME} PUBLIC ${ROOM_DEPENDS})
  regraph_flags(regraph_${NAME})
endfunction()

# regraph_test(NAME DEPENDS ... [LABELS ...]): all *_test.cpp of the folder as one GoogleTest program.
function(regraph_test NAME)
  cmake_parse_arguments(TEST "" "" "DEPENDS;LABELS" ${ARGN})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  add_executable(${NAME}_test ${SOURCES})
  target_link_libraries(${NAME}_test PRIVATE ${TEST_DEPENDS} GTest::gtest GTest::gtest_main)
  target_include_directories(${NAME}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${NAME}_test PRIVATE REGRAPH_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    REGRAPH_CUDA_INCLUDE_DIRECTORY="${REGRAPH_CUDA_INCLUDE}")
  regraph_flags(${NAME}_test)
  gtest_discover_tests(${NAME}_test DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT 600 LABELS "${TEST_LABELS}")
endfunction()

# regraph_bench(NAME DEPENDS ...): one Google Benchmark program from NAME_bench.cpp.
function(regraph_bench NAME)
  cmake_parse_arguments(BENCH "" "" "DEPENDS" ${ARGN})
  add_executable(${NAME}_bench ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}_bench.cpp)
  target_link_libraries(${NAME}_bench PRIVATE ${BENCH_DEPENDS} benchmark::benchmark)
  target_compile_definitions(${NAME}_bench PRIVATE REGRAPH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  regraph_flags(${NAME}_bench)
endfunction()
