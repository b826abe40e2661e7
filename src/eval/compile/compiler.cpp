#include "eval/compile/compiler.h"

#include "base/child_process.h"
#include "eval/compile/compile_cache.h"
#include "eval/compile/compiler_log.h"
#include "eval/compile/cubin.h"
#include "eval/compile/nvcc_folder.h"
#include "eval/compile/ptxas_report.h"
#include "eval/compile/worker_protocol.h"
#include "eval/compile/worker_requests.h"
#include "triton/kernel_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <mutex>
#include <signal.h>
#include <string_view>
#include <utility>

namespace regraph {

namespace {

using namespace compile_internal;

constexpr std::size_t kLargestResult = std::size_t{256} << 20;
constexpr std::uint64_t kOpenFiles = 256;  // deep include chains hold many files open
constexpr double kPatienceWithNvcc = 2.0;

// Tells builds of a library or program apart without loading them: the file's head holds a build
// id.
std::string fingerprint(const std::filesystem::path& path) {
  constexpr std::streamsize kHead = 64 << 10;
  std::error_code code;
  std::string text = std::to_string(std::filesystem::file_size(path, code));
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text + head;
}

// Of all that makes a result what it is.
std::string fingerprint(const CompilerConfiguration& configuration) {
  if (configuration.program == CudaCompiler::nvrtc)
    return fingerprint(configuration.toolkit.nvrtc_library);
  std::string text;
  if (configuration.program == CudaCompiler::triton) {
    text = configuration.triton.version + fingerprint(configuration.triton.script) +
           fingerprint(configuration.triton.script.parent_path() / "module_rules.py");
  }
  for (const std::filesystem::path& program : nvcc_programs(configuration.toolkit))
    text += fingerprint(program);
  return text;
}

// Why a worker that did not answer ended; an answer is no error.
Error unfinished(const ChildOutcome& outcome, const CompilerConfiguration& configuration) {
  switch (outcome.end) {
    case ChildEnd::cancelled:
      return fail(ErrorCode::cancelled, "the compile was cancelled");
    case ChildEnd::timed_out:
      return fail(
          ErrorCode::resource,
          fmt::format("the CUDA compiler was stopped after {:.3g} s; the source makes it work "
                      "too long (huge unrolled loops, macros or arrays?)",
                      configuration.wall_seconds));
    case ChildEnd::output_limit:
      return fail(ErrorCode::resource, "the compiled code is larger than 256 MiB");
    case ChildEnd::signalled:
      if (outcome.signal == SIGXCPU || outcome.signal == SIGKILL) {
        return fail(
            ErrorCode::resource,
            "the CUDA compiler was stopped by its processor-time limit or for want of memory");
      }
      if (outcome.signal == SIGABRT) {
        return fail(
            ErrorCode::resource,
            fmt::format("the CUDA compiler gave up, most likely at its memory limit of {} MiB",
                        configuration.memory_bytes >> 20));
      }
      return fail(
          ErrorCode::resource,
          fmt::format("the CUDA compiler crashed on this source ({}); nesting that is too deep "
                      "does that",
                      ::sigdescr_np(outcome.signal) != nullptr ? ::sigdescr_np(outcome.signal)
                                                               : "unknown signal"));
    case ChildEnd::exited:
      break;
  }
  return fail(ErrorCode::io,
              fmt::format("the compile worker ended with code {} and no usable answer: {}",
                          outcome.exit_code, clean_log(outcome.error, false)));
}

// Turns the worker's answer into what is cached and returned.
Result<CacheEntry> interpret(WorkerResponse response, const CompileRequest& request,
                             CudaCompiler program) {
  CacheEntry entry;
  if (response.status == WorkerResponse::Status::failed) {
    return fail(ErrorCode::io,
                "the CUDA compiler could not run: " + clean_log(response.log, false));
  }
  if (response.status == WorkerResponse::Status::rejected) {
    entry.refusal = clean_log(response.log, true);
    return entry;
  }
  CompiledKernel kernel;
  kernel.ptx = std::move(response.ptx);
  kernel.entry = std::move(response.entry);
  kernel.cubin.resize(response.cubin.size());
  if (!response.cubin.empty()) {
    std::memcpy(kernel.cubin.data(), response.cubin.data(), response.cubin.size());
  }
  if (request.want_cubin) {
    const std::optional<ResourceUsage> usage = parse_ptxas_report(response.log, kernel.entry);
    const std::optional<Hash128> code = hash_machine_code(kernel.cubin, kernel.entry);
    if (!usage || !code) {
      return fail(ErrorCode::internal,
                  fmt::format("the machine code or ptxas' report for '{}' could not be read",
                              kernel.entry));
    }
    kernel.resources = *usage;
    kernel.machine_code = *code;
  }
  kernel.compiler = program;
  if (!response.sandbox.empty())
    kernel.log = "note: compiled without a sandbox: " + response.sandbox + "\n";
  kernel.log = clean_log(kernel.log + response.log, false);
  entry.kernel = std::move(kernel);
  return entry;
}

}  // namespace

struct Compiler::State {
  explicit State(CompilerConfiguration given)
      : configuration(std::move(given)),
        cache(configuration.cache_directory),
        program(fingerprint(configuration)) {}

  // Runs the worker; counts what it cost.
  Result<ChildOutcome> run_worker(const std::string& input, const Cancellation& cancellation);

  const CompilerConfiguration configuration;
  std::unique_ptr<Compiler> cuda;  // of one with Triton
  const CompileCache cache;
  const std::string program;
  std::mutex mutex;
  Statistics statistics;  // guarded by mutex
};

Result<ChildOutcome> Compiler::State::run_worker(const std::string& input,
                                                 const Cancellation& cancellation) {
  ChildRequest child;
  child.program = configuration.worker;
  child.input = input;
  child.working_directory = "/";  // it enters the line table, which must not tell where this runs
  child.output_limit_bytes = kLargestResult;
  child.wall_seconds = configuration.wall_seconds;
  child.limits.address_space_bytes = configuration.memory_bytes;
  child.limits.cpu_seconds = static_cast<std::uint64_t>(std::ceil(configuration.wall_seconds)) + 1;
  child.limits.open_files = kOpenFiles;
  // NVRTC has no business writing files.
  child.limits.file_bytes = configuration.program == CudaCompiler::nvrtc ? 1 : kLargestResult;
  Result<ChildOutcome> outcome = run_child(child, cancellation);
  if (!outcome.ok()) {
    return Error{
        outcome.error().code == ErrorCode::not_found ? ErrorCode::io : outcome.error().code,
        "compile worker: " + outcome.error().message};
  }
  const std::lock_guard lock(mutex);
  ++statistics.compiled;
  statistics.compile_seconds += outcome->wall_seconds;
  return outcome;
}

Compiler::Compiler(CompilerConfiguration configuration)
    : state_(std::make_unique<State>(std::move(configuration))) {}
Compiler::~Compiler() = default;

std::unique_ptr<Compiler> Compiler::with_nvcc() const {
  CompilerConfiguration configuration = state_->configuration;
  if (configuration.toolkit.nvcc.empty()) return nullptr;
  configuration.program = CudaCompiler::nvcc;
  configuration.wall_seconds *= kPatienceWithNvcc;
  return std::make_unique<Compiler>(std::move(configuration));
}

std::unique_ptr<Compiler> Compiler::with_triton(TritonToolkit triton) const {
  CompilerConfiguration configuration = state_->configuration;
  configuration.program = CudaCompiler::triton;
  configuration.triton = std::move(triton);
  configuration.wall_seconds *= kPatienceWithNvcc;
  configuration.memory_bytes *= 2;  // Triton's library alone maps half of what nvcc needs
  auto made = std::make_unique<Compiler>(std::move(configuration));
  made->state_->cuda = std::make_unique<Compiler>(state_->configuration);
  return made;
}

Result<CompiledKernel> Compiler::compile(const CompileRequest& request,
                                         const Cancellation& cancellation) {
  const CompilerConfiguration& configuration = state_->configuration;
  if (state_->cuda && !triton::has_header(request.source))
    return state_->cuda->compile(request, cancellation);
  Result<WorkerRequest> worker = make_worker_request(configuration, request);
  if (!worker.ok()) return worker.error();
  std::string input = encode(*worker);

  const auto finish = [](CacheEntry entry) -> Result<CompiledKernel> {
    if (!entry.kernel) return fail(ErrorCode::compile, std::move(entry.refusal));
    return std::move(*entry.kernel);
  };
  const Hash128 key = Hasher().add(state_->program).add(input).finish();
  if (std::optional<CacheEntry> cached = state_->cache.find(key)) {
    const std::lock_guard lock(state_->mutex);
    ++state_->statistics.cache_hits;
    return finish(std::move(*cached));
  }

  std::optional<NvccFolder> folder;  // no part of the key: it has another name each time
  if (configuration.program != CudaCompiler::nvrtc) {
    Result<NvccFolder> made = NvccFolder::make();
    if (!made.ok()) return made.error();
    folder.emplace(std::move(*made));
    worker->tools.folder = folder->path();
    input = encode(*worker);
  }
  const Result<ChildOutcome> outcome = state_->run_worker(input, cancellation);
  if (!outcome.ok()) return outcome.error();
  std::optional<WorkerResponse> response;
  if (outcome->succeeded()) response = decode_response(outcome->output);
  if (!response) return unfinished(*outcome, configuration);
  Result<CacheEntry> entry = interpret(std::move(*response), request, configuration.program);
  if (!entry.ok()) return entry.error();
  state_->cache.store(key, *entry);
  return finish(std::move(*entry));
}

Compiler::Statistics Compiler::statistics() const {
  const std::lock_guard lock(state_->mutex);
  return state_->statistics;
}

}  // namespace regraph
