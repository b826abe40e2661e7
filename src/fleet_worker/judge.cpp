#include "fleet_worker/judge.h"

#include "fleet/problem_text.h"
#include "fleet_worker/judge_request.h"
#include "fleet_worker/open_problems.h"
#include "kernel/manifest.h"
#include "session/session.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

// All that a manifest has contents from.
std::vector<std::string> files_of(const Manifest& manifest) {
  std::vector<std::string> files;
  for (const ManifestCapture& capture : manifest.captured) {
    for (const auto& [name, content] : capture.contents)
      files.push_back(content.file);
  }
  for (const auto& [name, argument] : manifest.arguments) {
    if (argument.init && argument.init->kind == BufferInit::Kind::file)
      files.push_back(argument.init->content.file);
  }
  return files;
}

// Of the buffers that all launches have, at the largest of the problem's sizes.
std::uint64_t buffer_bytes(const Problem& problem) {
  std::uint64_t most = 0;
  for (const Symbols& symbols : problem.bench) {
    std::uint64_t bytes = 0;
    for (const Argument& argument : problem.arguments) {
      const auto count = argument.element_count(symbols);
      if (count) bytes += static_cast<std::uint64_t>(*count) * size_in_bytes(argument.type);
    }
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

struct Judge::State {
  State(Installation at, int most_threads, std::filesystem::path folder)
      : installation(std::move(at)), threads(most_threads), files(std::move(folder)) {}

  // Whoever may ask a fleet must not read its machines' files that way.
  [[nodiscard]] Status may_open(const RunDescription& description) const {
    const auto manifest = parse_manifest(description.manifest, "the problem's manifest");
    if (!manifest) return manifest.error();
    std::filesystem::path folder = files.lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // "files/"
    for (const std::string& name : files_of(*manifest)) {
      const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
      const auto [end, rest] = std::ranges::mismatch(folder, path);
      if (folder.empty() || end != folder.end())
        return fail(ErrorCode::permission, "a problem may not have data from " + name);
    }
    return {};
  }

  // The session of a problem, opened where it is not.
  Result<Session*> session_of(std::string_view text, const Cancellation& cancellation) {
    const Hash128 id = hash_text(text);
    if (Session* const found = open.find(id)) return found;
    auto description = read_problem_text(text);
    if (!description) return std::move(description).error();
    if (Status allowed = may_open(*description); !allowed) return std::move(allowed).error();
    open.expect_another();
    auto session = Session::reopen(*description, installation, cancellation);
    if (!session && open.close_measured() && !cancellation.requested())
      session = Session::reopen(*description, installation, cancellation);
    if (!session) return fail(ErrorCode::internal, session.error().message);
    (*session)->limit_threads(threads);
    const std::uint64_t bytes = (*session)->measures() ? buffer_bytes((*session)->problem()) : 0;
    return open.add(id, std::move(*session), bytes);
  }

  const Installation installation;
  const int threads;
  const std::filesystem::path files;
  OpenProblems<Session> open{kOpenProblems, kMeasuredBytes};
};

Judge::Judge(Installation installation, int threads, std::filesystem::path files)
    : state_(std::make_unique<State>(std::move(installation), threads, std::move(files))) {}
Judge::~Judge() = default;

EvaluationAnswer Judge::judge(std::string_view request, const Cancellation& cancellation) {
  EvaluationAnswer answer;
  const auto trouble = [&](const Error& error) {
    answer.trouble = error.message;
    return answer;
  };
  const auto parts = read_judge_request(request);
  if (!parts) return trouble(parts.error());
  const auto job = read_evaluation_job(parts->evaluation);
  if (!job) return trouble(job.error());
  const auto session = state_->session_of(parts->problem, cancellation);
  if (!session) return trouble(session.error());
  Session& problem = **session;
  if (job->task == EvaluationJob::Task::try_answer) {
    answer.trial = problem.try_answer(&job->candidate, job->sanitize, cancellation);
    return answer;
  }
  answer.evaluation = problem.evaluate(job->candidate, job->budget, cancellation);
  if (problem.measures()) {
    answer.use = problem.measurement();
    answer.process = static_cast<std::uint64_t>(::getpid());
  }
  return answer;
}

}  // namespace regraph::fleet
