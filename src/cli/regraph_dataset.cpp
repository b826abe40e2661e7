// regraph-dataset: data sets of verified slow and fast kernels, for training.
#include "cli/dataset_commands.h"
#include "cli/program.h"
#include "cli/program_mains.h"
#include "cli/standard_input.h"
#include "dataset/data_forms.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace regraph::cli {
namespace {

constexpr const char* kDatasetFooter = R"(Examples:
  regraph-dataset generate --per-family 20 --output kernels
  regraph-dataset build regraph-runs/* --output set
  regraph-dataset build kernels --walks 4 --output set --device h200
  regraph-dataset slowdown fast_kernels --output slowed
  regraph-dataset verify set --sample 50
  regraph-dataset show set 3f2a

Exit codes: 0 done, 1 internal error, 2 usage, 4 nothing could be made of the sources, 5 no device, 8 a pair does
not hold, 130 interrupted. docs/training.md has the whole way from kernels to a trained model.)";

void add_output(CLI::App& app, DatasetOptions& options) {
  app.add_option("--output", options.output, "folder to write; it must be missing or empty")
      ->required();
}

void add_building(CLI::App& app, DatasetOptions& options) {
  add_output(app, options);
  app.add_option("--device", options.device, "GPU that kernels are for")->capture_default_str();
  app.add_option("--evaluator", options.evaluator, "where times come from, as of regraph-search")
      ->capture_default_str();
  app.add_option("--prompts", options.prompts,
                 "folder of prompts that the rows are made with (default: the shipped ones)");
  app.add_option("--work", options.work,
                 "folder for what single sources gave; what is in it is not done again");
  app.add_option("--family", options.family, "family of all kernels (default: folder or name)");
  app.add_flag("--families-by-folder", options.families_by_folder,
               "families of runs are the folders that their kernels lay in (FAMILY/NAME.cu), as of "
               "kernels (default: each kernel is a family of its own)");
  app.add_option("--seed", options.seed, "seed of walks")->capture_default_str();
  app.add_option("--split-seed", options.set.seed, "seed of the division into splits")
      ->capture_default_str();
  app.add_option("--validation", options.set.shares.validation,
                 "share of the families that are for validation")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  app.add_option("--test", options.set.shares.test,
                 "share of the families that are for a last test")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  app.add_option("--title", options.set.title, "name of the set, for the card")
      ->capture_default_str();
  app.add_option("--licence", options.set.licence, "licence of the kernels, for the card")
      ->capture_default_str();
  app.add_option("--form", options.set.forms,
                 fmt::format("forms to write: {}, and {} (default: all)",
                             fmt::join(dataset::kForms, ", "), dataset::kItems));
  app.add_option("--jobs", options.jobs, "sources worked on at once (default: processors)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--no-parquet", options.no_parquet, "JSON lines only");
  app.add_flag("-q,--quiet", options.quiet, "no line a source");
}

int run(int argc, char** argv) {
  const Program program("regraph-dataset", argv[0]);
  DatasetOptions options;
  CLI::App app{"Makes, checks and shows data sets of verified slow and fast kernels.",
               "regraph-dataset"};
  app.footer(kDatasetFooter);
  app.set_version_flag("--version", std::string("regraph-dataset ") + REGRAPH_VERSION);
  app.require_subcommand(1);

  CLI::App* build = app.add_subcommand(
      "build", "pairs of finished runs, of walks from kernels, and of other data sets");
  build
      ->add_option("SOURCES", options.sources,
                   "directories of finished runs, data sets and, with --walks, kernels or folders "
                   "of them")
      ->required();
  add_building(*build, options);
  build->add_option("--walks", options.walks, "random walks of the rewriter from each kernel")
      ->check(CLI::Range(0, 100'000));
  build->add_option("--depth", options.depth, "steps of a walk")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  build
      ->add_option("--judged", options.judged_share,
                   "share of the kernels whose walks are executed; the others give rows for sft "
                   "and rl only, marked as unjudged")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  build
      ->add_option("--task", options.task,
                   "of walks and runs: apply (answers are kernels) or choose (answers name a step)")
      ->check(CLI::IsMember({"apply", "choose"}))
      ->capture_default_str();
  build
      ->add_option(
          "--most-pairs", options.most_pairs,
          "of a run: single steps, and as many kernels that several steps lead to, by gain")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();

  CLI::App* slowdown = app.add_subcommand(
      "slowdown", "verified slow versions of fast kernels, each with the step that repairs it");
  slowdown->add_option("KERNELS", options.sources, "kernels, or folders of them")->required();
  add_building(*slowdown, options);
  slowdown->add_option("--depth", options.depth, "things taken away one after the other")
      ->check(CLI::Range(1, 4))
      ->default_val(2);

  CLI::App* verify = app.add_subcommand("verify", "executes pairs of a data set again");
  std::string folder;
  verify->add_option("FOLDER", folder, "the data set")->required();
  verify->add_option("--sample", options.sample, "pairs to execute (default: all)")
      ->check(CLI::Range(1, 1'000'000));
  verify->add_option("--seed", options.seed, "seed of the sample and of the inputs")
      ->capture_default_str();
  std::string verify_device;
  verify->add_option("--device", verify_device, "GPU (default: that of the pairs)");
  verify->add_option("--evaluator", options.evaluator, "where times come from")
      ->capture_default_str();

  CLI::App* show = app.add_subcommand("show", "a pair with its difference and its evidence");
  show->add_option("FOLDER", folder, "the data set")->required();
  show->add_option("ID", options.id, "of the pair, or its beginning")->required();

  CLI::App* generate =
      app.add_subcommand("generate", "small kernels with manifests, to learn from");
  generate->add_option("--families", options.families, "families (default: all thirty)");
  generate->add_option("--per-family", options.per_family, "kernels of each")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  generate->add_option("--seed", options.seed, "another seed makes other kernels")
      ->capture_default_str();
  add_output(*generate, options);

  CLI::App* unit = app.add_subcommand("unit", "")->group("");
  std::string dash;
  unit->add_option("FILE", dash);
  for (CLI::App* judging : {build, slowdown, unit})
    add_fleet_options(*judging, options.fleet);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  export_fleet(options.fleet);
  if (*unit) return dataset_unit(program, standard_input(), options.fleet);
  if (*build) return dataset_build(program, options);
  if (*slowdown) return dataset_slowdown(program, options);
  if (*generate) return dataset_generate(program, options);
  options.sources = {folder};
  if (*show) return dataset_show(program, options);
  options.device = verify_device;
  return dataset_verify(program, options);
}

}  // namespace
int dataset_main(int argc, char** argv) {
  return guarded("regraph-dataset", argc, argv, run);
}

}  // namespace regraph::cli
