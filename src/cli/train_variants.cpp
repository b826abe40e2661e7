// `regraph-train slow`: variants of kernels that are slow in known ways.
#include "cli/train_commands.h"
#include "cli/train_work.h"
#include "learn/kernel_variation.h"
#include "learn/variant_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace regraph::cli {

namespace {

// The paths by which searches of the kernel found something faster, each once.
learn::VariationRequest request_for(const Program& program, const TrainOptions& options,
                                    const learn::CorpusKernel& kernel) {
  learn::VariationRequest request;
  request.place = {std::filesystem::absolute(kernel.file),
                   options.device,
                   options.evaluator,
                   std::filesystem::absolute(study_folder(options, kernel)),
                   options.any_build,
                   {}};
  for (const learn::RunDigest& digest : kept_digests(program, options, {kernel}, options.labels)) {
    const auto path = digest.path_to_fastest();
    const bool known = std::ranges::find(request.paths, path) != request.paths.end();
    if (!path.empty() && !known) request.paths.push_back(path);
  }
  return request;
}

std::string summary(const learn::VariedKernel& varied) {
  std::string text = fmt::format("{}: {} slow variants of {} tried", varied.kernel.name,
                                 varied.report.variants.size(), varied.report.tried);
  const char* separator = "; ";
  for (const auto& [reason, count] : varied.report.dropped) {
    text += fmt::format("{}{}: {}", separator, reason, count);
    separator = ", ";
  }
  return text;
}

}  // namespace

int train_variation(const Program& program, const std::string& text, const FleetFlags& flags) {
  auto request = learn::read_variation(text);
  if (!request) return program.fail(session_error(request.error()));
  const auto fleet = fleet_of(program, flags, false);
  if (!fleet) return program.fail(fleet.error());
  request->place.fleet = fleet->access;
  const auto done = learn::vary_kernel(*request, program.installation(), program.interrupted());
  return done ? 0 : program.fail(done.error());
}

int write_slow_variants(const Program& program, const TrainOptions& options) {
  const auto sources = find_sources(options);
  if (!sources) return program.fail(session_error(sources.error()));
  const std::filesystem::path folder(options.output);
  if (Status free = learn::may_hold_variants(folder, options.sources.front()); !free)
    return program.fail(session_error(free.error()));

  std::vector<learn::CorpusKernel> kernels;
  // Variants of variants would drift away from what anybody writes.
  std::ranges::copy_if(sources->kernels, std::back_inserter(kernels),
                       [](const learn::CorpusKernel& kernel) { return !kernel.derived; });
  std::vector<learn::VariationRequest> requests;
  std::vector<learn::PoolTask> tasks;
  std::size_t searched = 0;
  for (const learn::CorpusKernel& kernel : kernels) {
    const auto& request = requests.emplace_back(request_for(program, options, kernel));
    searched += request.paths.empty() ? 0 : 1;
    tasks.push_back({request.place.kernel, "vary", learn::variation_text(request),
                     1 + request.paths.size(), learn::kept_report(request).has_value()});
  }
  if (searched == 0) {
    program.say("no search in " + options.work +
                " found anything faster: only the kernels themselves are made slower");
  }
  const auto failed = learn::run_tasks(pool_of(program, options), tasks, program.interrupted(),
                                       [&](const std::string& line) {
                                         if (!options.quiet) program.say(line);
                                       });
  if (program.interrupted().requested()) return kInterrupted;

  std::vector<learn::VariedKernel> varied;
  for (std::size_t at = 0; at < kernels.size(); ++at) {
    auto report = learn::kept_report(requests[at]);
    if (!report) continue;
    varied.push_back({kernels[at], std::move(*report)});
    if (!options.quiet) program.say(summary(varied.back()));
  }
  const auto written = learn::write_variants(folder, sources->corpus, varied);
  if (!written) return program.fail(session_error(written.error()));
  if (written->names.empty()) {
    program.say("no variant is slower: there is nothing to write");
    return kUnusableKernel;
  }
  std::set<std::string> families;
  for (const std::string& name : written->names)
    families.insert(*std::filesystem::path(name).begin());
  return program.print(
      fmt::format("{}: {} slow variants of {} kernels in {} families; {} known already, {} kernels "
                  "left out\n",
                  options.output, written->names.size(), varied.size(), families.size(),
                  written->known, failed.size()),
      0);
}

}  // namespace regraph::cli
