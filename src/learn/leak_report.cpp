#include "learn/leak_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace regraph::learn {

namespace {

std::string path_text(const std::vector<std::string>& path) {
  return path.empty() ? "the original" : fmt::format("after {}", fmt::join(path, ", "));
}

std::string reason_text(const KernelPair& pair) {
  std::string alike = fmt::format("sources alike to {:.2f}", pair.similarity);
  if (!pair.shared_state) return alike;
  const auto& [one, other] = *pair.shared_state;
  return fmt::format("the same kernel and launch: of the first {}, of the second {}; {}",
                     path_text(one), path_text(other), alike);
}

std::string pair_text(const KernelPair& pair) {
  return fmt::format("  {}\n  {}\n    {}\n", pair.one.file.string(), pair.other.file.string(),
                     reason_text(pair));
}

std::string kind_text(const Leak& leak) {
  const KernelPair& first = leak.chain.front();
  const KernelPair& last = leak.chain.back();
  const auto is = [&](bool CorpusKernel::*flag, const std::string& family) {
    return std::ranges::any_of(
        std::to_array({&first.one, &first.other, &last.one, &last.other}),
        [&](const CorpusKernel* kernel) { return kernel->family == family && kernel->*flag; });
  };
  const auto described = [&](const std::string& family) {
    if (is(&CorpusKernel::sealed, family)) return family + " (sealed)";
    return is(&CorpusKernel::control, family) ? family + " (control)" : family;
  };
  return fmt::format("{} and {}", described(leak.one), described(leak.other));
}

std::string leak_block(const Leak& leak) {
  std::string text =
      fmt::format("leak: {}{}\n", kind_text(leak), leak.pairs == 0 ? ", over others" : "");
  for (const KernelPair& pair : leak.chain)
    text += pair_text(pair);
  if (leak.pairs > 1)
    text += fmt::format("  and {} more pair{}\n", leak.pairs - 1, leak.pairs == 2 ? "" : "s");
  text += leak.kinship_mends
              ? "  declare the families kin in corpus.yaml, or make the kernels differ\n"
              : "  make the kernels differ: to declare them kin does not keep a sealed family or a "
                "control apart\n";
  return text;
}

}  // namespace

std::string leak_text(const LeakCheck& check) {
  std::string text;
  for (const Leak& leak : check.leaks)
    text += leak_block(leak) + "\n";
  for (const auto& [open, sealed] : check.kin_of_sealed)
    text +=
        fmt::format("warning: {} is trained on and is kin of {}, which is sealed\n", open, sealed);
  text += check.leaks.empty()
              ? "no leak\n"
              : fmt::format("{} leak{}\n", check.leaks.size(), check.leaks.size() == 1 ? "" : "s");
  if (check.nearest) {
    text += fmt::format(
        "nearest families that must differ, {:.2f} alike ({:.2f} is a leak):\n  {}\n  {}\n",
        check.nearest->similarity, kAlike, check.nearest->one.file.string(),
        check.nearest->other.file.string());
  }
  if (!check.repetitions.empty()) text += "styles of which one adds nothing:\n";
  for (const KernelPair& pair : check.repetitions)
    text += pair_text(pair);
  return text;
}

}  // namespace regraph::learn
