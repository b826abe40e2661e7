// The real compiler for tests: this machine's toolkit, the worker of this build. Needs the
// definition REGRAPH_COMPILE_WORKER.
#pragma once

#include "eval/compile/compiler.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::test {

inline CompilerConfiguration real_configuration(std::filesystem::path cache = {}) {
  CompilerConfiguration configuration;
  const Result<CudaToolkit> toolkit = find_cuda_toolkit();
  if (toolkit.ok()) {
    configuration.toolkit = *toolkit;
  } else {
    ADD_FAILURE() << toolkit.error().message;
  }
  configuration.worker = REGRAPH_COMPILE_WORKER;
  configuration.cache_directory = std::move(cache);
  return configuration;
}

inline CompileRequest request_for(std::string source, std::string kernel = "k",
                                  std::string architecture = "sm_90") {
  CompileRequest request;
  request.source = std::move(source);
  request.kernel = std::move(kernel);
  request.architecture = std::move(architecture);
  return request;
}

}  // namespace regraph::test
