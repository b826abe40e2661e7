#include "source/clang_frontend.h"

#include "base/large_stack.h"
#include "kernel/pytorch_headers.h"
#include "source/clang_convert.h"
#include "source/clang_parse.h"
#include "source/clang_signature.h"
#include "source/missing_operand.h"
#include "source/nesting.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/Cuda.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace regraph::source {
namespace {

// Clang 19's CUDA wrapper includes headers that need not be there: CUDA 13 no longer ships the one,
// and a toolkit without cuRAND, such as NVIDIA's wheels, lacks the other. Empty ones will do.
constexpr const char* kStubDirectory = "/regraph-stubs";
constexpr const char* kRemovedHeader = "/regraph-stubs/texture_fetch_functions.h";
constexpr const char* kCurandHeader = "curand_mtgp32_kernel.h";
// What CUDA's headers declare for its own compilers alone.
constexpr const char* kDeviceFunctionsHeader = "/regraph-stubs/regraph_device_functions.h";
constexpr const char* kDeviceFunctions = R"(#pragma once
#include <cuda.h>
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDA_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDA_VERSION % 1000 / 10)
#endif
#define REGRAPH_LOAD(NAME) template <typename T> __device__ T NAME(const T* place) { return *place; }
REGRAPH_LOAD(__ldcs)
REGRAPH_LOAD(__ldcg)
REGRAPH_LOAD(__ldca)
REGRAPH_LOAD(__ldlu)
REGRAPH_LOAD(__ldcv)
#undef REGRAPH_LOAD
#define REGRAPH_STORE(NAME) \
  template <typename T> __device__ void NAME(T* place, T value) { *place = value; }
REGRAPH_STORE(__stcs)
REGRAPH_STORE(__stcg)
REGRAPH_STORE(__stwb)
REGRAPH_STORE(__stwt)
#undef REGRAPH_STORE
)";

// libcu++'s barrier as far as signatures go. Clang refuses the library's own in shared memory,
// since its constructor is not empty.
constexpr const char* kBarrierHeader = "/regraph-stubs/cuda/barrier";
constexpr const char* kBarriers = R"(#pragma once
#include <cuda/atomic>
#include <cstddef>
namespace cuda {
struct no_completion {
  __device__ void operator()() const {}
};
template <thread_scope Scope, typename Completion = no_completion>
class barrier {
 public:
  using arrival_token = unsigned long long;
  barrier() = default;
  barrier(const barrier&) = delete;
  [[nodiscard]] __device__ arrival_token arrive(std::ptrdiff_t count = 1);
  __device__ void wait(arrival_token&& token) const;
  __device__ void wait_parity(bool parity) const;
  __device__ void arrive_and_wait();
  __device__ void arrive_and_drop();

 private:
  unsigned long long state_;
};
template <thread_scope Scope>
__device__ void init(barrier<Scope>* barrier, std::ptrdiff_t expected);
template <size_t Alignment>
struct aligned_size_t {
  size_t value;
  __device__ explicit aligned_size_t(size_t bytes) : value(bytes) {}
  __device__ operator size_t() const { return value; }
};
template <typename T, typename Size, thread_scope Scope>
__device__ void memcpy_async(T* to, const T* from, Size bytes, barrier<Scope>& barrier);
template <typename Group, typename T, typename Size, thread_scope Scope>
__device__ void memcpy_async(const Group& group, T* to, const T* from, Size bytes,
                             barrier<Scope>& barrier);
namespace device {
template <thread_scope Scope>
__device__ unsigned long long* barrier_native_handle(barrier<Scope>& barrier);
template <thread_scope Scope>
[[nodiscard]] __device__ unsigned long long barrier_arrive_tx(barrier<Scope>& barrier,
                                                              std::ptrdiff_t count,
                                                              std::ptrdiff_t bytes);
}  // namespace device
}  // namespace cuda
)";

// Keeps the first error as "file:line: message".
class FirstError final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    ++errors_;
    if (!message_.empty()) return;
    llvm::SmallString<256> text;
    diagnostic.FormatDiagnostic(text);
    if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
      const auto place = diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation());
      if (place.isValid()) {
        message_ = std::string(place.getFilename()) + ":" + std::to_string(place.getLine()) + ": ";
      }
    }
    message_ += text.str().str();
  }
  [[nodiscard]] int errors() const { return errors_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  int errors_ = 0;
  std::string message_;
};

void collect_kernels(const clang::DeclContext& scope, const clang::SourceManager& sources,
                     std::vector<const clang::FunctionDecl*>& kernels,
                     std::vector<std::string>& templates) {
  for (const clang::Decl* declaration : scope.decls()) {
    if (!sources.isWrittenInMainFile(sources.getExpansionLoc(declaration->getLocation())) &&
        !clang::isa<clang::LinkageSpecDecl>(declaration)) {
      continue;
    }
    if (const auto* pattern = clang::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      if (pattern->getTemplatedDecl()->hasAttr<clang::CUDAGlobalAttr>()) {
        templates.push_back(pattern->getNameAsString());
      }
      continue;
    }
    if (const auto* function = clang::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (function->hasAttr<clang::CUDAGlobalAttr>() && function->isThisDeclarationADefinition()) {
        kernels.push_back(function);
      }
      continue;
    }
    if (const auto* inner = clang::dyn_cast<clang::DeclContext>(declaration);
        inner != nullptr && (clang::isa<clang::NamespaceDecl>(declaration) ||
                             clang::isa<clang::LinkageSpecDecl>(declaration))) {
      collect_kernels(*inner, sources, kernels, templates);
    }
  }
}

Result<const clang::FunctionDecl*> choose(const std::vector<const clang::FunctionDecl*>& kernels,
                                          const std::vector<std::string>& templates,
                                          const std::string& wanted, const std::string& file_name) {
  std::string names;
  for (const clang::FunctionDecl* kernel : kernels) {
    names += (names.empty() ? "" : ", ") + kernel->getNameAsString();
    if (kernel->getNameAsString() == wanted || kernel->getQualifiedNameAsString() == wanted)
      return kernel;
  }
  if (std::find(templates.begin(), templates.end(), wanted) != templates.end() ||
      (kernels.empty() && !templates.empty())) {
    return fail(ErrorCode::unsupported,
                file_name + ": kernel '" + (wanted.empty() ? templates.front() : wanted) +
                    "' is a template; write an instance of it as a plain __global__ function");
  }
  if (kernels.empty()) {
    return fail(ErrorCode::not_found, file_name + ": no __global__ function in this file");
  }
  if (!wanted.empty()) {
    return fail(ErrorCode::not_found,
                file_name + ": no kernel '" + wanted + "'; the file defines: " + names);
  }
  if (kernels.size() > 1) {
    return fail(ErrorCode::not_found, file_name + ": several kernels (" + names +
                                          "); name one with 'kernel:' in the manifest");
  }
  return kernels.front();
}

// Byte offsets of the definition in the file, with the specifiers in front of it.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Extent extent_of(const clang::FunctionDecl& function, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  auto offset = [&](clang::SourceLocation location) {
    return static_cast<std::size_t>(sources.getFileOffset(sources.getExpansionLoc(location)));
  };
  std::size_t begin = offset(function.getBeginLoc());
  for (const clang::Attr* attribute : function.attrs()) {
    if (!attribute->isImplicit() && attribute->getLocation().isValid()) {
      begin = std::min(begin, offset(attribute->getLocation()));
    }
  }
  const auto* linkage = clang::dyn_cast<clang::LinkageSpecDecl>(function.getLexicalDeclContext());
  if (linkage != nullptr && !linkage->hasBraces())
    begin = std::min(begin, offset(linkage->getBeginLoc()));
  const clang::SourceLocation last = clang::Lexer::getLocForEndOfToken(
      sources.getExpansionRange(function.getSourceRange()).getEnd(), 0, sources,
      context.getLangOpts());
  return {begin, offset(last)};
}

// The flags that make Clang see the code as for the architecture. One that this Clang is too old
// for is parsed as the newest it knows, with the macro that the code asks.
std::vector<std::string> architecture_arguments(const std::string& architecture) {
  constexpr const char* kNewestKnown = "sm_90";
  if (clang::StringToOffloadArch(architecture) != clang::OffloadArch::UNKNOWN)
    return {"--cuda-gpu-arch=" + architecture};
  std::string digits;
  for (const char character : architecture) {
    if (character >= '0' && character <= '9') digits += character;
  }
  std::vector<std::string> arguments = {std::string("--cuda-gpu-arch=") + kNewestKnown};
  if (!digits.empty()) {
    arguments.push_back("-U__CUDA_ARCH__");
    arguments.push_back("-D__CUDA_ARCH__=" + digits + "0");
  }
  return arguments;
}

std::vector<std::string> arguments_for(const FrontEndConfiguration& configuration) {
  std::vector<std::string> arguments = {
      "-x", "cuda", "--cuda-device-only", "--no-cuda-version-check", "-Wno-unknown-cuda-version",
      "--cuda-path=" + configuration.cuda_root.string(), "-nocudalib", "-std=c++20",
      "-fsyntax-only",
      // Of a toolkit that is newer than Clang it does not read the version, and takes it for one so
      // old that thrust's own launches do not parse.
      "-Xclang", "-target-sdk-version=12.3", "-w",
      "-resource-dir=" + configuration.clang_resources.string(), std::string("-I") + kStubDirectory,
      "-include", kDeviceFunctionsHeader,
      "-I" + (configuration.cuda_root / "include" / "cccl").string()};
  const std::vector<std::string> architecture = architecture_arguments(configuration.architecture);
  arguments.insert(arguments.end(), architecture.begin(), architecture.end());
  return arguments;
}

std::vector<std::pair<std::string, std::string>> stubs_for(
    const std::string& source, const FrontEndConfiguration& configuration) {
  std::vector<std::pair<std::string, std::string>> stubs = {
      {kRemovedHeader, ""}, {kDeviceFunctionsHeader, kDeviceFunctions}};
  for (const auto& [name, text] : pytorch_headers())
    stubs.emplace_back(std::string(kStubDirectory) + "/" + name, text);
  // Pipelines are made of the library's own barriers.
  if (source.find("pipeline") == std::string::npos) stubs.emplace_back(kBarrierHeader, kBarriers);
  std::error_code ignored;
  const std::filesystem::path curand = configuration.cuda_root / "include" / kCurandHeader;
  if (!std::filesystem::exists(curand, ignored))
    stubs.emplace_back(std::string(kStubDirectory) + "/" + kCurandHeader, "");
  return stubs;
}

// Where headers come from. The toolkit's own may lie elsewhere, behind a link.
std::vector<std::filesystem::path> folders_for(const FrontEndConfiguration& configuration) {
  return {"/usr/include",
          "/usr/local/include",
          "/usr/lib/gcc",
          configuration.clang_resources,
          configuration.cuda_root,
          configuration.cuda_root / "include",
          configuration.cuda_root / "include" / "cccl"};
}

// Where Clang's own headers are: as the user says, beside a program that was carried here, or where
// Debian puts them.
std::filesystem::path clang_resources() {
  if (const char* said = std::getenv("REGRAPH_CLANG_RESOURCES")) return said;
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto carried = program.parent_path().parent_path() / "lib" / "clang" / "19";
  if (std::filesystem::exists(carried / "include", ignored)) return carried;
  return REGRAPH_CLANG_RESOURCES;
}

}  // namespace

Result<FrontEndConfiguration> default_front_end(const std::filesystem::path& cuda_root,
                                                const std::string& architecture) {
  FrontEndConfiguration configuration;
  configuration.architecture = architecture;
  configuration.cuda_root = cuda_root;
  configuration.clang_resources = clang_resources();
  const auto wrapper = configuration.clang_resources / "include" / "__clang_cuda_runtime_wrapper.h";
  std::error_code ignored;
  if (!std::filesystem::exists(wrapper, ignored)) {
    return fail(ErrorCode::not_found, "Clang's own headers are not in '" +
                                          configuration.clang_resources.string() +
                                          "'; install libclang-common-19-dev or set "
                                          "REGRAPH_CLANG_RESOURCES");
  }
  return configuration;
}

namespace {

// More than an ordinary thread's 8 MiB, which a sum of 20,000 terms uses up; touched pages alone
// cost memory.
constexpr std::size_t kStackBytes = std::size_t{1} << 30;

Result<ParsedKernel> parse_on_this_stack(const std::string& source, const std::string& file_name,
                                         const std::string& kernel,
                                         const FrontEndConfiguration& configuration) {
  FirstError diagnostics;
  const std::unique_ptr<clang::ASTUnit> ast =
      parse_with_clang({source, file_name, arguments_for(configuration), folders_for(configuration),
                        stubs_for(source, configuration)},
                       diagnostics);
  if (!ast) {
    return fail(ErrorCode::parse,
                file_name + ": the front end could not read the file: " + diagnostics.message());
  }
  clang::ASTContext& context = ast->getASTContext();
  std::vector<const clang::FunctionDecl*> kernels;
  std::vector<std::string> templates;
  collect_kernels(*context.getTranslationUnitDecl(), context.getSourceManager(), kernels,
                  templates);
  // The device compiler has accepted the file: what is wrong lies in how Clang was set up.
  if (kernels.empty() && templates.empty() && diagnostics.errors() > 0) {
    return fail(ErrorCode::parse,
                file_name + ": the front end could not read the file: " + diagnostics.message());
  }
  auto chosen = choose(kernels, templates, kernel, file_name);
  if (!chosen) return std::move(chosen).error();
  const clang::FunctionDecl& function = **chosen;

  ParsedKernel result;
  auto signature = signature_of(function, context, file_name);
  if (!signature) return std::move(signature).error();
  result.signature = std::move(*signature);
  if (Status status =
          collect_symbols(*context.getTranslationUnitDecl(), context, file_name, result.signature);
      !status) {
    return status.error();
  }
  if (diagnostics.errors() > 0) {
    result.opaque_reason = "the front end reports an error: " + diagnostics.message();
    return result;
  }
  auto converted = convert_kernel(function, context, configuration.takes_apart);
  if (!converted) {
    result.opaque_reason = converted.error().message;
    return result;
  }
  if (nesting_of(converted->body) > kMostNesting) {
    result.opaque_reason =
        fmt::format("its statements and expressions nest more than {} levels deep", kMostNesting);
    return result;
  }
  const Extent extent = extent_of(function, context);
  const std::string text(
      context.getSourceManager().getBufferData(context.getSourceManager().getMainFileID()));
  if (extent.begin >= extent.end || extent.end > text.size()) {
    result.opaque_reason =
        "the kernel's text could not be located in the file (is it made by a macro?)";
    return result;
  }
  Unit unit;
  unit.kernel = std::move(*converted);
  const auto* linkage = clang::dyn_cast<clang::LinkageSpecDecl>(function.getLexicalDeclContext());
  unit.kernel.is_static = function.getStorageClass() == clang::SC_Static;
  unit.kernel.extern_c = linkage != nullptr && !linkage->hasBraces();
  unit.before = text.substr(0, extent.begin);
  unit.after = text.substr(extent.end);
  if (auto opened = convert_opened(function, unit.kernel.body, context, unit.not_opened);
      opened && nesting_of(*opened) <= kMostNesting) {
    unit.opened =
        std::make_shared<const OpenedBody>(OpenedBody{unit.kernel.body, std::move(*opened)});
  }
  result.unit = std::move(unit);
  return result;
}

}  // namespace

Result<ParsedKernel> parse_kernel(const std::string& source, const std::string& file_name,
                                  const std::string& kernel,
                                  const FrontEndConfiguration& configuration) {
  Result<ParsedKernel> result = fail(ErrorCode::parse, file_name + ": not read");
  run_on_large_stack(kStackBytes, [&] {
    result = without_missing_operands(
        [&] { return parse_on_this_stack(source, file_name, kernel, configuration); });
  });
  return result;
}

}  // namespace regraph::source
