// `regraph-train loop`: search, learn, and keep what does better on kernels that were held out.
#include "base/directory_lock.h"
#include "base/files.h"
#include "base/hash.h"
#include "cli/train_commands.h"
#include "cli/train_work.h"
#include "learn/example_table.h"
#include "learn/graph_training.h"
#include "learn/loop_record.h"
#include "policy/policy_file.h"
#include "regraph/regraph_yaml.h"
#include "session/load_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace regraph::cli {

namespace {

constexpr std::size_t kLargestRecord = std::size_t{16} << 20;
constexpr const char* kRecord = "loop.json";

// What searches take their priors from.
struct Priors {
  std::string graph;
  std::string policy;  // empty: none
};

// A loop in its folder. Nothing but digests and the files of an iteration is kept: a loop that was
// stopped is done again, and finds its searches done.
class Loop {
 public:
  Loop(const Program& program, const TrainOptions& options, TrainSources sources, StepGraph start)
      : program_(program),
        options_(options),
        sources_(std::move(sources)),
        start_(std::move(start)),
        folder_(std::filesystem::absolute(options.output)),
        current_{options.start, ""},
        newest_(current_) {
    const auto folds = sources_.corpus.folds(options.folds);
    const std::vector<std::string> held =
        folds.size() > 1 ? folds.front() : std::vector<std::string>();
    for (const learn::CorpusKernel& kernel : sources_.kernels) {
      const bool out = std::ranges::find(held, kernel.family) != held.end();
      if (out && kernel.derived) continue;
      (out ? held_out_ : taught_).push_back(kernel);
    }
  }

  [[nodiscard]] bool can_hold_out() const { return !held_out_.empty() && !taught_.empty(); }

  // What decides what comes of it; kernels by their names, so that one that was changed needs
  // another work folder.
  [[nodiscard]] std::string settings() const {
    Hasher hasher;
    for (const learn::CorpusKernel& kernel : sources_.kernels)
      hasher.add(kernel.name);
    const learn::PolicyTrainingConfig& training = options_.training;
    return fmt::format(
        "start {}, device {}, evaluator {}, {} evaluations, seed {}, {} folds, {} networks of {}, "
        "{} epochs, temperature {}, learning rate {}, weight decay {}, dropout {}, policy gradient "
        "{}, without inputs [{}], kernels {}",
        options_.start, options_.device, options_.evaluator, options_.evaluations, options_.seed,
        options_.folds, training.networks, training.hidden, training.epochs, training.temperature,
        training.learning_rate, training.weight_decay, training.dropout, training.second_stage,
        fmt::join(training.without_inputs, " "), hasher.finish().hex().substr(0, 16));
  }

  // The next iteration; where nothing is to be learned for a policy, of a graph alone. Nothing:
  // interrupted.
  [[nodiscard]] Result<std::optional<learn::LoopIteration>> iterate(int number) {
    const std::string name = fmt::format("iteration-{}", number);
    static_cast<void>(search(held_out_, fmt::format("held-out-{}", promoted_), current_));
    static_cast<void>(search(taught_, name, newest_));
    if (program_.interrupted().requested()) return std::optional<learn::LoopIteration>();
    labels_.push_back(name);
    const auto digests = kept_digests(program_, options_, taught_, labels_);
    learn::LoopIteration iteration;
    iteration.number = number;
    iteration.kernels = static_cast<int>(taught_.size());
    Priors candidate = {(folder_ / (name + ".yaml")).string(),
                        (folder_ / (name + ".regraph-policy")).string()};
    if (Status learned = learn_from(digests, candidate, iteration); !learned)
      return std::move(learned).error();
    static_cast<void>(search(held_out_, fmt::format("held-out-{}", number), candidate));
    if (program_.interrupted().requested()) return std::optional<learn::LoopIteration>();
    const auto held = kept_digests(program_, options_, held_out_, {});
    const auto score = [&](int of) {
      return learn::held_out_score(held, fmt::format("held-out-{}", of), options_.evaluations);
    };
    iteration.before = score(promoted_);
    iteration.after = score(number);
    iteration.promoted = is_better(iteration.after, iteration.before);
    // Kept or not: the same searches again would teach nothing new.
    newest_ = candidate;
    if (iteration.promoted) {
      promoted_ = number;
      current_ = candidate;
    }
    return std::optional(iteration);
  }

  [[nodiscard]] const Priors& current() const { return current_; }
  [[nodiscard]] bool promoted() const { return promoted_ > 0; }

 private:
  [[nodiscard]] std::size_t search(const std::vector<learn::CorpusKernel>& kernels,
                                   const std::string& label, const Priors& priors) const {
    learn::StudySearch search;
    search.label = label;
    search.graph = priors.graph;
    search.policy = priors.policy;
    search.evaluations = options_.evaluations;
    search.seed = options_.seed;
    return search_kernels(program_, options_, kernels, {search});
  }

  [[nodiscard]] Status learn_from(const std::vector<learn::RunDigest>& digests, Priors& candidate,
                                  learn::LoopIteration& iteration) const {
    learn::ObservationTable table;
    for (const learn::RunDigest& digest : digests)
      table.add(digest);
    iteration.tries = static_cast<int>(table.size());
    const StepGraph graph = learn::with_examples(
        learn::train_graph(start_, table), kept_examples(program_, options_, taught_, labels_));
    if (Status written = save_regraph(graph, candidate.graph); !written) return written;
    const auto model = policy_from(digests, graph, sources_.corpus.kinships(), options_);
    if (!model && model.error().code == ErrorCode::not_found) {
      program_.say(
          fmt::format("iteration {}: no policy: {}", iteration.number, model.error().message));
      candidate.policy.clear();
      return {};
    }
    if (!model) return model.error();
    iteration.states = std::stoi(model->metadata.at("groups"));
    return policy::save_policy(*model, candidate.policy);
  }

  const Program& program_;
  const TrainOptions& options_;
  TrainSources sources_;
  StepGraph start_;
  std::filesystem::path folder_;
  std::vector<learn::CorpusKernel> taught_;
  std::vector<learn::CorpusKernel> held_out_;
  Priors current_;  // the best so far
  Priors newest_;
  int promoted_ = 0;                 // number of the iteration that is; 0: the start
  std::vector<std::string> labels_;  // of the searches to learn from
};

// Whether the folder is free for a loop with these settings.
Status check_folder(const std::filesystem::path& record, const std::string& settings) {
  std::error_code ignored;
  if (!std::filesystem::exists(record, ignored)) return {};
  const auto text = read_file(record, kLargestRecord);
  if (!text) return text.error();
  const auto before = learn::loop_settings(*text, record.string());
  if (!before) return before.error();
  if (*before == settings) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: this folder holds a loop with other settings ({}; asked for: {}); "
                          "take other folders for --output and --work",
                          record.string(), *before, settings));
}

// What statistics are added to. From nothing known: the steps as they are described, without a
// reason for any and without gains.
Result<StepGraph> start_graph(const Program& program, const std::string& start) {
  const bool flat = start == learn::kFlatGraph;
  auto graph = load_graph(flat ? kPublishedGraph : start, program.installation());
  if (!graph || !flat) return graph;
  StepGraph bare;
  for (const Step* step : graph->steps()) {
    Step known = *step;
    known.evidence.clear();
    if (Status added = bare.add_step(std::move(known)); !added) return added.error();
  }
  return bare;
}

}  // namespace

int run_learning_loop(const Program& program, const TrainOptions& options) {
  const auto said = [&](const Error& error) { return program.fail(session_error(error)); };
  auto sources = find_sources(options);
  if (!sources) return said(sources.error());
  auto start = start_graph(program, options.start);
  if (!start) return said(start.error());
  const std::filesystem::path folder = std::filesystem::absolute(options.output);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  auto lock = DirectoryLock::take(folder);
  if (!lock) return said(lock.error());
  Loop loop(program, options, std::move(*sources), std::move(*start));
  if (!loop.can_hold_out()) {
    return program.fail(
        usage("a loop needs kernels of at least two families that are not kin, to "
              "hold some of them out"));
  }
  const std::string settings = loop.settings();
  if (Status free = check_folder(folder / kRecord, settings); !free) return said(free.error());

  std::vector<learn::LoopIteration> iterations;
  for (int number = 1; number <= options.iterations; ++number) {
    const auto iteration = loop.iterate(number);
    if (!iteration) return said(iteration.error());
    if (!*iteration) return kInterrupted;
    iterations.push_back(**iteration);
    const std::string text = learn::loop_json(settings, iterations);
    if (Status written = write_file(folder / kRecord, text); !written) return said(written.error());
    program.say(learn::iteration_text(iterations.back()));
  }
  if (!loop.promoted()) {
    return program.print("nothing that was learned did better on the kernels held out\n", 0);
  }
  const Priors& best = loop.current();
  return program.print(
      best.graph + "\n" + (best.policy.empty() ? std::string() : best.policy + "\n"), 0);
}

}  // namespace regraph::cli
