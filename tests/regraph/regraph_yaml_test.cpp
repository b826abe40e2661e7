#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

namespace regraph::regraph_yaml_test {
namespace {

const std::string kShipped = std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml";

std::string step_text(const std::string& extra) {
  return "format: regraph/1\n"
         "steps:\n"
         "  - id: a\n"
         "    name: step a\n"
         "    what: w\n"
         "    legality: l\n"
         "    instruction: i\n" +
         extra;
}

std::string message_for(const std::string& text) {
  const Result<StepGraph> graph = parse_regraph(text, "g.yaml");
  if (graph) return "accepted";
  EXPECT_EQ(graph.error().code, ErrorCode::parse);
  return graph.error().message;
}

TEST(RegraphYaml, ShippedGraphIsComplete) {
  const Result<StepGraph> graph = load_regraph(kShipped);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_GE(graph->steps().size(), 40U);
  std::set<std::string_view> targets;
  for (const auto& view : graph->transitions())
    targets.insert(view.to);
  std::set<std::string> rewriter;
  for (const Step* step : graph->steps()) {
    EXPECT_TRUE(targets.contains(step->id)) << step->id << " can never follow anything";
    EXPECT_FALSE(step->evidence.empty()) << step->id;
    EXPECT_GE(step->instruction.size(), 60U) << step->id;
    if (step->rewriter) rewriter.insert(step->id);
  }
  // That the flags agree with what is implemented is for the rewriter's tests, which see both.
  const std::set<std::string> first = {
      "coalesce_swap", "block_size",  "thread_coarsen", "smem_tile",     "smem_transpose",
      "smem_pad",      "loop_unroll", "restrict_ldg",   "launch_bounds", "reduce_shuffle"};
  for (const std::string& id : first)
    EXPECT_TRUE(rewriter.contains(id)) << id;
  EXPECT_EQ(graph->find_by_any_name("Memory Coalescing"), graph->find("coalesce_swap"));
  EXPECT_EQ(graph->find_by_any_name("online-softmax"), graph->find("online_fusion"));
}

// A step that wants shared memory is not for a kernel without, one that wants Hopper's not for
// less.
TEST(RegraphYaml, ShippedGraphKnowsWhereAStepHasNothingToDo) {
  const Result<StepGraph> graph = load_regraph(kShipped);
  ASSERT_TRUE(graph);
  const auto impossible = [&](const Facts& facts) {
    std::set<std::string> ids;
    for (const Step* step : graph->steps()) {
      if (!step->possible(facts)) ids.insert(step->id);
    }
    return ids;
  };
  using Ids = std::set<std::string>;
  EXPECT_EQ(impossible({}), Ids());
  EXPECT_EQ(impossible({{"compute_capability", 9.0}}), Ids());
  EXPECT_EQ(impossible({{"compute_capability", 8.9}}), Ids({"tma_load", "wgmma"}));
  EXPECT_EQ(impossible({{"compute_capability", 10.0}}), Ids({"wgmma"}));
  EXPECT_EQ(impossible({{"barriers_per_warp", 0.0}}),
            Ids({"barrier_relax", "double_buffer", "reduce_first_add", "reduce_sequential",
                 "reduce_shuffle", "untile", "warp_specialize"}));
  EXPECT_EQ(impossible({{"global_sectors_over_ideal", 1.0}}),
            Ids({"coalesce_swap", "layout_soa", "smem_transpose"}));
  EXPECT_EQ(impossible({{"limited_by_registers", 0.0}}), Ids({"launch_bounds"}));
  EXPECT_EQ(impossible({{"accumulation_chains", 8.0}}), Ids({"multi_accumulator"}));
  EXPECT_EQ(impossible({{"accumulated_product_share", 0.0}}),
            Ids({"implicit_gemm", "skinny_gemm", "tensor_core", "wgmma"}));
  EXPECT_EQ(impossible({{"global_load_bytes_per_thread", 16.0}}),
            Ids({"slp_vectorize", "vectorize_global"}));
}

TEST(RegraphYaml, ShippedGraphSurvivesSavingAndLoading) {
  const Result<StepGraph> graph = load_regraph(kShipped);
  ASSERT_TRUE(graph);
  const auto path = std::filesystem::temp_directory_path() /
                    ("regraph_yaml_test_" + std::to_string(std::random_device{}()) + ".yaml");
  ASSERT_TRUE(save_regraph(*graph, path));
  const Result<StepGraph> again = load_regraph(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == *graph);
}

TEST(RegraphYaml, ErrorsNameFileLineAndCause) {
  EXPECT_EQ(message_for(step_text("    colour: red\n")), "g.yaml:8: step: unknown key 'colour'");
  EXPECT_EQ(message_for(step_text("    needs: [luck]\n")),
            "g.yaml:8: step 'a': 'luck' is nothing that a manifest's assume grants");
  EXPECT_EQ(message_for(step_text("    evidence: [{fact: moon, op: '<', value: 1}]\n")),
            "g.yaml:8: step 'a': evidence: unknown fact 'moon'");
  EXPECT_EQ(message_for(step_text("    evidence: [{fact: waves, op: '=', value: 1}]\n")),
            "g.yaml:8: step 'a': evidence: unknown operator '=' (use <, <=, > or >=)");
  EXPECT_EQ(message_for(step_text("    evidence: [{fact: waves, op: '<', value: x}]\n")),
            "g.yaml:8: step 'a': evidence: value must be a number");
  EXPECT_EQ(message_for(step_text("    evidence: [{fact: waves, op: '<', value: 1, weight: 0}]\n")),
            "g.yaml:8: step 'a': evidence: weight must be positive");
  EXPECT_EQ(message_for(step_text(
                "    evidence: [{fact: waves, op: '<', value: 1, weight: 0, required: true}]\n")),
            "accepted");
  EXPECT_EQ(
      message_for(step_text("    evidence: [{fact: waves, op: '<', value: 1, required: 2}]\n")),
      "g.yaml:8: step 'a': evidence: required must be true or false");
  EXPECT_EQ(message_for(step_text("    evidence: [{fact: waves, op: '<'}]\n")),
            "g.yaml:8: step 'a': evidence: missing field 'value'");
  EXPECT_EQ(message_for(step_text("transitions:\n  - {from: init, to: b, gain: 2}\n")),
            "g.yaml:9: transition init -> b: unknown step 'b'");
  EXPECT_EQ(message_for(step_text("transitions:\n  - {from: init, to: a}\n")),
            "g.yaml:9: transition init -> a: missing field 'gain'");
  EXPECT_EQ(message_for(step_text("transitions:\n  - {from: init, to: a, gain: -2}\n")),
            "g.yaml:9: transition init -> a: the gain must be a positive factor");
  EXPECT_EQ(message_for(step_text("  - {id: a, name: x, what: w, legality: l, instruction: i}\n")),
            "g.yaml:8: duplicate step id 'a'");
  EXPECT_EQ(
      message_for(step_text("  - {id: b, name: Step-A, what: w, legality: l, instruction: i}\n")),
      "g.yaml:8: step 'b': duplicate alias 'Step-A', it already names step 'a'");
  EXPECT_EQ(message_for("format: regraph/1\nsteps:\n  - name: x\n"),
            "g.yaml:3: step: missing field 'id'");
  EXPECT_EQ(message_for("format: regraph/9\nsteps: []\n"),
            "g.yaml:1: unknown format, this version reads 'regraph/1'");
  EXPECT_EQ(message_for("a: b: c\n").substr(0, 9), "g.yaml:1:");
  EXPECT_EQ(message_for("").substr(0, 9), "g.yaml:1:");
  EXPECT_EQ(load_regraph("/nonexistent/graph.yaml").error().code, ErrorCode::not_found);
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {
      "a",  "Z", "0", " ", "\n",   "\t",  "\"",   "'", ":",  "#",  "- ", "{", "}",
      "\\", "é", "→", "~", "null", "1e5", "\x01", "%", "&x", "*x", "|",  ">"};
  std::string text;
  for (auto length = random() % 12; length > 0; --length)
    text += kPieces[random() % kPieces.size()];
  return text;
}

LearnedGains random_gains(std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  LearnedGains gains;
  for (const TimeMethod method : {TimeMethod::predicted, TimeMethod::measured}) {
    for (auto devices = random() % 3; devices > 0; --devices) {
      GainStatistics& entry = gains.by(method)["gpu " + random_text(random)];
      entry.families = 1 + static_cast<std::int64_t>(random() % 9);
      entry.kernels = entry.families + static_cast<std::int64_t>(random() % 9);
      entry.observations = entry.kernels + static_cast<std::int64_t>(random() % 9);
      entry.tries = entry.observations + static_cast<std::int64_t>(random() % 9);
      entry.verified = entry.tries - static_cast<std::int64_t>(random() % 2);
      entry.sum_positive = unit(random);
      entry.sum_log_gain = entry.verified > 0 ? unit(random) - 0.3 : 0.0;
    }
  }
  return gains;
}

std::vector<TransitionExample> random_examples(std::mt19937& random) {
  std::vector<TransitionExample> examples;
  for (auto count = random() % 4; count > 0; --count) {
    TransitionExample example;
    example.before = "before" + random_text(random);
    example.after = "after" + random_text(random);
    example.log_gain = 1e-3 + std::generate_canonical<double, 53>(random);
    example.method = random() % 2 == 0 ? TimeMethod::measured : TimeMethod::predicted;
    example.device = random_text(random);
    example.name = random_text(random);
    example.kernel = "kernel" + random_text(random);
    example.family = std::to_string(count) + random_text(random);
    example.run = random_text(random);
    examples.push_back(std::move(example));
  }
  return examples;
}

StepGraph random_graph(std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  StepGraph graph;
  std::vector<std::string> ids = {"init"};
  for (auto count = random() % 8; count > 0; --count) {
    Step step;
    step.id = "step" + std::to_string(count) + random_text(random);
    step.name = "name" + std::to_string(count) + random_text(random);
    if (random() % 2 == 0) step.aliases = {"alias" + std::to_string(count) + random_text(random)};
    step.what = random_text(random);
    step.legality = random_text(random);
    step.instruction = random_text(random);
    step.rewriter = random() % 2 == 0;
    step.candidate = random() % 4 == 0;
    step.learned = random_gains(random);
    if (random() % 3 == 0) step.needs = {"fast_math", "noalias"};
    for (auto number = random() % 3; number > 0; --number) {
      step.parameters["p" + random_text(random)] = {random_text(random), "2"};
      step.evidence.push_back({std::string(kFactDescriptions[random() % 30].name),
                               static_cast<Comparison>(random() % 4), std::tan(3.0 * unit(random)),
                               unit(random) + 1e-3, random() % 2 == 0});
    }
    std::string id = step.id;
    if (graph.add_step(std::move(step))) ids.push_back(std::move(id));
  }
  if (random() % 2 == 0) graph.set_learned_from("table " + random_text(random));
  for (int attempt = 0; attempt < 20; ++attempt) {
    Transition transition;
    transition.expected_speedup = std::exp(3.0 * unit(random) - 1.0);
    transition.prior_weight = unit(random);
    transition.learned = random_gains(random);
    const std::string from = ids[random() % ids.size()];
    const std::string to = ids[random() % ids.size()];
    static_cast<void>(graph.add_transition(from, to, std::move(transition)));
    static_cast<void>(graph.set_examples(from, to, random_examples(random)));
  }
  return graph;
}

// Property: saving and loading loses nothing, not the last bit of a sum nor a character of a text.
TEST(RegraphYaml, RandomGraphsSurviveSavingAndLoading) {
  std::mt19937 random(5);
  std::size_t examples = 0;
  for (int round = 0; round < 200; ++round) {
    const StepGraph graph = random_graph(random);
    const Result<StepGraph> again = parse_regraph(regraph_text(graph), "round trip");
    ASSERT_TRUE(again) << again.error().message << "\n" << regraph_text(graph);
    ASSERT_TRUE(*again == graph) << "round " << round << "\n" << regraph_text(graph);
    for (const auto& view : graph.transitions())
      examples += view.transition.examples.size();
  }
  EXPECT_GT(examples, 100U);
}

std::string with_examples(const std::string& examples) {
  return step_text("transitions:\n  - from: init\n    to: a\n    gain: 2\n    examples:\n" +
                   examples);
}

TEST(RegraphYaml, DamagedExamplesAreRefused) {
  const auto example = [](const std::string& family, const std::string& after,
                          const std::string& more) {
    return "      - {name: f, kernel: k, run: r, device: h200, family: " + family +
           ", before: b, after: " + after + ", " + more + "}\n";
  };
  const std::string rest = "method: predicted, log_gain: 0.5";
  EXPECT_EQ(message_for(with_examples(example("map", "c", rest))), "accepted");
  EXPECT_EQ(message_for(with_examples(example("map", "c", "method: guessed, log_gain: 0.5"))),
            "g.yaml:13: transition init -> a: example: unknown way of timing 'guessed'");
  EXPECT_EQ(message_for(with_examples(example("map", "c", "log_gain: 0.5"))),
            "g.yaml:13: transition init -> a: example: missing field 'method'");
  EXPECT_EQ(message_for(with_examples(example("map", "c", rest + ", colour: red"))),
            "g.yaml:13: transition init -> a: example: unknown key 'colour'");
  EXPECT_EQ(message_for(with_examples(example("map", "c", "method: predicted, log_gain: .nan"))),
            "g.yaml:13: transition init -> a: example: log_gain must be finite");
  EXPECT_EQ(message_for(with_examples(example("map", "c", "method: predicted, log_gain: -1"))),
            "g.yaml:13: transition init -> a: an example must have gained something");
  EXPECT_EQ(message_for(with_examples(example("map", "b", rest))),
            "g.yaml:13: transition init -> a: an example's step changed nothing");
  EXPECT_EQ(message_for(with_examples(example("map", "c", rest) + example("map", "d", rest))),
            "g.yaml:13: transition init -> a: two examples of one family");
  std::string many;
  for (const char* family : {"one", "two", "three", "four"})
    many += example(family, "c", rest);
  EXPECT_EQ(message_for(with_examples(many)), "g.yaml:13: transition init -> a: too many examples");
  EXPECT_EQ(message_for(with_examples("      7\n")),
            "g.yaml:13: transition init -> a: examples must be a list");
}

// Any bytes give a graph or an error with a position; nothing throws, crashes or hangs.
TEST(RegraphYaml, SurvivesMutations) {
  std::ifstream file(kShipped);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string shipped = stream.str();
  const std::size_t steps_end = shipped.find("  - id: grid_stride");
  ASSERT_NE(steps_end, std::string::npos);
  const std::string seed_text = shipped.substr(0, steps_end) + "transitions:\n" +
                                "  - {from: init, to: block_size, gain: 1.1, weight: 1}\n";
  ASSERT_TRUE(parse_regraph(seed_text, "seed"));
  std::mt19937 random(13);
  const std::string alphabet = std::string("\n\t :-{}[],&*!|>'\"%@`#?0aZ\\\xff") + '\0';
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = seed_text;
    for (auto edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
        case 2:
          text.erase(at, 1 + random() % 40);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), 1 + random() % 60));
          break;
      }
    }
    const Result<StepGraph> graph = parse_regraph(text, "fuzz");
    if (graph) {
      ++accepted;
    } else {
      EXPECT_EQ(graph.error().message.rfind("fuzz:", 0), 0U) << graph.error().message;
    }
  }
  EXPECT_GT(accepted, 100);   // edits inside prose
  EXPECT_LT(accepted, 1400);  // edits of structure
}

TEST(RegraphYaml, SurvivesDeepNestingAndAliases) {
  EXPECT_FALSE(parse_regraph(std::string(100000, '['), "deep"));
  EXPECT_FALSE(parse_regraph(std::string(20000, '{'), "deep"));
  EXPECT_FALSE(parse_regraph("&a [*a, *a]", "cycle"));
  EXPECT_FALSE(parse_regraph("format: regraph/1\nsteps: &s [*s]\n", "cycle"));
}

}  // namespace
}  // namespace regraph::regraph_yaml_test
