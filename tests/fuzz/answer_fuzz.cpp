// Feeds damaged answers of a language model to their readers. Code that is accepted must be
// accepted again as it is, must not hold what the rules forbid, and a launch must be possible; a
// judge's advice must be short lines of text.
#include "base/utf8.h"
#include "fuzz/mutate.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/code_tokens.h"
#include "llm/prompt/judge_answer.h"
#include "llm/prompt/prompt_library.h"
#include "llm/prompt/sample.h"
#include "regraph/regraph_yaml.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace {

using namespace regraph;       // NOLINT: a program of its own
using namespace regraph::llm;  // NOLINT

namespace sample = regraph::llm::sample;

constexpr std::string_view kWords[] = {
    "```\n",
    "```cuda\n",
    "```json\n",
    "~~~",
    "<think>",
    "</think>",
    "{\"code\": \"",
    "\"launch\"",
    "launch:",
    "// launch: {",
    "block: 32",
    "cdiv(N, bx)",
    "<<<",
    ">>>",
    "asm",
    "#include ",
    "#define A ",
    "\\\n",
    "\?\?=",
    "%:",
    "R\"(",
    ")\"",
    "/*",
    "*/",
    "//",
    "'\"'",
    "__global__ ",
    "main(",
    "__has_include",
    "_Pragma(",
    "#if 1\n",
    "#else\n",
    "#endif\n",
    "##",
    "cudaMalloc",
    "sgemm",
    "float* C",
    "const ",
    "\"step\": ",
    "\"init\"",
    "\\u0000",
    "\xc3\xbc",
    "1024",
    "-1",
    "[[",
    "}}",
};

struct Surroundings {
  Problem problem = sample::problem();
  Candidate base = sample::candidate(problem);
  StepGraph graph = *load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml");
  PromptLibrary library = *PromptLibrary::load(std::string(REGRAPH_SOURCE_DIR) + "/graphs/prompts");
};

std::vector<std::string> code_answers() {
  const std::string launch = "```json\n" + sample::kSwappedLaunch + "\n```\n";
  const nlohmann::json object = {{"code", sample::kSwapped},
                                 {"launch", nlohmann::json::parse(sample::kSwappedLaunch)},
                                 {"notes", "swapped"}};
  return {"<think>swap</think>\nSwapped.\n```cuda\n" + sample::kSwapped + "```\n" + launch,
          object.dump(2),
          "```cpp\n#include <cuda_fp16.h>\n#define TILE \\\n  32\n// launch: " +
              sample::kSwappedLaunch + "\n" + sample::kSwapped + "```\n",
          "```\n" + sample::kExampleAfter + "```\n```cuda\n" + sample::kSwapped + "```\n"};
}

const std::vector<std::string> kAdvice = {
    R"x({"critical_issue": "no barrier", "where": "line 7", "minimal_fix": "__syncthreads()"})x",
    "```json\n{\"bottleneck\": \"uncoalesced\", \"step\": \"coalesce_swap\", "
    "\"change\": \"x, y\"}\n```",
    R"({"steps": [{"step": "smem_tile", "why": "reuse", "parameters": {"depth": 32}},
                  {"step": "New One", "why": ""}]})",
    R"([{"step": "padding", "why": "banks", "parameters": {"pad": "1"}}])",
};

ChatChoice choice_of(std::string text) {
  ChatChoice choice;
  choice.text = std::move(text);
  return choice;
}

void try_code(const Surroundings& all, std::string text, fuzz::Random& random,
              const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  const auto answer = AnswerParser().parse(choice_of(std::move(text)), all.problem, all.base);
  if (!answer) {
    if (answer.error().code != ErrorCode::parse) rounds.fail("another error than parse");
    if (answer.error().message.empty()) rounds.fail("an error without a reason");
    if (find_invalid_utf8(answer.error().message)) rounds.fail("a reason that is no text");
    return;
  }
  if (find_invalid_utf8(answer->source)) rounds.fail("accepted code is no text");
  for (const std::string_view token : code_tokens(answer->source)) {
    for (const std::string_view forbidden :
         {"asm", "__asm__", "<<<", "__has_include", "cudaMalloc", "include_next"}) {
      if (token == forbidden) rounds.fail("accepted: " + std::string(forbidden));
    }
  }
  if (answer->launch && !check_launch_change(*answer->launch, all.problem)) {
    rounds.fail("an impossible launch was accepted");
  }
  nlohmann::json again;
  again["code"] = answer->source;
  const auto same = AnswerParser().parse(choice_of(again.dump()), all.problem, all.base);
  const bool only_launch = !same && same.error().message.substr(0, 11) == "nothing was";
  if (!same && !only_launch) rounds.fail("refused the second time: " + same.error().message);
  if (same && same->source != answer->source) rounds.fail("read twice, different codes");
}

bool is_short_line(const std::string& text) {
  return text.size() <= 600 && text.find('\n') == std::string::npos && !find_invalid_utf8(text);
}

void try_advice(const Surroundings& all, std::string text, fuzz::Random& random,
                const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  const ChatChoice choice = choice_of(std::move(text));
  const auto schema = [&](PromptKind kind) -> const JsonSchema& {
    return *all.library.prompt(kind).schema;
  };
  if (const auto advice = parse_correction(choice, schema(PromptKind::judge_correction))) {
    if (!is_short_line(advice->critical_issue) || !is_short_line(advice->where) ||
        !is_short_line(advice->minimal_fix)) {
      rounds.fail("a correction that is no line");
    }
  }
  if (const auto advice =
          parse_optimisation(choice, schema(PromptKind::judge_optimisation), all.graph)) {
    if (advice->step.id.empty() || !is_short_line(advice->change)) rounds.fail("no advice");
  }
  const auto steps = parse_steps(choice, schema(PromptKind::propose), all.graph, 4);
  if (!steps) return;
  if (steps->size() > 4) rounds.fail("more steps than asked for");
  for (const NamedStep& step : *steps) {
    const bool known = all.graph.find(step.id) != nullptr;
    if (step.id.empty() || step.id == "init" || known == step.is_new) rounds.fail("a wrong id");
    if (step.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
      rounds.fail("an id that is none: " + step.id);
    if (!is_short_line(step.why) || !is_short_line(step.name)) rounds.fail("a long name");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Surroundings all;
  const std::vector<std::string> codes = code_answers();
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  return rounds.run([&](fuzz::Random& random) {
    if (random() % 3 == 0) {
      return try_advice(all, kAdvice[random() % kAdvice.size()], random, rounds);
    }
    return try_code(all, codes[random() % codes.size()], random, rounds);
  });
}
