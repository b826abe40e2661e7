# The library that is installed: all rooms below the programs in one archive, one target, and the headers that
# its front door, session/session.h, needs. tests/consumer is built against it outside this tree.
get_property(REGRAPH_ROOMS GLOBAL PROPERTY REGRAPH_ROOMS)
set(REGRAPH_PUBLIC_HEADERS
  base/cancellation.h base/hash.h base/result.h
  eval/evaluator.h eval/gpu/protocol/device_properties.h eval/model/device.h
  kernel/buffer_init.h kernel/candidate.h kernel/device_limits.h kernel/evaluation.h kernel/expression.h kernel/expression_node.h kernel/facts.h
  kernel/launch_plan.h kernel/measured_speedup.h kernel/measurement.h kernel/problem.h
  kernel/sanitizer_report.h kernel/scalar_type.h kernel/scalar_value.h kernel/speed_verdict.h
  regraph/expander.h regraph/search_story.h regraph/step_proposal.h
  search/config.h search/observer.h search/outcome.h
  session/installation.h session/kernel_comparison.h session/language_model_options.h session/session.h
  session/session_error.h
  session/session_options.h)

set(REGRAPH_OBJECTS "")
foreach(room ${REGRAPH_ROOMS})
  list(APPEND REGRAPH_OBJECTS $<TARGET_OBJECTS:${room}>)
endforeach()
add_library(regraph STATIC ${REGRAPH_OBJECTS})
target_include_directories(regraph INTERFACE $<INSTALL_INTERFACE:include/regraph>)
target_compile_features(regraph INTERFACE cxx_std_20)
# Whoever links the archive links what the rooms use. Names, no paths, where the package is Debian's.
target_link_libraries(regraph INTERFACE fmt::fmt TBB::tbb yaml-cpp Threads::Threads sqlite3 xxhash zstd
  ${REGRAPH_CLANG_LIBRARIES} ${CMAKE_DL_LIBS})

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/regraph-config.cmake.in
  ${CMAKE_BINARY_DIR}/regraph-config.cmake INSTALL_DESTINATION lib/cmake/regraph)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/regraph-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(TARGETS regraph EXPORT regraph ARCHIVE DESTINATION lib COMPONENT library)
install(EXPORT regraph NAMESPACE regraph:: DESTINATION lib/cmake/regraph COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/regraph-config.cmake ${CMAKE_BINARY_DIR}/regraph-config-version.cmake
  DESTINATION lib/cmake/regraph COMPONENT library)
foreach(header ${REGRAPH_PUBLIC_HEADERS})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION include/regraph/${folder} COMPONENT library)
endforeach()
