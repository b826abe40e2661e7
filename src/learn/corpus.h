// A folder of kernels to learn from: FOLDER/FAMILY/NAME.cu, or files that lie in it directly, each
// a family of its own. `corpus.yaml` in it may say more:
//
//   sealed: [attention_row]        families that are for a last test only
//   kin: [[layer_norm, rms_norm]]  families that are never divided between training and test
//   controls: [control]            families in which nothing is expected to pay
//   derived: true                  its kernels were made from others (variant_corpus.h)
#pragma once

#include "base/result.h"
#include "learn/name_groups.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace regraph::learn {

struct CorpusKernel {
  std::filesystem::path file;
  std::string family;
  std::string name;  // "FAMILY/NAME": unique in the corpus
  bool sealed = false;
  bool control = false;
  bool derived = false;
};

struct Corpus {
  std::vector<CorpusKernel> kernels;  // by name
  std::vector<std::vector<std::string>> kin;

  // Families, sealed ones aside.
  [[nodiscard]] std::vector<std::string> open_families() const;
  // Families by kinship; kin of kin are kin, whatever family lies between.
  [[nodiscard]] NameGroups kinships() const;
  // The open families, controls aside, in `count` groups of nearly equal size; kin stay together,
  // and so do the families of each entry of `joined` (LeakCheck::joined). Always the same for the
  // same corpus.
  [[nodiscard]] std::vector<std::vector<std::string>> folds(
      int count, std::span<const std::vector<std::string>> joined = {}) const;
  // Adds the kernels and kin of another one.
  void add(Corpus other);
};

// Reads a folder, or takes one .cu file. Errors: not_found (no such place, no kernel in it), parse
// (corpus.yaml, with its line).
[[nodiscard]] Result<Corpus> read_corpus(const std::filesystem::path& place);

}  // namespace regraph::learn
