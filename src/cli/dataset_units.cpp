#include "cli/dataset_units.h"

#include "base/field_json.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/random.h"
#include "cli/dataset_commands.h"
#include "dataset/collect_run.h"
#include "dataset/collect_slowdowns.h"
#include "dataset/collect_walks.h"
#include "learn/corpus.h"
#include "learn/study_pool.h"
#include "search/run_database.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <system_error>
#include <thread>
#include <utility>

namespace regraph::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestResult = std::size_t{1} << 30;
// Mixed into seeds: which kernels are judged.
constexpr std::uint64_t kJudging = 0x10D6E;
constexpr std::array kUnitKinds = {"run", "walks", "slowdown"};

const char* unit_kind_name(UnitKind kind) {
  return kUnitKinds[static_cast<std::size_t>(kind)];
}

template <typename Unit, typename Field>
void visit_unit(Unit& unit, Field&& field) {
  field("place", unit.place);
  field("name", unit.name);
  field("family", unit.family);
  field("device", unit.device);
  field("evaluator", unit.evaluator);
  field("prompts", unit.prompts);
  field("seed", unit.seed);
  field("walks", unit.walks);
  field("depth", unit.depth);
  field("most_pairs", unit.most_pairs);
  field("family_by_folder", unit.family_by_folder);
  field("judge", unit.judge);
  field("task", unit.task);
  field("result", unit.result);
}

DatasetUnit unit_with(const DatasetOptions& options, UnitKind kind, const std::string& place) {
  DatasetUnit unit;
  unit.kind = kind;
  unit.place = std::filesystem::absolute(place).string();
  unit.device = options.device;
  unit.evaluator = options.evaluator;
  if (!options.prompts.empty()) unit.prompts = std::filesystem::absolute(options.prompts).string();
  unit.seed = options.seed;
  unit.walks = options.walks;
  unit.depth = options.depth;
  unit.most_pairs = options.most_pairs;
  unit.family_by_folder = options.families_by_folder;
  unit.task = options.task;
  return unit;
}

// Names the result by all that decides it.
void name_result(const std::filesystem::path& work, DatasetUnit& unit) {
  unit.result = {};
  unit.result = (work / (hash_text(unit_text(unit)).hex() + ".collected")).string();
}

int jobs_of(const DatasetOptions& options) {
  return options.jobs > 0 ? options.jobs
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Result<dataset::Collected> read_result(const std::string& file) {
  const auto text = read_file(file, kLargestResult);
  if (!text) return text.error();
  return dataset::read_collected(*text, file);
}

dataset::KernelSource kernel_source(const DatasetUnit& unit, const FleetAccess& fleet) {
  return {unit.place, unit.name, unit.family, unit.device, unit.evaluator, unit.prompts, fleet};
}

}  // namespace

std::string unit_text(const DatasetUnit& unit) {
  Json json{{"kind", unit_kind_name(unit.kind)}};
  visit_unit(unit, FieldWriter(json));
  return json.dump();
}

std::optional<DatasetUnit> read_unit(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("kind")) return std::nullopt;
  DatasetUnit unit;
  const auto kind = std::ranges::find(kUnitKinds, json["kind"].get<std::string>());
  if (kind == kUnitKinds.end()) return std::nullopt;
  unit.kind = static_cast<UnitKind>(kind - kUnitKinds.begin());
  json.erase("kind");
  FieldReader reader(json);
  visit_unit(unit, reader);
  return reader.whole() ? std::optional(unit) : std::nullopt;
}

Result<std::vector<DatasetUnit>, SessionError> find_units(
    const DatasetOptions& options, UnitKind kind, const std::filesystem::path& work,
    std::vector<std::filesystem::path>& sets) {
  std::vector<DatasetUnit> units;
  for (const std::string& source : options.sources) {
    const std::filesystem::path place(source);
    std::error_code ignored;
    if (std::filesystem::exists(place / dataset::kChecksumsFile, ignored) ||
        std::filesystem::exists(place / dataset::kCollectedFile, ignored)) {
      sets.push_back(place);
      continue;
    }
    if (std::filesystem::exists(place / RunDatabase::kFileName, ignored)) {
      units.push_back(unit_with(options, UnitKind::run, source));
      units.back().family = options.family;
      continue;
    }
    if (kind == UnitKind::walks && options.walks == 0) {
      return usage(source +
                   ": neither a run's directory, nor a data set, nor a workspace of regraph-mcp; "
                   "kernels are sources with "
                   "--walks N");
    }
    const auto corpus = learn::read_corpus(place);
    if (!corpus) return session_error(corpus.error());
    for (const learn::CorpusKernel& kernel : corpus->kernels) {
      DatasetUnit unit = unit_with(options, kind, kernel.file.string());
      unit.name = kernel.name;
      unit.family = options.family.empty() ? kernel.family : options.family;
      const std::uint64_t draw = random_bits(options.seed, kJudging, hash_text(kernel.name).low);
      unit.judge = to_unit_interval(draw) < options.judged_share;
      units.push_back(std::move(unit));
    }
  }
  for (DatasetUnit& unit : units)
    name_result(std::filesystem::absolute(work), unit);
  return units;
}

dataset::Collected collect_units(const Program& program, const DatasetOptions& options,
                                 const std::vector<DatasetUnit>& units,
                                 const std::vector<std::filesystem::path>& sets) {
  std::vector<learn::PoolTask> tasks;
  tasks.reserve(units.size());
  std::error_code ignored;
  for (const DatasetUnit& unit : units) {
    tasks.push_back(
        {unit.place, "unit", unit_text(unit), 1, std::filesystem::exists(unit.result, ignored)});
  }
  learn::StudyPool pool;
  pool.program = program.installation().programs / "regraph-dataset";
  pool.jobs = jobs_of(options);
  const auto failed =
      learn::run_tasks(pool, tasks, program.interrupted(), [&](const std::string& line) {
        if (!options.quiet) program.say(line);
      });
  dataset::CollectionMerger merger;
  for (const DatasetUnit& unit : units) {
    auto collected = read_result(unit.result);
    if (collected) merger.add(std::move(*collected));
  }
  if (!failed.empty()) {
    dataset::Collected lost;
    lost.dropped["source that could not be used"] = static_cast<int>(failed.size());
    merger.add(std::move(lost));
  }
  for (const std::filesystem::path& set : sets) {
    const std::filesystem::path loose = set / dataset::kCollectedFile;
    auto collected = std::filesystem::exists(loose, ignored) ? read_result(loose.string())
                                                             : dataset::read_data_set(set);
    if (!collected) {
      program.say("left out: " + collected.error().message);
      continue;
    }
    merger.add(std::move(*collected));
  }
  return std::move(merger).finish();
}

int dataset_unit(const Program& program, const std::string& text, const FleetFlags& flags) {
  const auto unit = read_unit(text);
  if (!unit) return program.fail(usage("the request of a unit cannot be read"));
  const auto fleet = fleet_of(program, flags, false);
  if (!fleet) return program.fail(fleet.error());
  Result<dataset::Collected, SessionError> collected = dataset::Collected{};
  const Cancellation& stop = program.interrupted();
  const score::Task task =
      unit->task == score::name(score::Task::choose) ? score::Task::choose : score::Task::apply;
  switch (unit->kind) {
    case UnitKind::run:
      collected = dataset::collect_run({unit->place, unit->name, unit->family, unit->prompts,
                                        unit->most_pairs, unit->family_by_folder, task},
                                       program.installation(), stop);
      break;
    case UnitKind::walks: {
      dataset::WalkSource source;
      source.kernel = kernel_source(*unit, fleet->access);
      source.seed = unit->seed;
      source.walks = unit->walks;
      source.depth = unit->depth;
      source.judge = unit->judge;
      source.task = task;
      collected = dataset::collect_walks(source, program.installation(), stop);
      break;
    }
    case UnitKind::slowdown:
      collected = dataset::collect_slowdowns({kernel_source(*unit, fleet->access), unit->depth},
                                             program.installation(), stop);
      break;
  }
  if (!collected) return program.fail(collected.error());
  if (Status done = write_file(unit->result, dataset::collected_text(*collected)); !done)
    return program.fail(session_error(done.error()));
  return 0;
}

}  // namespace regraph::cli
