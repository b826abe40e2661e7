function(regraph_flags TARGET)
  # GCC 12 warns of overlapping copies in `"literal" + std::string` where there are none (GCC bug 105651).
  target_compile_options(${TARGET} PRIVATE -Wall -Wextra -Wno-restrict $<$<BOOL:${REGRAPH_WERROR}>:-Werror>)
  if(REGRAPH_SANITIZE STREQUAL "address")
    # Behind the sanitizers' checks GCC 12 takes values of std::variant for uninitialised.
    target_compile_options(${TARGET} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                             -fno-omit-frame-pointer -Wno-maybe-uninitialized)
    target_link_options(${TARGET} PRIVATE -fsanitize=address,undefined)
  elseif(REGRAPH_SANITIZE STREQUAL "thread")
    # GCC warns of std::atomic_thread_fence, which ThreadSanitizer does not follow; headers of libraries use it.
    target_compile_options(${TARGET} PRIVATE -fsanitize=thread -fno-omit-frame-pointer -Wno-tsan)
    target_link_options(${TARGET} PRIVATE -fsanitize=thread)
  elseif(REGRAPH_SANITIZE)
    message(FATAL_ERROR "REGRAPH_SANITIZE is address, thread or empty, not '${REGRAPH_SANITIZE}'")
  endif()
endfunction()

# Adds the rooms in this folder, lowest floor first: the order of src/floors.txt, where a new room is entered.
function(regraph_add_rooms)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/floors.txt)
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/floors.txt FLOORS REGEX "^[^#]")
  file(RELATIVE_PATH HERE ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  set(ROOMS "")
  foreach(floor ${FLOORS})
    if(HERE)
      if(NOT floor MATCHES "^${HERE}/")
        continue()
      endif()
      string(REGEX REPLACE "^${HERE}/" "" floor ${floor})
    endif()
    string(REGEX REPLACE "/.*" "" room ${floor})
    list(APPEND ROOMS ${room})
  endforeach()
  list(REMOVE_DUPLICATES ROOMS)
  foreach(room ${ROOMS})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt)
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# What half of all tests include, parsed once. They still include what they use: clang-tidy reads them without it.
option(REGRAPH_PRECOMPILED_HEADERS "Parse the headers that tests share once" ON)
if(REGRAPH_PRECOMPILED_HEADERS AND REGRAPH_TESTS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/common_headers.cpp CONTENT "")
  add_library(regraph_common_headers OBJECT ${CMAKE_BINARY_DIR}/common_headers.cpp)
  target_link_libraries(regraph_common_headers PRIVATE fmt::fmt GTest::gtest)
  regraph_flags(regraph_common_headers)
  target_precompile_headers(regraph_common_headers PRIVATE <algorithm> <array> <chrono> <cmath> <cstdint> <functional>
    <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>
    <gtest/gtest.h>)
endif()

function(regraph_use_common_headers TARGET)
  if(NOT TARGET regraph_common_headers)
    return()
  endif()
  target_precompile_headers(${TARGET} REUSE_FROM regraph_common_headers)
  # Read from there, GCC 12 no longer takes the standard library's code for a system's, and warns as in that bug.
  target_compile_options(${TARGET} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endfunction()

# Templates and headers that files of a room share are compiled once for eight of them: quicker from scratch, slower
# after a change of one file.
option(REGRAPH_UNITY "Compile the files of a room together" OFF)

# Too little of a search's time is spent in the target for the compiler to spend much on it.
function(regraph_cold TARGET)
  # With less known of the code, GCC 12 takes values of std::optional for uninitialised that were asked for.
  target_compile_options(${TARGET} PRIVATE "$<$<CONFIG:Release>:-O1;-Wno-maybe-uninitialized>")
endfunction()

# regraph_room(NAME [COLD] [FLOORS ...] DEPENDS ...): the static library of one room of src/. All its *.cpp are built
# in, with those of its floors, which are folders in it. Dependencies name the only rooms and libraries it may
# include. COLD: as regraph_cold.
function(regraph_room NAME)
  cmake_parse_arguments(ROOM "COLD" "" "FLOORS;DEPENDS" ${ARGN})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(floor ${ROOM_FLOORS})
    file(GLOB FLOOR_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${floor}/*.cpp)
    list(APPEND SOURCES ${FLOOR_SOURCES})
  endforeach()
  add_library(regraph_${NAME} STATIC ${SOURCES})
  target_include_directories(regraph_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(regraph_${NAME} PUBLIC ${ROOM_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY REGRAPH_ROOMS regraph_${NAME})
  regraph_flags(regraph_${NAME})
  if(ROOM_COLD)
    regraph_cold(regraph_${NAME})
  endif()
  set_target_properties(regraph_${NAME} PROPERTIES UNITY_BUILD ${REGRAPH_UNITY})
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
  set_target_properties(${NAME}_test PROPERTIES UNITY_BUILD ${REGRAPH_UNITY})
  regraph_flags(${NAME}_test)
  regraph_use_common_headers(${NAME}_test)
  gtest_discover_tests(${NAME}_test DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT 2400 LABELS "${TEST_LABELS}")
endfunction()

# regraph_bench(NAME DEPENDS ...): one Google Benchmark program from NAME_bench.cpp.
function(regraph_bench NAME)
  cmake_parse_arguments(BENCH "" "" "DEPENDS" ${ARGN})
  add_executable(${NAME}_bench ${CMAKE_CURRENT_SOURCE_DIR}/${NAME}_bench.cpp)
  target_link_libraries(${NAME}_bench PRIVATE ${BENCH_DEPENDS} benchmark::benchmark)
  target_compile_definitions(${NAME}_bench PRIVATE REGRAPH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  regraph_flags(${NAME}_bench)
endfunction()
