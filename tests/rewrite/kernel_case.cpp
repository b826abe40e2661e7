#include "rewrite/kernel_case.h"

#include "base/files.h"
#include "eval/compile/same_code.h"
#include "kernel/manifest.h"
#include "source/clang_frontend.h"
#include "source/printer.h"
#include "support/cuda.h"

#include <algorithm>
#include <filesystem>

namespace regraph::test {
namespace {

// Beside the test where both were carried to another machine.
std::filesystem::path compile_worker() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto carried = program.parent_path() / "regraph-compile-worker";
  if (!error && std::filesystem::exists(carried, error)) return carried;
  return REGRAPH_COMPILE_WORKER;
}

}  // namespace

Result<std::unique_ptr<KernelCase>> KernelCase::make(const std::string& source,
                                                     const std::string& manifest_text,
                                                     const DeviceLimits& limits) {
  auto toolkit = find_cuda_toolkit();
  if (!toolkit) return toolkit.error();
  auto front_end = source::default_front_end(toolkit->root, limits.architecture);
  if (!front_end) return front_end.error();
  auto manifest = parse_manifest(manifest_text, "test.regraph.yaml");
  if (!manifest) return manifest.error();
  auto parsed = source::parse_kernel(source, "test.cu", manifest->kernel.value_or(""), *front_end);
  if (!parsed) return parsed.error();
  if (!parsed->unit) return fail(ErrorCode::unsupported, parsed->opaque_reason);
  auto problem = make_problem(*manifest, parsed->signature, "test.cu", source);
  if (!problem) return problem.error();
  std::unique_ptr<KernelCase> result(new KernelCase);
  result->problem_ = std::move(*problem);
  result->limits_ = limits;
  result->original_ = {std::move(*parsed->unit), result->problem_.launch, {}};
  CompilerConfiguration configuration;
  configuration.toolkit = *toolkit;
  configuration.worker = compile_worker();
  result->compiler_ = std::make_unique<Compiler>(std::move(configuration));
  auto compiled = result->compile(source);
  if (!compiled) return compiled.error();
  result->verifier_ = std::make_unique<Verifier>(result->problem_, std::move(*compiled));
  const Cancellation never;
  if (auto checked = result->verifier_->check_original(1, never); !checked) return checked.error();
  return result;
}

Result<std::unique_ptr<KernelCase>> KernelCase::example(const std::string& name) {
  const std::string base = std::string(REGRAPH_SOURCE_DIR) + "/examples/" + name + "/" + name;
  auto source = read_file(base + ".cu", 1 << 20);
  if (!source) return source.error();
  auto manifest = read_file(base + ".regraph.yaml", 1 << 20);
  if (!manifest) return manifest.error();
  return make(*source, *manifest);
}

Result<rewrite::KernelState> KernelCase::apply(const rewrite::KernelState& state,
                                               const std::string& step,
                                               const StepParameters& parameters) const {
  const rewrite::StepRewriter* rewriter = rewrite::find_built_in_step(step);
  if (rewriter == nullptr) return fail(ErrorCode::not_found, "no step " + step);
  return views(state).apply(*rewriter, parameters);
}

Result<CompiledKernel> KernelCase::compile(const std::string& source) const {
  const Cancellation never;
  CompileRequest request;
  request.source = source;
  request.kernel = problem_.signature.name;
  request.architecture = limits_.architecture;
  return compiler_->compile(request, never);
}

VerificationResult KernelCase::verify(const rewrite::KernelState& state) const {
  auto compiled = compile(source::print(state.unit));
  if (!compiled) {
    VerificationResult result;
    result.verdict = Verdict::compile_error;
    result.message = compiled.error().message;
    return result;
  }
  const Cancellation never;
  return verifier_->verify(*compiled, state.plan, 1, never);
}

std::string KernelCase::verdict(const rewrite::KernelState& state) const {
  const VerificationResult result = verify(state);
  if (result.correct()) return "correct";
  return std::string(name(result.verdict)) + ": " + result.message + "\n" +
         source::print(state.unit) + "\n" + state.plan.text();
}

bool KernelCase::round_trips() const {
  auto before = compile(problem_.source);
  auto after = compile(source::print(original_.unit));
  return before.ok() && after.ok() && same_code(before->ptx, after->ptx);
}

}  // namespace regraph::test
