#include "learn/corpus.h"

#include "base/files.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>

namespace regraph::learn {

namespace {

constexpr const char* kDescription = "corpus.yaml";
constexpr std::size_t kLongestDescription = 1 << 20;  // bytes

struct Description {
  std::set<std::string> sealed;
  std::set<std::string> controls;
  std::vector<std::vector<std::string>> kin;
  bool derived = false;
};

Result<Description> read_description(const std::filesystem::path& file) {
  Description description;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return description;
  const auto wrong = [&](int line, const std::string& what) {
    return fail(ErrorCode::parse, file.string() + ":" + std::to_string(line + 1) + ": " + what);
  };
  const Result<std::string> text = read_file(file, kLongestDescription);
  if (!text) return text.error();
  try {
    const YAML::Node root = YAML::Load(*text);
    if (!root.IsMap() && !root.IsNull())
      return wrong(std::max(root.Mark().line, 0), "there must be keys and values");
    for (const auto& entry : root) {
      const auto key = entry.first.as<std::string>();
      if (key == "sealed" || key == "controls") {
        const auto names = entry.second.as<std::vector<std::string>>();
        (key == "sealed" ? description.sealed : description.controls)
            .insert(names.begin(), names.end());
      } else if (key == "kin") {
        description.kin = entry.second.as<std::vector<std::vector<std::string>>>();
      } else if (key == "derived") {
        description.derived = entry.second.as<bool>();
      } else {
        return wrong(entry.first.Mark().line, "unknown key '" + key + "'");
      }
    }
  } catch (const YAML::Exception& exception) {
    return wrong(std::max(exception.mark.line, 0), exception.msg);
  }
  return description;
}

}  // namespace

std::vector<std::string> Corpus::open_families() const {
  std::set<std::string> families;
  for (const CorpusKernel& kernel : kernels) {
    if (!kernel.sealed) families.insert(kernel.family);
  }
  return {families.begin(), families.end()};
}

NameGroups Corpus::kinships() const {
  NameGroups groups;
  for (const std::vector<std::string>& families : kin)
    groups.join(families);
  return groups;
}

std::vector<std::vector<std::string>> Corpus::folds(
    int count, std::span<const std::vector<std::string>> joined) const {
  NameGroups together = kinships();
  for (const std::vector<std::string>& families : joined)
    together.join(families);
  // Controls are in no test.
  std::map<std::string, std::set<std::string>> groups;
  for (const CorpusKernel& kernel : kernels) {
    if (!kernel.sealed && !kernel.control)
      groups[together.leader(kernel.family)].insert(kernel.family);
  }
  std::vector<std::vector<std::string>> largest_first;
  largest_first.reserve(groups.size());
  for (const auto& [first, families] : groups)
    largest_first.emplace_back(families.begin(), families.end());
  std::ranges::stable_sort(largest_first, std::ranges::greater(),
                           [](const auto& group) { return group.size(); });
  std::vector<std::vector<std::string>> folds(static_cast<std::size_t>(std::max(count, 1)));
  for (const std::vector<std::string>& group : largest_first) {
    auto& smallest =
        *std::ranges::min_element(folds, {}, [](const auto& fold) { return fold.size(); });
    smallest.insert(smallest.end(), group.begin(), group.end());
  }
  std::erase_if(folds, [](const auto& fold) { return fold.empty(); });
  return folds;
}

void Corpus::add(Corpus other) {
  std::ranges::move(other.kernels, std::back_inserter(kernels));
  std::ranges::move(other.kin, std::back_inserter(kin));
}

Result<Corpus> read_corpus(const std::filesystem::path& place) {
  Corpus corpus;
  std::error_code error;
  if (std::filesystem::is_regular_file(place, error)) {
    const std::string name = place.stem().string();
    corpus.kernels.push_back({place, name, name});
    return corpus;
  }
  if (!std::filesystem::is_directory(place, error)) {
    return fail(ErrorCode::not_found, place.string() + ": no such folder of kernels, nor a kernel");
  }
  auto description = read_description(place / kDescription);
  if (!description) return std::move(description).error();
  corpus.kin = description->kin;
  for (std::filesystem::recursive_directory_iterator at(place, error), end; at != end;
       at.increment(error)) {
    if (error) return fail(ErrorCode::io, place.string() + ": " + error.message());
    if (!at->is_regular_file(error) || at->path().extension() != ".cu") continue;
    const std::filesystem::path relative = std::filesystem::relative(at->path(), place, error);
    const bool nested = relative.has_parent_path();
    CorpusKernel kernel;
    kernel.file = at->path();
    kernel.family = nested ? relative.begin()->string() : relative.stem().string();
    kernel.name = (relative.parent_path() / relative.stem()).string();
    kernel.sealed = description->sealed.contains(kernel.family);
    kernel.control = description->controls.contains(kernel.family);
    kernel.derived = description->derived;
    corpus.kernels.push_back(std::move(kernel));
  }
  for (const auto& [names, what] :
       {std::pair(&description->sealed, "sealed"), std::pair(&description->controls, "controls")}) {
    for (const std::string& family : *names) {
      if (std::ranges::find(corpus.kernels, family, &CorpusKernel::family) != corpus.kernels.end())
        continue;
      return fail(ErrorCode::parse, (place / kDescription).string() + ":1: " + what +
                                        " names the family '" + family +
                                        "', of which there is no kernel");
    }
  }
  if (corpus.kernels.empty()) {
    return fail(ErrorCode::not_found, place.string() + ": there is no .cu file in this folder");
  }
  std::ranges::sort(corpus.kernels, {}, &CorpusKernel::name);
  return corpus;
}

}  // namespace regraph::learn
