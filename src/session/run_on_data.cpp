#include "session/run_on_data.h"

#include "base/files.h"
#include "eval/verify/fault_verdict.h"
#include "eval/verify/inputs.h"
#include "eval/verify/kernel_run.h"
#include "kernel/input_files.h"
#include "kernel/npy_header.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

namespace regraph {
namespace {

// The harness's own limit for an original (docs/evaluation.md).
constexpr std::uint64_t kMostWarpInstructions = std::uint64_t{1} << 34;

// The problem with the folder's files as contents of its inputs, at that size alone.
Result<Problem, SessionError> with_files(const Problem& problem, const Symbols& symbols,
                                         const std::filesystem::path& folder) {
  Problem result = problem;
  result.bench = {symbols};
  result.tests = {symbols};
  for (Argument& argument : result.arguments) {
    const std::filesystem::path file = folder / (argument.name + ".npy");
    if (!argument.is_input() || !std::filesystem::exists(file)) continue;
    argument.init.kind = BufferInit::Kind::file;
    argument.init.content.file = std::filesystem::absolute(file).string();
    argument.init.hash.clear();
  }
  if (Status loaded = load_input_files(result, folder); !loaded) {
    return usage(loaded.error().message);
  }
  return result;
}

Result<verify::Buffers, SessionError> inputs_of(const Problem& problem, const Symbols& symbols,
                                                std::uint64_t seed) {
  verify::Buffers inputs(problem.arguments.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_input()) continue;
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count) return usage(count.error().message);
    inputs[i].resize(static_cast<std::size_t>(*count) * size_in_bytes(argument.type));
    verify::fill_input(problem, argument, symbols, verify::Distribution::manifest, seed, i,
                       inputs[i]);
  }
  return inputs;
}

Result<std::string, SessionError> write_output(const Argument& argument, const Symbols& symbols,
                                               const std::vector<std::byte>& content,
                                               const std::filesystem::path& folder) {
  std::vector<std::int64_t> shape;
  for (const IntegerExpression& extent : argument.shape) {
    const Result<std::int64_t> value = extent.evaluate(symbols);
    if (!value) return usage(value.error().message);
    shape.push_back(*value);
  }
  if (argument.components > 1) shape.push_back(argument.components);
  std::string text = npy_header_text(argument.type, shape);
  const std::size_t head = text.size();
  text.resize(head + content.size());
  std::memcpy(text.data() + head, content.data(), content.size());
  const std::filesystem::path file = folder / (argument.name + ".out.npy");
  if (Status written = write_file(file, text); !written) return usage(written.error().message);
  return file.string();
}

}  // namespace

Result<std::vector<std::string>, SessionError> run_on_data(const OpenedProblem& opened,
                                                           const std::filesystem::path& folder,
                                                           std::uint64_t seed,
                                                           const Cancellation& cancellation) {
  const Symbols& symbols =
      opened.problem.bench.empty() ? opened.problem.sizes : opened.problem.bench.front();
  const auto problem = with_files(opened.problem, symbols, folder);
  if (!problem) return problem.error();
  const auto inputs = inputs_of(*problem, symbols, seed);
  if (!inputs) return inputs.error();
  const verify::LoadedPlan* const plan = opened.verifier->original();
  if (plan == nullptr)
    return SessionError{FailureCause::unusable_kernel, "the interpreter cannot load the kernel"};
  verify::RunSettings settings;
  settings.poison_seed = seed;
  settings.instruction_budget = kMostWarpInstructions;
  const auto run = verify::run_kernel(*problem, *plan, symbols, *inputs, settings, cancellation);
  if (!run) return session_error(run.error());
  if (run->fault.kind == ptx::FaultKind::cancelled)
    return SessionError{FailureCause::interrupted, "interrupted"};
  if (run->fault.kind != ptx::FaultKind::none) {
    return SessionError{FailureCause::unusable_kernel,
                        fmt::format("{}: {}", folder.string(), verify::describe_fault(run->fault))};
  }
  std::vector<std::string> written;
  for (std::size_t i = 0; i < problem->arguments.size(); ++i) {
    if (!problem->arguments[i].is_output()) continue;
    auto file = write_output(problem->arguments[i], symbols, run->after[i], folder);
    if (!file) return file.error();
    written.push_back(*std::move(file));
  }
  return written;
}

}  // namespace regraph
