// regraph-train: makes the ReGraph and a policy better from searches.
#include "base/files.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "cli/standard_input.h"
#include "cli/train_commands.h"
#include "cli/train_folds.h"
#include "cli/train_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string>

namespace regraph::cli {
namespace {

// What every command has.
void add_places(CLI::App& app, TrainOptions& options) {
  app.add_option("--device", options.device, "GPU to search for")->capture_default_str();
  app.add_option("--evaluator", options.evaluator, "where times come from, as of regraph-search")
      ->capture_default_str();
  app.add_option("--work", options.work, "folder for searches; what is in it is not done again")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "kernels worked on at once (default: processors)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--without", options.without, "families to leave out");
  app.add_flag("--sealed", options.sealed, "sealed families of the corpus, too");
  app.add_flag("--any-build", options.any_build,
               "evaluations in the work folder count whatever build of the program made them");
  app.add_flag("-q,--quiet", options.quiet, "no line a kernel");
}

void add_sources(CLI::App& app, TrainOptions& options) {
  app.add_option(
         "SOURCES", options.sources,
         "folders of kernels, kernels, directories of finished runs, tables of observations and "
         "of examples")
      ->required();
  add_places(app, options);
  app.add_option("--evaluations", options.evaluations, "candidates a search evaluates at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void add_training(CLI::App& app, TrainOptions& options) {
  constexpr const char* kGroup = "Policy";
  learn::PolicyTrainingConfig& config = options.training;
  const auto option = [&](const char* name, auto& value, const char* what) {
    app.add_option(name, value, what)->capture_default_str()->group(kGroup);
  };
  option("--networks", config.networks, "networks that are averaged");
  option("--hidden", config.hidden, "hidden units of a network");
  option("--epochs", config.epochs, "passes over the states");
  option("--temperature", config.temperature, "of the preference among siblings, in log-gain");
  option("--dropout", config.dropout, "share of hidden units left out of a pass");
  option("--weight-decay", config.weight_decay, "of the weights, a step");
  option("--learning-rate", config.learning_rate, "of Adam at the start");
  app.add_flag("--policy-gradient", config.second_stage,
               "go on by group-relative policy optimization after the imitation")
      ->group(kGroup);
  app.add_option("--without-input", config.without_inputs,
                 "inputs to leave out, by the beginning of their names")
      ->group(kGroup);
}

void add_selection_changes(CLI::App& search, learn::SelectionChanges& changes) {
  search.add_option("--exploration", changes.exploration, "c of mcgs at the start")
      ->check(CLI::Range(0.0, 100.0));
  search
      .add_option("--greedy-every", changes.greedy_every,
                  "every so many expansions of mcgs one by the greedy rule; 0: none")
      ->check(CLI::Range(0, 1000));
  search
      .add_option("--max-share", changes.max_share,
                  "what a state's best descendant counts in its value, beside the mean")
      ->check(CLI::Range(0.0, 1.0));
  search
      .add_option("--first-play-reduction", changes.first_play_reduction,
                  "what an untried edge is worth less where others were tried")
      ->check(CLI::Range(0.0, 1.0));
  search
      .add_option("--widening", changes.widening,
                  "edges that are opened at a state: so many by the root of its visits; 0: all")
      ->check(CLI::Range(0.0, 1000.0));
}

int run(int argc, char** argv) {
  const Program program("regraph-train", argv[0]);
  TrainOptions options;
  CLI::App app{"Makes the ReGraph and a policy better from searches.", "regraph-train"};
  app.set_version_flag("--version", std::string("regraph-train ") + REGRAPH_VERSION);
  app.require_subcommand(1);

  CLI::App* graph = app.add_subcommand(
      "graph", "searches kernels and writes a ReGraph with the statistics of what paid");
  add_sources(*graph, options);
  graph->add_option("--graph", options.graph, "ReGraph to start from (default: the shipped one)");
  graph
      ->add_option("--output", options.output,
                   "ReGraph to write, .yaml; its tables of observations and of examples "
                   "lie beside it and are added to")
      ->required();

  CLI::App* model = app.add_subcommand("model", "trains a policy on the searches of a work folder");
  add_sources(*model, options);
  model->add_option("--graph", options.graph, "ReGraph that the policy will correct")->required();
  model->add_option("--output", options.output, "policy to write")->required();
  model->add_option("--label", options.labels, "searches to learn from (default: all)");
  model->add_option("--seed", options.seed, "seed of the first network")->capture_default_str();

  add_training(*model, options);

  CLI::App* search = app.add_subcommand("search", "searches kernels with a graph and a policy");
  add_sources(*search, options);
  search->add_option("--graph", options.graph, "ReGraph to take priors from");
  search->add_option("--policy", options.policy, "policy to correct them");
  search->add_option("--label", options.labels, "name of the searches")->required();
  add_selection_changes(*search, options.changes);

  CLI::App* eval = app.add_subcommand(
      "eval", "leaves families out, learns from the others and compares searches of the families");
  add_sources(*eval, options);
  eval->add_option("--folds", options.folds, "groups of families")->capture_default_str();
  eval->add_option("--searcher", options.searchers, "search methods")->capture_default_str();
  eval->add_option("--prior", options.priors,
                   fmt::format("what priors are made of: {}", fmt::join(prior_names(), ", ")))
      ->check(CLI::IsMember(prior_names()))
      ->capture_default_str();
  eval->add_option("--label", options.labels, "searches to learn from (default: wide, deep)");
  eval->add_flag("--rankings-only", options.rankings_only,
                 "no searches: only how well priors put tried steps in order");
  eval->add_option("--seed", options.seed, "seed of searches and networks")->capture_default_str();
  eval->add_option("--seeds", options.seeds,
                   "times that a method which draws lots searches, with seeds from --seed on; the "
                   "mean of them is told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_training(*eval, options);
  eval->add_option("--output", options.output, "folder for table, JSON and picture");

  CLI::App* report = app.add_subcommand(
      "report", "compares searches that are kept in a work folder, the first with each other one");
  add_sources(*report, options);
  report->add_option("--label", options.labels, "names of the searches")->required();
  report->add_option("--output", options.output, "folder for table, JSON and picture");

  CLI::App* loop = app.add_subcommand(
      "loop",
      "searches and learns in turn; what was learned is kept if it does better on families that "
      "are held out");
  add_sources(*loop, options);
  loop->add_option("--iterations", options.iterations, "times to search and learn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  loop->add_option("--start", options.start,
                   "priors of the first searches: published, flat, or a ReGraph file")
      ->capture_default_str();
  loop->add_option("--folds", options.folds,
                   "families are divided into so many groups; one is held out")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  loop->add_option("--seed", options.seed, "seed of searches and networks")->capture_default_str();
  add_training(*loop, options);
  loop->add_option("--output", options.output, "folder for what is learned and how it did")
      ->required();

  CLI::App* check = app.add_subcommand(
      "check", "looks for nearly the same kernels in families that learning is to be tested apart");
  check->add_option("CORPUS", options.sources, "folder of kernels")->required()->expected(1);
  check
      ->add_option("--work", options.work,
                   "folder with searches of the kernels; what they found is compared, too")
      ->capture_default_str();

  CLI::App* slow = app.add_subcommand(
      "slow", "makes slow variants of kernels with a known way back, to learn from them, too");
  slow->add_option("CORPUS", options.sources, "folder of kernels")->required()->expected(1);
  add_places(*slow, options);
  slow->add_option("--output", options.output, "folder for the variants")->required();
  slow->add_option("--label", options.labels, "searches whose paths are taken (default: all)");

  CLI::App* study = app.add_subcommand("study", "")->group("");
  CLI::App* vary = app.add_subcommand("vary", "")->group("");
  std::string ignored;
  study->add_option("FILE", ignored);
  vary->add_option("FILE", ignored);

  for (CLI::App* searching : {search, slow, loop, eval, study, vary})
    add_fleet_options(*searching, options.fleet);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  export_fleet(options.fleet);
  if (*study) return train_study(program, standard_input(), options.fleet);
  if (*vary) return train_variation(program, standard_input(), options.fleet);
  if (*slow) return write_slow_variants(program, options);
  if (*graph) return train_graph_file(program, options);
  if (*model) return train_policy_file(program, options);
  if (*report) return report_searches(program, options);
  if (*loop) return run_learning_loop(program, options);
  if (*check) return check_corpus(program, options);
  if (*eval) return evaluate_learning(program, options);
  return search_for_training(program, options);
}

}  // namespace
int train_main(int argc, char** argv) {
  return guarded("regraph-train", argc, argv, run);
}

}  // namespace regraph::cli
