#include "cli/resume.h"

#include "base/files.h"
#include "cli/exit_codes.h"
#include "kernel/manifest.h"
#include "regraph/regraph_yaml.h"

#include <filesystem>
#include <utility>

namespace regraph::cli {

namespace {

SetupFailure failure(const Error& error) {
  const bool system = error.code == ErrorCode::io || error.code == ErrorCode::internal;
  return {system ? kInternalError : kUsage, error.message};
}

// Names of restored files mean nothing to the user.
void name_as_before(std::string& text, const std::string& restored, const std::string& before) {
  for (std::size_t at = 0; (at = text.find(restored, at)) != std::string::npos;) {
    text.replace(at, restored.size(), before);
    at += before.size();
  }
}

}  // namespace

RunDescription describe_run(const SearchSetup& setup, const SearchConfig& config,
                            bool jobs_chosen) {
  RunDescription description;
  description.tool_version = REGRAPH_VERSION;
  description.kernel = setup.problem.signature.name;
  description.source_path = setup.problem.source_path;
  description.source = setup.problem.source;
  description.manifest = write_manifest(setup.problem, setup.problem.launch);
  description.graph = regraph_text(setup.graph);
  description.notes = setup.problem.notes;
  description.config = config;
  description.jobs_chosen = jobs_chosen;
  return description;
}

std::variant<std::unique_ptr<RunDatabase>, SetupFailure> open_run(const std::string& directory) {
  auto opened = RunDatabase::open(directory);
  if (!opened && opened.error().code == ErrorCode::parse) {
    return explain(opened.error(), directory);
  }
  if (!opened) return failure(opened.error());
  return std::move(*opened);
}

std::variant<std::unique_ptr<SearchSetup>, SetupFailure> set_up_again(
    const RunDescription& description, const std::string& program,
    const Cancellation& cancellation) {
  auto inputs = TemporaryDirectory::create("regraph-resume-");
  if (!inputs) return failure(inputs.error());
  const std::filesystem::path& folder = inputs->path();
  std::filesystem::path name = std::filesystem::path(description.source_path).filename();
  if (name.empty()) name = "kernel.cu";
  const std::pair<std::filesystem::path, const std::string*> files[] = {
      {name, &description.source},
      {"regraph-run.manifest", &description.manifest},
      {"regraph-run.graph", &description.graph},
      {"regraph-run.device.yaml", &description.config.device_table}};
  for (const auto& [file, content] : files) {
    if (Status written = write_file(folder / file, *content); !written) {
      return failure(written.error());
    }
  }
  SearchOptions options;
  options.kernel_file = (folder / name).string();
  options.manifest = (folder / "regraph-run.manifest").string();
  options.graph = (folder / "regraph-run.graph").string();
  options.device = description.config.device_table.empty()
                       ? description.config.device
                       : (folder / "regraph-run.device.yaml").string();
  options.evaluator = description.config.evaluator;
  options.seed = description.config.seed;
  options.evaluation_seconds = description.config.evaluation_wall_seconds;
  auto setup = set_up_search(options, program, cancellation);
  if (auto* failed = std::get_if<SetupFailure>(&setup)) {
    name_as_before(failed->message, options.kernel_file, description.source_path);
    return *failed;
  }
  SearchSetup& ready = *std::get<std::unique_ptr<SearchSetup>>(setup);
  ready.problem.source_path = description.source_path;
  ready.problem.notes = description.notes;
  for (std::string* text : {&ready.opaque_reason}) {
    name_as_before(*text, options.kernel_file, description.source_path);
  }
  for (std::string& warning : ready.warnings)
    name_as_before(warning, options.kernel_file, description.source_path);
  return setup;
}

SetupFailure explain(const Error& error, const std::string& directory) {
  switch (error.code) {
    case ErrorCode::cancelled:
      return {kInterrupted, "interrupted"};
    case ErrorCode::internal:
      return {kInternalError, error.message};
    case ErrorCode::io:
      return {kInternalError, error.message +
                                  "; what was recorded until then is kept: once the cause is "
                                  "removed, continue with --resume " +
                                  directory};
    case ErrorCode::parse:
      return {kUsage, error.message + "; the run in '" + directory +
                          "' cannot be continued: start it again with another --output"};
    default:
      return {kUnusableKernel, error.message};
  }
}

}  // namespace regraph::cli
