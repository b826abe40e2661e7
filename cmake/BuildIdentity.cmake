# Which sources programs were built from: they must be of one build to judge candidates for each other.
#
#   regraph_build_identity    a library with regraph::build_identity() (src/fleet/evaluator_version.h)
#
# As a script (cmake -P) it writes that function's file; LIST names a file with the sources, one a line.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${LIST} SOURCES)
  set(HASHES "")
  foreach(source ${SOURCES})
    file(SHA256 ${ROOT}/${source} hash)
    string(APPEND HASHES "${source} ${hash}\n")
  endforeach()
  string(SHA256 IDENTITY "${HASHES}")
  string(SUBSTRING ${IDENTITY} 0 12 IDENTITY)
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "namespace regraph {\nextern const char* const kBuildIdentity;\n\
const char* const kBuildIdentity = \"@IDENTITY@\";\n}  // namespace regraph\n" @ONLY)
  return()
endif()

file(GLOB_RECURSE IDENTITY_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src/*.cpp
  ${CMAKE_SOURCE_DIR}/src/*.h)
list(SORT IDENTITY_SOURCES)
list(TRANSFORM IDENTITY_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE IDENTITY_FILES)
string(REPLACE ";" "\n" IDENTITY_LINES "${IDENTITY_SOURCES}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/build_identity.txt CONTENT "${IDENTITY_LINES}\n")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/build_identity.cpp
  COMMAND ${CMAKE_COMMAND} -DLIST=${CMAKE_BINARY_DIR}/build_identity.txt -DROOT=${CMAKE_SOURCE_DIR}
    -DOUTPUT=${CMAKE_BINARY_DIR}/build_identity.cpp -P ${CMAKE_SOURCE_DIR}/cmake/BuildIdentity.cmake
  DEPENDS ${IDENTITY_FILES} ${CMAKE_BINARY_DIR}/build_identity.txt ${CMAKE_SOURCE_DIR}/cmake/BuildIdentity.cmake
  COMMENT "Which sources this is built from" VERBATIM)
add_library(regraph_build_identity STATIC ${CMAKE_BINARY_DIR}/build_identity.cpp)
# Part of the installed library.
set_property(GLOBAL APPEND PROPERTY REGRAPH_ROOMS regraph_build_identity)
