#include "eval/compile/worker/nvrtc_session.h"

#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace regraph::compile_internal {

namespace {

template <typename Function>
bool bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// One of NVRTC's size-then-content pairs.
template <typename Size, typename Content>
std::string fetch(Size size_of, Content content_of, nvrtcProgram program) {
  std::size_t size = 0;
  if (size_of(program, &size) != NVRTC_SUCCESS || size == 0) return {};
  std::string content(size, '\0');
  if (content_of(program, content.data()) != NVRTC_SUCCESS) return {};
  return content;
}

void drop_terminator(std::string& text) {
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
}

}  // namespace

std::string NvrtcLibrary::load(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::string("cannot load NVRTC: ") + ::dlerror();
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(path).parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("libnvrtc-builtins.so.", 0) == 0) ::dlopen(entry.path().c_str(), RTLD_LAZY);
  }
  const bool complete =
      bind(library, "nvrtcCreateProgram", create_program_) &&
      bind(library, "nvrtcAddNameExpression", add_name_expression_) &&
      bind(library, "nvrtcCompileProgram", compile_program_) &&
      bind(library, "nvrtcGetErrorString", error_string_) &&
      bind(library, "nvrtcGetProgramLogSize", log_size_) &&
      bind(library, "nvrtcGetProgramLog", log_) && bind(library, "nvrtcGetPTXSize", ptx_size_) &&
      bind(library, "nvrtcGetPTX", ptx_) && bind(library, "nvrtcGetCUBINSize", cubin_size_) &&
      bind(library, "nvrtcGetCUBIN", cubin_) && bind(library, "nvrtcGetLoweredName", lowered_name_);
  return complete ? "" : "this NVRTC is too old: a function is missing; CUDA 12 or newer is needed";
}

WorkerResponse NvrtcLibrary::compile(const WorkerRequest& request) const {
  WorkerResponse response;
  std::vector<const char*> header_texts;
  std::vector<const char*> header_names;
  for (const auto& [name, text] : request.headers) {
    header_names.push_back(name.c_str());
    header_texts.push_back(text.c_str());
  }
  nvrtcProgram program = nullptr;
  nvrtcResult result = create_program_(&program, request.source.c_str(), request.file_name.c_str(),
                                       static_cast<int>(request.headers.size()),
                                       header_texts.data(), header_names.data());
  const bool has_name = !request.kernel.empty();
  if (result == NVRTC_SUCCESS && has_name) {
    result = add_name_expression_(program, request.kernel.c_str());
  }
  if (result != NVRTC_SUCCESS) {
    response.log = std::string("NVRTC: ") + error_string_(result);
    return response;
  }
  std::vector<const char*> options;
  for (const std::string& option : request.options)
    options.push_back(option.c_str());
  result = compile_program_(program, static_cast<int>(options.size()), options.data());
  response.log = fetch(log_size_, log_, program);
  drop_terminator(response.log);
  if (result != NVRTC_SUCCESS) {
    const bool source_is_wrong = result == NVRTC_ERROR_COMPILATION ||
                                 result == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID ||
                                 result == NVRTC_ERROR_INVALID_OPTION;
    response.status =
        source_is_wrong ? WorkerResponse::Status::rejected : WorkerResponse::Status::failed;
    if (response.log.empty()) response.log = std::string("NVRTC: ") + error_string_(result);
    return response;
  }
  const char* entry = "";
  if (has_name && (lowered_name_(program, request.kernel.c_str(), &entry) != NVRTC_SUCCESS ||
                   entry == nullptr)) {
    response.status = WorkerResponse::Status::rejected;
    response.log = "error: '" + request.kernel + "' is not a __global__ function of this source";
    return response;
  }
  response.entry = entry;
  response.ptx = fetch(ptx_size_, ptx_, program);
  drop_terminator(response.ptx);
  if (request.want_cubin) response.cubin = fetch(cubin_size_, cubin_, program);
  if (response.ptx.empty() || (request.want_cubin && response.cubin.empty())) {
    response.log = "NVRTC gave no PTX or no machine code for this architecture";
    return response;
  }
  response.status = WorkerResponse::Status::compiled;
  return response;
}

}  // namespace regraph::compile_internal
