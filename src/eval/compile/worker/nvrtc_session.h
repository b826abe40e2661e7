// NVRTC, loaded at run time.
#pragma once

#include "eval/compile/worker_protocol.h"

#include <nvrtc.h>
#include <string>

namespace regraph::compile_internal {

class NvrtcLibrary {
 public:
  // Loads the library and the built-in headers it would otherwise load later, when the sandbox no
  // longer lets it. Returns an error text, empty on success.
  [[nodiscard]] std::string load(const std::string& path);

  [[nodiscard]] WorkerResponse compile(const WorkerRequest& request) const;

 private:
  decltype(&::nvrtcCreateProgram) create_program_ = nullptr;
  decltype(&::nvrtcAddNameExpression) add_name_expression_ = nullptr;
  decltype(&::nvrtcCompileProgram) compile_program_ = nullptr;
  decltype(&::nvrtcGetErrorString) error_string_ = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size_ = nullptr;
  decltype(&::nvrtcGetProgramLog) log_ = nullptr;
  decltype(&::nvrtcGetPTXSize) ptx_size_ = nullptr;
  decltype(&::nvrtcGetPTX) ptx_ = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size_ = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin_ = nullptr;
  decltype(&::nvrtcGetLoweredName) lowered_name_ = nullptr;
};

}  // namespace regraph::compile_internal
