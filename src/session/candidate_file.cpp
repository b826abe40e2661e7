#include "session/candidate_file.h"

#include "kernel/launch_change.h"
#include "session/opened_problem.h"
#include "session/problem_source.h"
#include "session/session.h"

#include <fmt/format.h>

#include <utility>

namespace regraph {

namespace {

SessionError unusable(const std::string& name, const std::string& why) {
  return {FailureCause::unusable_kernel, fmt::format("{}: {}", name, why)};
}

// The original's plan with the launch of its one kernel replaced.
Result<LaunchPlan, SessionError> plan_with(const Session& session, const std::string& name,
                                           const LaunchChange& change) {
  const Problem& problem = session.problem();
  if (Status possible = check_launch_change(change, problem); !possible)
    return unusable(name, possible.error().message);
  return changed_plan(problem.launch, problem.signature.name, change);
}

// The launches that the manifest beside a candidate tells, instead of the original's. What is
// passed is what the original passes to the same kernel, where the manifest does not say.
Result<LaunchPlan, SessionError> plan_of(const Session& session, const std::string& name,
                                         const std::vector<ManifestLaunch>& launches) {
  const Problem& problem = session.problem();
  if (problem.launch.launches.size() < 2)
    return unusable(name, "it is launched several times, the original once");
  LaunchPlan plan;
  for (const ManifestLaunch& entry : launches) {
    Launch launch = entry.launch;
    const LaunchChange change{launch.block, launch.grid, launch.dynamic_shared_bytes};
    if (Status possible = check_launch_change(change, problem); !possible)
      return unusable(name, possible.error().message);
    if (launch.arguments.empty()) {
      const Launch* const own = problem.launch.launch_of(launch.kernel);
      if (own == nullptr) {
        return unusable(name, fmt::format("the launch of '{}' needs args: the original does not "
                                          "launch it",
                                          launch.kernel));
      }
      launch.arguments = own->arguments;
    }
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

Result<Candidate, SessionError> candidate_of(const Session& session, const std::string& name,
                                             const std::string& source, const LaunchPlan& plan,
                                             const Cancellation& cancellation) {
  auto candidate = session.read_candidate(source, plan, {}, cancellation);
  if (!candidate) return unusable(name, candidate.error().message);
  return std::move(*candidate);
}

}  // namespace

Result<Candidate, SessionError> read_candidate_file(const Session& session,
                                                    const CandidateFileOptions& options,
                                                    const Cancellation& cancellation) {
  const Problem& problem = session.problem();
  ProblemOptions wanted;
  wanted.kernel_file = options.file;
  wanted.kernel = problem.signature.name;
  wanted.include_directories = options.include_directories;
  wanted.defines = options.defines;
  wanted.block = options.block;
  auto source = read_problem_source(wanted);
  if (!source) return std::move(source).error();
  if (source->is_triton != session.opened().triton.has_value())
    return unusable(options.file, "the original is in another language");
  if (source->is_triton)
    return candidate_of(session, options.file, source->file_text, problem.launch, cancellation);
  const Manifest& manifest = source->manifest;
  LaunchPlan plan = problem.launch;
  if (!manifest.launches.empty()) {
    auto several = plan_of(session, options.file, manifest.launches);
    if (!several) return std::move(several).error();
    plan = std::move(*several);
  } else if (manifest.launch || source->block) {
    const Launch* const own = problem.launch.launch_of(problem.signature.name);
    if (own == nullptr) return unusable(options.file, "the original's launch is not known");
    LaunchChange change{own->block, own->grid, own->dynamic_shared_bytes};
    if (manifest.launch) {
      change = {manifest.launch->block, manifest.launch->grid,
                manifest.launch->dynamic_shared_bytes};
    } else {
      change.block = *source->block;
    }
    auto changed = plan_with(session, options.file, change);
    if (!changed) return std::move(changed).error();
    plan = std::move(*changed);
  }
  return candidate_of(session, options.file, source->source, plan, cancellation);
}

Result<Candidate, SessionError> read_candidate_text(const Session& session, const std::string& name,
                                                    const std::string& source,
                                                    const std::string& launch,
                                                    const Cancellation& cancellation) {
  LaunchPlan plan = session.problem().launch;
  if (!launch.empty()) {
    const auto change = read_launch_change(launch);
    if (!change) return unusable(name, change.error().message);
    auto changed = plan_with(session, name, *change);
    if (!changed) return std::move(changed).error();
    plan = std::move(*changed);
  }
  return candidate_of(session, name, source, plan, cancellation);
}

}  // namespace regraph
