#include "eval/compile/worker_requests.h"

#include "eval/compile/stub_headers.h"
#include "triton/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace regraph::compile_internal {

namespace {

constexpr const char* kSourceName = "kernel.cu";

// "sm_90" -> "90", "sm_90a" -> "90a"; empty when it is not an architecture name.
std::string architecture_number(const std::string& architecture) {
  if (architecture.rfind("sm_", 0) != 0 || architecture.size() < 5 || architecture.size() > 7) {
    return {};
  }
  for (std::size_t i = 3; i < architecture.size(); ++i) {
    const char c = architecture[i];
    const bool last = i + 1 == architecture.size();
    if (!(c >= '0' && c <= '9') && !(last && (c == 'a' || c == 'f'))) return {};
  }
  return architecture.substr(3);
}

// What the compiler is asked for: instructions such as wgmma are in a target of their own,
// "sm_90a", which runs on the same devices; code that has none is made for all later ones, too.
std::string target_of(const CompileRequest& request) {
  const std::string number = architecture_number(request.architecture);
  const bool is_general = number.find_first_not_of("0123456789") == std::string::npos;
  const bool has_own = number.size() > 2 || number >= "90";
  constexpr const char* kOwnInstructions[] = {"wgmma.", "tcgen05.", "setmaxnreg."};
  const bool uses_own =
      std::any_of(std::begin(kOwnInstructions), std::end(kOwnInstructions),
                  [&](const char* name) { return request.source.find(name) != std::string::npos; });
  return request.architecture + (is_general && has_own && uses_own ? "a" : "");
}

Status check(const CompilerConfiguration& configuration, const CompileRequest& request) {
  if (request.source.size() > configuration.source_limit_bytes) {
    return fail(ErrorCode::resource,
                fmt::format("the source has {} bytes, the limit is {}", request.source.size(),
                            configuration.source_limit_bytes));
  }
  // The compiler would silently read up to the zero byte only.
  if (request.source.find('\0') != std::string::npos) {
    return fail(ErrorCode::compile, fmt::format("{}: the source holds a zero byte", kSourceName));
  }
  if (architecture_number(request.architecture).empty()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is not an architecture name such as sm_90", request.architecture));
  }
  return {};
}

void ask_nvrtc(WorkerRequest& worker, const CompileRequest& request) {
  worker.headers = stub_headers();
  worker.options = {
      "--gpu-architecture=" + (request.want_cubin
                                   ? target_of(request)
                                   : "compute_" + architecture_number(target_of(request))),
      "--std=c++20",
      "-default-device",
      "-lineinfo",
      // INFINITY and NAN, which libcu++ defines over the prelude.
      "--diag-suppress=47",
      fmt::format("--pre-include={}", kPreludeName),
  };
  if (request.want_cubin) worker.options.emplace_back("--ptxas-options=-v");
  for (const std::string& directory : worker.include_directories)
    worker.options.push_back("--include-path=" + directory);
}

// nvcc has nothing like -default-device: what lacks __device__ is host code. Against that, the
// constexpr functions of the host's library may be used, as NVRTC's user may those of the stubs.
void ask_nvcc(WorkerRequest& worker, const CompileRequest& request, const CudaToolkit& toolkit) {
  worker.headers = nvcc_headers();
  worker.options = {
      "--gpu-architecture=" + target_of(request),
      "--std=c++20",
      "-lineinfo",
      "--expt-relaxed-constexpr",
      "--extended-lambda",
      "-Wno-deprecated-gpu-targets",
      "--include-path=.",
      fmt::format("--pre-include={}", kPreludeName),
  };
  worker.tools.program = toolkit.nvcc.string();
  worker.tools.assembler = (toolkit.root / "bin" / "ptxas").string();
  worker.tools.assembler_options = {"--gpu-name=" + target_of(request), "--verbose",
                                    "--generate-line-info"};
  for (const char* part : {"bin", "include", "lib", "lib64", "nvvm", "targets"})
    worker.tools.runnable_directories.push_back((toolkit.root / part).string());
  // The host's preprocessor, its headers and what it loads.
  for (const char* folder : {"/bin", "/lib", "/lib64", "/usr/bin", "/usr/include", "/usr/lib",
                             "/usr/lib64", "/usr/libexec/gcc"}) {
    worker.tools.runnable_directories.emplace_back(folder);
  }
}

// Folders that a Python program with its packages is read from.
std::vector<std::string> python_folders(const TritonToolkit& triton) {
  std::vector<std::string> folders = {"/bin",     "/lib",       "/lib64",        "/usr/bin",
                                      "/usr/lib", "/usr/lib64", "/usr/local/lib"};
  for (const std::filesystem::path& folder : triton.folders)
    folders.push_back(folder.string());
  folders.push_back(triton.script.parent_path().string());
  return folders;
}

Status ask_triton(WorkerRequest& worker, const CompilerConfiguration& configuration,
                  const CompileRequest& request) {
  auto text = triton::parse_kernel_text(request.source);
  if (!text) return fail(ErrorCode::compile, text.error().message);
  for (const std::string& option : request.options) {
    if (option != kNoContraction)
      return fail(ErrorCode::unsupported, "Triton has no option '" + option + "'");
    text->contracts = false;
  }
  if (!request.kernel.empty() && request.kernel != text->kernel) {
    return fail(ErrorCode::compile, fmt::format("the text is of kernel '{}', not of '{}'",
                                                text->kernel, request.kernel));
  }
  worker.include_directories.clear();
  worker.file_name = "kernel.py";
  worker.source = text->module;
  worker.kernel = text->kernel;
  worker.options = {text->job(request.architecture)};
  worker.tools.program = configuration.triton.python.string();
  worker.tools.script = configuration.triton.script.string();
  worker.tools.assembler = (configuration.toolkit.root / "bin" / "ptxas").string();
  // Triton makes code for the very architecture from sm_90 on.
  const std::string number = architecture_number(request.architecture);
  const bool own = number.find_first_not_of("0123456789") == std::string::npos &&
                   (number.size() > 2 || number >= "90");
  worker.tools.assembler_options = {"--gpu-name=" + request.architecture + (own ? "a" : ""),
                                    "--verbose", "--generate-line-info"};
  worker.tools.runnable_directories = python_folders(configuration.triton);
  worker.tools.runnable_directories.push_back((configuration.toolkit.root / "bin").string());
  return {};
}

}  // namespace

Result<WorkerRequest> make_worker_request(const CompilerConfiguration& configuration,
                                          const CompileRequest& request) {
  if (Status status = check(configuration, request); !status.ok()) return status.error();
  WorkerRequest worker;
  worker.nvrtc_library = configuration.toolkit.nvrtc_library.string();
  const std::filesystem::path& include = configuration.toolkit.include;
  worker.include_directories = {include.string(), (include / "cccl").string()};
  worker.file_name = kSourceName;
  worker.source = request.source;
  worker.kernel = request.kernel;
  worker.want_cubin = request.want_cubin;
  if (configuration.program == CudaCompiler::triton) {
    if (Status status = ask_triton(worker, configuration, request); !status.ok())
      return status.error();
    return worker;
  }
  if (configuration.program == CudaCompiler::nvcc) {
    ask_nvcc(worker, request, configuration.toolkit);
  } else {
    ask_nvrtc(worker, request);
  }
  worker.options.insert(worker.options.end(), request.options.begin(), request.options.end());
  return worker;
}

std::vector<std::filesystem::path> nvcc_programs(const CudaToolkit& toolkit) {
  return {toolkit.nvcc, toolkit.root / "nvvm" / "bin" / "cicc", toolkit.root / "bin" / "ptxas",
          "/usr/bin/gcc"};
}

}  // namespace regraph::compile_internal
