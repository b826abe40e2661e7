#include "dataset/data_set.h"

#include "base/files.h"
#include "base/hash.h"
#include "dataset/data_card.h"
#include "dataset/data_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace regraph::dataset {

namespace {

constexpr const char* kItemsFile = "items.txt";
constexpr std::size_t kLargestDataFile = std::size_t{8} << 30;

std::filesystem::path data_file(const std::string& form, const std::string& split) {
  return std::filesystem::path("data") / form / fmt::format("{}-00000.jsonl", split);
}

Error drop_in_the_way(const std::filesystem::path& folder) {
  return fail(
      ErrorCode::invalid_argument,
      folder.string() + ": there is something in it; name a folder that is missing or empty");
}

int leave_out_alike(std::vector<PairRecord>& pairs) {
  std::set<std::string> known;
  const std::size_t before = pairs.size();
  std::erase_if(pairs, [&](const PairRecord& pair) {
    return !known.insert(pair.family + pair.fingerprint).second;
  });
  return static_cast<int>(before - pairs.size());
}

DataSetSummary summary_of(const Collected& collected, const DataForms& forms,
                          std::map<std::string, std::string> splits) {
  DataSetSummary summary;
  summary.considered = collected.considered;
  summary.dropped = collected.dropped;
  for (const auto& [form, rows] : forms) {
    for (const auto& [split, lines] : rows)
      summary.rows[form][split] = lines.size();
  }
  std::set<std::string> families;
  for (const score::RegisteredProblem& problem : collected.problems)
    families.insert(problem.family);
  summary.families = families.size();
  summary.kernels = collected.problems.size();
  for (const PairRecord& pair : collected.pairs) {
    ++summary.methods[pair.method];
    ++summary.steps[pair.step];
  }
  if (!collected.pairs.empty()) summary.device = collected.pairs.front().device;
  summary.splits = std::move(splits);
  return summary;
}

// Relative paths of all files below a folder, in order.
Result<std::vector<std::string>> files_below(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file()) files.push_back(at->path().lexically_relative(folder).string());
  }
  if (error) return fail(ErrorCode::io, folder.string() + ": " + error.message());
  std::ranges::sort(files);
  return files;
}

Result<std::string> checksum_of(const std::filesystem::path& file) {
  const auto content = read_file(file, kLargestDataFile);
  if (!content) return content.error();
  return hash_text(*content).hex();
}

bool is_wanted(const DataSetOptions& options, const std::string& form) {
  return options.forms.empty() || std::ranges::find(options.forms, form) != options.forms.end();
}

Status write_files(const std::filesystem::path& folder, const Collected& collected,
                   const DataForms& forms, bool with_items) {
  std::string problems;
  for (const score::RegisteredProblem& problem : collected.problems)
    problems += score::problem_text(problem) + '\n';
  std::string states;
  for (const StateItem& state : collected.states)
    states += state.state + '\n';
  if (Status done = write_file(folder / score::StateRegistry::kProblemsFile, problems); !done)
    return done;
  if (Status done = write_file(folder / score::StateRegistry::kStatesFile, states); !done)
    return done;
  if (with_items) {
    if (Status done = write_file(folder / kItemsFile, collected_text(collected)); !done)
      return done;
  }
  for (const auto& [form, rows] : forms) {
    for (const auto& [split, lines] : rows) {
      std::string text;
      for (const std::string& line : lines)
        text += line;
      if (Status done = write_file(folder / data_file(form, split), text); !done) return done;
    }
  }
  return {};
}

bool has_parquet(const std::filesystem::path& folder) {
  const auto files = files_below(folder);
  return files && std::ranges::any_of(
                      *files, [](const std::string& file) { return file.ends_with(".parquet"); });
}

Status write_checksums(const std::filesystem::path& folder) {
  const auto files = files_below(folder);
  if (!files) return files.error();
  std::string text;
  for (const std::string& file : *files) {
    const auto checksum = checksum_of(folder / file);
    if (!checksum) return checksum.error();
    text += fmt::format("{}  {}\n", *checksum, file);
  }
  return write_file(folder / kChecksumsFile, text, Durability::disk);
}

}  // namespace

Result<DataSetSummary> write_data_set(
    const std::filesystem::path& folder, Collected collected, const DataSetOptions& options,
    const std::function<Status(const std::filesystem::path&)>& finish) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error))
    return drop_in_the_way(folder);
  if (const int alike = leave_out_alike(collected.pairs); alike > 0)
    collected.dropped["like an earlier pair but for names, constants and layout"] += alike;
  auto splits = split_families(collected.problems, options.seed, options.shares);
  for (PairRecord& pair : collected.pairs)
    pair.split = splits.at(pair.family);
  DataForms forms = data_forms(collected, splits);
  std::erase_if(forms, [&](const auto& form) { return !is_wanted(options, form.first); });
  const DataSetSummary summary = summary_of(collected, forms, std::move(splits));

  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  const auto parent = (whole.filename().empty() ? whole.parent_path() : whole).parent_path();
  std::filesystem::create_directories(parent, error);
  auto beside = TemporaryDirectory::create(".regraph-dataset-", parent);
  if (!beside) return beside.error();
  const std::filesystem::path work = beside->path() / "set";
  if (Status done = write_files(work, collected, forms, is_wanted(options, kItems)); !done)
    return done.error();
  if (finish) {
    if (Status done = finish(work); !done) return done.error();
  }
  const char* ending = has_parquet(work) ? "parquet" : "jsonl";
  if (Status done = write_file(work / "README.md", data_card(summary, options, ending)); !done)
    return done.error();
  if (Status done = write_file(work / kSummaryFile, summary_text(summary, options)); !done)
    return done.error();
  if (Status done = write_checksums(work); !done) return done.error();
  std::filesystem::remove(folder, error);  // an empty one
  std::filesystem::rename(work, folder, error);
  if (error) return fail(ErrorCode::io, folder.string() + ": " + error.message());
  return summary;
}

Status check_data_set(const std::filesystem::path& folder) {
  const auto checksums = read_file(folder / kChecksumsFile, kLargestDataFile);
  if (!checksums) {
    return fail(ErrorCode::not_found,
                fmt::format("{}: no data set, or one that was not finished: {} is missing",
                            folder.string(), kChecksumsFile));
  }
  constexpr std::size_t kDigits = 32;
  std::string_view rest = *checksums;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.size() < kDigits + 3) {
      return fail(ErrorCode::parse,
                  fmt::format("{}: '{}' is no line of checksums", folder.string(), line));
    }
    const std::string file(line.substr(kDigits + 2));
    const auto found = checksum_of(folder / file);
    if (!found) return found.error();
    if (*found != line.substr(0, kDigits)) {
      return fail(ErrorCode::parse,
                  fmt::format("{}: it was changed after it was written: its checksum is another",
                              (folder / file).string()));
    }
  }
  return {};
}

Result<Collected> read_data_set(const std::filesystem::path& folder) {
  if (Status whole = check_data_set(folder); !whole) return whole.error();
  const auto items = read_file(folder / kItemsFile, kLargestDataFile);
  if (!items) {
    return fail(ErrorCode::unsupported,
                folder.string() + ": it was written without its items; build it again with them");
  }
  return read_collected(*items, (folder / kItemsFile).string());
}

}  // namespace regraph::dataset
