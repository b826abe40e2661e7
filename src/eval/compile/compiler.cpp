#include "eval/compile/compiler.h"

#include "base/child_process.h"
#include "eval/compile/compile_cache.h"
#include "eval/compile/compiler_log.h"
#include "eval/compile/cubin.h"
#include "eval/compile/ptxas_report.h"
#include "eval/compile/stub_headers.h"
#include "eval/compile/worker_protocol.h"

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

constexpr const char* kSourceName = "kernel.cu";
constexpr std::size_t kLargestResult = std::size_t{256} << 20;
constexpr std::uint64_t kOpenFiles = 256;  // deep include chains hold many files open

// Tells NVRTC builds apart without loading them: the head of the library file holds its build id.
std::string fingerprint(const std::filesystem::path& library) {
  constexpr std::streamsize kHead = 64 << 10;
  std::error_code code;
  std::string text = std::to_string(std::filesystem::file_size(library, code));
  std::ifstream file(library, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text + head;
}

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

Result<WorkerRequest> make_worker_request(const CompilerConfiguration& configuration,
                                          const CompileRequest& request) {
  if (request.source.size() > configuration.source_limit_bytes) {
    return fail(ErrorCode::resource,
                fmt::format("the source has {} bytes, the limit is {}", request.source.size(),
                            configuration.source_limit_bytes));
  }
  // The compiler would silently read up to the zero byte only.
  if (request.source.find('\0') != std::string::npos) {
    return fail(ErrorCode::compile, fmt::format("{}: the source holds a zero byte", kSourceName));
  }
  const std::string number = architecture_number(request.architecture);
  if (number.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is not an architecture name such as sm_90", request.architecture));
  }
  WorkerRequest worker;
  worker.nvrtc_library = configuration.toolkit.nvrtc_library.string();
  const std::filesystem::path& include = configuration.toolkit.include;
  worker.include_directories = {include.string(), (include / "cccl").string()};
  worker.headers = stub_headers();
  worker.file_name = kSourceName;
  worker.source = request.source;
  worker.kernel = request.kernel;
  worker.want_cubin = request.want_cubin;
  worker.options = {
      "--gpu-architecture=" + (request.want_cubin ? request.architecture : "compute_" + number),
      "--std=c++20",
      "-default-device",
      "-lineinfo",
      // INFINITY and NAN, which libcu++ defines over the prelude.
      "--diag-suppress=47",
      fmt::format("--pre-include={}", kPreludeName),
  };
  if (request.want_cubin) worker.options.emplace_back("--ptxas-options=-v");
  for (const std::string& directory : worker.include_directories) {
    worker.options.push_back("--include-path=" + directory);
  }
  worker.options.insert(worker.options.end(), request.options.begin(), request.options.end());
  return worker;
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
Result<CacheEntry> interpret(WorkerResponse response, const CompileRequest& request) {
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
        nvrtc(fingerprint(configuration.toolkit.nvrtc_library)) {}

  const CompilerConfiguration configuration;
  const CompileCache cache;
  const std::string nvrtc;
  mutable std::mutex mutex;
  Statistics statistics;  // guarded by mutex
};

Compiler::Compiler(CompilerConfiguration configuration)
    : state_(std::make_unique<State>(std::move(configuration))) {}
Compiler::~Compiler() = default;

Result<CompiledKernel> Compiler::compile(const CompileRequest& request,
                                         const Cancellation& cancellation) {
  const CompilerConfiguration& configuration = state_->configuration;
  const Result<WorkerRequest> worker = make_worker_request(configuration, request);
  if (!worker.ok()) return worker.error();
  const std::string input = encode(*worker);

  const auto finish = [](CacheEntry entry) -> Result<CompiledKernel> {
    if (!entry.kernel) return fail(ErrorCode::compile, std::move(entry.refusal));
    return std::move(*entry.kernel);
  };
  const Hash128 key = Hasher().add(state_->nvrtc).add(input).finish();
  if (std::optional<CacheEntry> cached = state_->cache.find(key)) {
    const std::lock_guard lock(state_->mutex);
    ++state_->statistics.cache_hits;
    return finish(std::move(*cached));
  }

  ChildRequest child;
  child.program = configuration.worker;
  child.input = input;
  child.working_directory = "/";  // it enters the line table, which must not tell where this runs
  child.output_limit_bytes = kLargestResult;
  child.wall_seconds = configuration.wall_seconds;
  child.limits.address_space_bytes = configuration.memory_bytes;
  child.limits.cpu_seconds = static_cast<std::uint64_t>(std::ceil(configuration.wall_seconds)) + 1;
  child.limits.open_files = kOpenFiles;
  child.limits.file_bytes = 1;  // it has no business writing files
  const Result<ChildOutcome> outcome = run_child(child, cancellation);
  if (!outcome.ok()) {
    return Error{
        outcome.error().code == ErrorCode::not_found ? ErrorCode::io : outcome.error().code,
        "compile worker: " + outcome.error().message};
  }
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->statistics.compiled;
    state_->statistics.compile_seconds += outcome->wall_seconds;
  }
  std::optional<WorkerResponse> response;
  if (outcome->succeeded()) response = decode_response(outcome->output);
  if (!response) return unfinished(*outcome, configuration);
  Result<CacheEntry> entry = interpret(std::move(*response), request);
  if (!entry.ok()) return entry.error();
  state_->cache.store(key, *entry);
  return finish(std::move(*entry));
}

Compiler::Statistics Compiler::statistics() const {
  const std::lock_guard lock(state_->mutex);
  return state_->statistics;
}

}  // namespace regraph
