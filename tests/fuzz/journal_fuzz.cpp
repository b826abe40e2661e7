// Feeds damaged run databases to what resumes them: bytes changed, files cut, the write-ahead log
// changed, and rows with other values but a fitting checksum. A run either goes on to its end or is
// refused with an error; where only bytes were changed, its answer is the right one.
#include "base/files.h"
#include "fuzz/mutate.h"
#include "search/driver.h"
#include "search/landscape.h"
#include "search/run_database.h"

#include <filesystem>

namespace {

using namespace regraph;  // NOLINT: a program of its own
using landscape::Shape;
using landscape::World;

constexpr std::size_t kLimitBytes = 64 << 20;
constexpr int kEvaluations = 25;

struct Files {
  std::string database;
  std::string log;  // write-ahead
};

class Target {
 public:
  Target()
      : directory_(*TemporaryDirectory::create(
            "regraph-journal-fuzz-", std::filesystem::exists("/dev/shm") ? "/dev/shm" : "")) {}

  // Goes on with the run in the directory.
  Result<SearchOutcome> resume(SearchObserver* observer = nullptr, Cancellation* stop = nullptr) {
    const auto database = RunDatabase::open(path());
    if (!database) return database.error();
    const auto finished = (*database)->finished();
    if (!finished) return finished.error();
    SearchConfig config = (*database)->description().config;
    // A changed configuration may ask for more than anybody wants to wait for.
    if (config.budget.evaluations > 100 || config.budget.evaluations == 0) {
      return fail(ErrorCode::invalid_argument, "too long");
    }
    config.jobs = 1;
    config.evaluation_wall_seconds = 10.0;
    const landscape::WorldExpander expander(world_);
    landscape::WorldEvaluator evaluator(world_);
    const Cancellation never;
    return run_search(World::candidate(0), expander, evaluator, world_.graph(), config, observer,
                      stop == nullptr ? never : *stop, database->get());
  }
  // A run that was stopped after some evaluations, as kill -9 leaves it: with its log.
  Files unfinished() {
    class Copier final : public SearchObserver {
     public:
      Copier(Target& target, Files& files, Cancellation& stop)
          : target_(target), files_(files), stop_(stop) {}
      void on_evaluated(const SearchEvent& event) override {
        if (event.evaluations != kEvaluations / 2) return;
        files_ = target_.files();
        stop_.request();
      }

     private:
      Target& target_;
      Files& files_;
      Cancellation& stop_;
    };
    RunDescription description;
    description.source = "__global__ void k() {}";
    description.config.searcher = "random";
    description.config.budget.evaluations = kEvaluations;
    description.notes = {"a note"};
    { static_cast<void>(*RunDatabase::create(path(), description)); }
    Files files;
    Cancellation stop;
    Copier copier(*this, files, stop);
    static_cast<void>(resume(&copier, &stop));
    return files;
  }
  Files files() const {
    const auto log = read_file(file("-wal"), kLimitBytes);
    return {*read_file(file(""), kLimitBytes), log ? *log : ""};
  }
  void put(const Files& files) const {
    RunDatabase::remove(path());
    static_cast<void>(write_file(file(""), files.database));
    if (!files.log.empty()) static_cast<void>(write_file(file("-wal"), files.log));
  }
  [[nodiscard]] std::filesystem::path file(const char* suffix) const {
    return path() / (std::string(RunDatabase::kFileName) + suffix);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  World world_{11, Shape{}};
  TemporaryDirectory directory_;
};

// Gives one value of one row another content, with a checksum that fits.
void change_value(const Target& target, fuzz::Random& random) {
  auto database = SqliteDatabase::open(target.file(""), SqliteDatabase::Mode::existing);
  if (!database) return;
  constexpr const char* kTables[] = {"run",   "baseline",     "measurement", "expansion",
                                     "issue", "confirmation", "progress",    "blob"};
  const std::string name = kTables[random() % std::size(kTables)];
  std::vector<std::string> names;
  std::vector<SqlColumn> columns;
  {
    auto information = database->prepare("SELECT name, type FROM pragma_table_info('" + name +
                                         "') WHERE name <> 'checksum'");
    if (!information) return;
    std::vector<SqlColumn::Type> types;
    for (;;) {
      const auto row = information->step();
      if (!row || !*row) break;
      names.push_back(information->text(0));
      const std::string type = information->text(1);
      types.push_back(type == "TEXT"   ? SqlColumn::Type::text
                      : type == "REAL" ? SqlColumn::Type::real
                                       : SqlColumn::Type::integer);
    }
    for (std::size_t index = 0; index < names.size(); ++index)
      columns.push_back({names[index].c_str(), types[index]});
  }
  SqliteTable table(name, columns);
  if (!table.attach(*database)) return;
  SqlValue key;
  {
    auto keys = database->prepare("SELECT " + names.front() + " FROM " + name +
                                  " ORDER BY random() LIMIT 1");
    if (!keys) return;
    const auto row = keys->step();
    if (!row || !*row) return;
    key = columns.front().type == SqlColumn::Type::text ? SqlValue(keys->text(0))
                                                        : SqlValue(keys->integer(0));
  }
  auto row = table.find(key);
  if (!row || !*row) return;
  SqlValue& value = (**row)[random() % (*row)->size()];
  constexpr std::string_view kWords[] = {"[]", "{}",    "correct", "\"a\":",  "null", "[[[[",
                                         "-1", "1e999", "budget",  "timeout", ",",    "\xff"};
  if (auto* text = std::get_if<std::string>(&value)) {
    fuzz::damage(*text, random, kWords);
  } else if (auto* real = std::get_if<double>(&value)) {
    constexpr double kValues[] = {0.0, -1.0, 1e308, 1e-308, 0.5};
    *real = kValues[random() % std::size(kValues)];
  } else {
    constexpr std::int64_t kValues[] = {0, -1, 1, INT64_MAX, INT64_MIN, 1 << 20};
    value = kValues[random() % std::size(kValues)];
  }
  static_cast<void>(table.put(**row));
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  Target target;
  const Files stopped = target.unfinished();
  target.put(stopped);
  const auto reference = target.resume();
  if (!reference) rounds.fail(reference.error().message);
  const Files finished = target.files();

  std::uint64_t accepted = 0;
  const int result = rounds.run([&](fuzz::Random& random) {
    Files files = random() % 2 == 0 ? stopped : finished;
    const bool by_value = random() % 2 == 0;
    if (!by_value) {
      std::string& content = files.log.empty() || random() % 2 == 0 ? files.database : files.log;
      if (random() % 8 == 0) {
        content.resize(random() % (content.size() + 1));
      } else {
        const int changes = 1 << (random() % 6);
        for (int change = 0; change < changes && !content.empty(); ++change)
          content[random() % content.size()] = static_cast<char>(random());
      }
    }
    target.put(files);
    if (by_value) change_value(target, random);
    const auto outcome = target.resume();
    if (!outcome) {
      if (outcome.error().code == ErrorCode::internal) rounds.fail(outcome.error().message);
      return;
    }
    ++accepted;
    if (!by_value && (outcome->best.source != reference->best.source ||
                      outcome->log_speedup != reference->log_speedup)) {
      rounds.fail("damage changed the answer");
    }
  });
  std::printf("%llu of them were resumed\n", static_cast<unsigned long long>(accepted));
  return result;
}
