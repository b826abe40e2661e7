#include "learn/variant_corpus.h"

#include "base/files.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace regraph::learn {

namespace {

constexpr std::size_t kLargestVariant = std::size_t{1} << 24;
// The line of a variant by which it is known again.
constexpr std::string_view kIdentityLine = "// Identity ";

// A folder that is missing or empty is an empty corpus.
Result<Corpus> present_variants(const std::filesystem::path& folder) {
  auto present = read_corpus(folder);
  if (present || present.error().code != ErrorCode::not_found) return present;
  return Corpus{};
}

std::string identity_in(const std::filesystem::path& file) {
  const auto text = read_file(file, kLargestVariant);
  if (!text) return {};
  const std::size_t begin = text->find(kIdentityLine);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + kIdentityLine.size();
  return text->substr(from, text->find('\n', from) - from);
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string file_text(const VariedKernel& varied, const KernelVariant& variant) {
  return fmt::format(
      "// A slow variant of {}, to learn from.\n"
      "// Taken away {}.\n"
      "// It takes {:.2f} times as long as that on {}, {}.\n"
      "{}{}\n{}",
      varied.kernel.name, one_line(variant.taken_away), variant.slowdown,
      one_line(varied.report.device), name(varied.report.method), kIdentityLine, variant.identity,
      variant.source);
}

std::string description_text(const Corpus& corpus) {
  std::set<std::string> sealed;
  std::set<std::string> controls;
  for (const CorpusKernel& kernel : corpus.kernels) {
    if (kernel.sealed) sealed.insert(kernel.family);
    if (kernel.control) controls.insert(kernel.family);
  }
  const std::set<std::vector<std::string>> kin(corpus.kin.begin(), corpus.kin.end());
  YAML::Emitter out;
  const auto list = [&](const auto& names) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const std::string& name : names)
      out << name;
    out << YAML::EndSeq;
  };
  out << YAML::Comment("Kernels that regraph-train slow made from others.");
  out << YAML::BeginMap << YAML::Key << "derived" << YAML::Value << true;
  out << YAML::Key << "sealed" << YAML::Value;
  list(sealed);
  out << YAML::Key << "controls" << YAML::Value;
  list(controls);
  out << YAML::Key << "kin" << YAML::Value << YAML::BeginSeq;
  for (const std::vector<std::string>& families : kin)
    list(families);
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

class VariantWriter {
 public:
  VariantWriter(std::filesystem::path folder, Corpus present,
                const std::vector<std::vector<std::string>>& kin,
                const std::vector<VariedKernel>& all)
      : folder_(std::move(folder)), corpus_(std::move(present)) {
    corpus_.add({{}, kin});
    for (const CorpusKernel& kernel : corpus_.kernels)
      owners_.try_emplace(identity_in(kernel.file), kernel.name);
    for (const VariedKernel& varied : all)
      owners_.insert_or_assign(varied.report.identity, varied.kernel.name);
  }

  [[nodiscard]] Status add(const VariedKernel& varied, const KernelVariant& variant) {
    CorpusKernel kernel = varied.kernel;
    // A kernel that lies in the corpus directly is a family of its own.
    const bool nested = std::filesystem::path(kernel.name).has_parent_path();
    if (!nested) kernel.name = kernel.family + "/" + kernel.name;
    kernel.name += "--" + variant.label;
    kernel.derived = true;
    const auto [owner, fresh] = owners_.try_emplace(variant.identity, kernel.name);
    const bool same_code = !variant.machine_code.empty() &&
                           !machine_codes_.try_emplace(variant.machine_code, kernel.name).second;
    if ((!fresh && owner->second != kernel.name) || same_code) {
      ++written_.known;
      return {};
    }
    const std::filesystem::path stem = folder_ / kernel.name;
    kernel.file = stem.string() + ".cu";
    // The manifest first: there is no kernel without one at any time.
    if (Status done = write_file(stem.string() + ".regraph.yaml", variant.manifest); !done)
      return done;
    if (Status done = write_file(kernel.file, file_text(varied, variant)); !done) return done;
    written_.names.push_back(kernel.name);
    corpus_.kernels.push_back(std::move(kernel));
    return {};
  }

  // What may be said of the kernels that are there by now.
  [[nodiscard]] Status describe() const {
    return write_file(folder_ / "corpus.yaml", description_text(corpus_));
  }

  [[nodiscard]] WrittenVariants written() && { return std::move(written_); }

 private:
  const std::filesystem::path folder_;
  Corpus corpus_;                              // what is in the folder
  std::map<std::string, std::string> owners_;  // identity -> kernel
  std::map<std::string, std::string> machine_codes_;
  WrittenVariants written_;
};

}  // namespace

Status may_hold_variants(const std::filesystem::path& folder, const std::filesystem::path& source) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument,
                folder.string() + ": " + why + "; name another folder");
  };
  std::error_code ignored;
  const std::filesystem::path inner = std::filesystem::weakly_canonical(folder, ignored);
  const std::filesystem::path outer = std::filesystem::weakly_canonical(source, ignored);
  const auto parted = std::ranges::mismatch(outer, inner);
  if (parted.in1 == outer.end()) return wrong("it lies in the corpus that variants are made of");
  const auto present = present_variants(folder);
  if (!present) return present.error();
  for (const CorpusKernel& kernel : present->kernels) {
    if (!kernel.derived) return wrong("it holds kernels that are no variants");
  }
  return {};
}

Result<WrittenVariants> write_variants(const std::filesystem::path& folder, const Corpus& corpus,
                                       const std::vector<VariedKernel>& kernels) {
  auto present = present_variants(folder);
  if (!present) return std::move(present).error();
  const bool nothing = std::ranges::all_of(
      kernels, [](const VariedKernel& varied) { return varied.report.variants.empty(); });
  if (nothing) return WrittenVariants{};
  VariantWriter writer(folder, std::move(*present), corpus.kin, kernels);
  // At first, too: without it what a killed run left would be kernels of unknown descent.
  if (Status begun = writer.describe(); !begun) return begun.error();
  for (const VariedKernel& varied : kernels) {
    for (const KernelVariant& variant : varied.report.variants) {
      if (Status done = writer.add(varied, variant); !done) return done.error();
    }
  }
  if (Status done = writer.describe(); !done) return done.error();
  return std::move(writer).written();
}

}  // namespace regraph::learn
