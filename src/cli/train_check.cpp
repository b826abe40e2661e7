// `regraph-train check`: whether a corpus can tell what learning brings.
#include "cli/train_commands.h"
#include "cli/train_work.h"
#include "learn/family_tells.h"
#include "learn/leak_report.h"
#include "learn/sibling_groups.h"
#include "session/load_graph.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

namespace regraph::cli {

namespace {

// What the original of each open kernel tells of its family; empty where nothing was searched.
Result<std::string> tells_of(const Program& program, const std::vector<learn::RunDigest>& digests) {
  const auto graph = load_graph("", program.installation());
  if (!graph) return graph.error();
  const policy::FeatureLayout layout = layout_of(digests);
  const auto groups = learn::sibling_groups(digests, layout, *graph);
  return learn::tells_text(learn::family_tells(groups, layout));
}

}  // namespace

int check_corpus(const Program& program, const TrainOptions& options) {
  const auto corpus = learn::read_corpus(options.sources.front());
  if (!corpus) return program.fail(session_error(corpus.error()));
  auto kernels = checked_kernels(corpus->kernels);
  if (!kernels) return program.fail(session_error(kernels.error()));
  std::set<std::string> families;
  std::set<std::string> sealed;
  std::size_t searched = 0;
  std::vector<learn::RunDigest> open_digests;
  for (learn::CheckedKernel& checked : *kernels) {
    families.insert(checked.kernel.family);
    if (checked.kernel.sealed) sealed.insert(checked.kernel.family);
    auto digests = kept_digests(program, options, {checked.kernel}, {});
    if (!digests.empty()) ++searched;
    add_states(digests, checked);
    if (checked.kernel.sealed) continue;
    for (learn::RunDigest& digest : digests)
      digest.family = checked.kernel.family;
    std::ranges::move(digests, std::back_inserter(open_digests));
  }
  const learn::LeakCheck check = learn::check_leaks(*corpus, *kernels);
  std::string text = fmt::format(
      "{} kernels of {} families, {} of them sealed; {} kernels with searches in {}\n\n",
      kernels->size(), families.size(), sealed.size(), searched, options.work);
  text += learn::leak_text(check);
  if (!open_digests.empty()) {
    const auto tells = tells_of(program, open_digests);
    if (!tells) return program.fail(session_error(tells.error()));
    if (!tells->empty()) text += "\n" + *tells;
  }
  return program.print(text, check.leaks.empty() ? 0 : kLeak);
}

}  // namespace regraph::cli
