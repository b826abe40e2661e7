// Feeds damaged answers of a language model to their readers. Code that is accepted must be
// accepted again as it is, must not hold what the rules forbid, and a launch must be possible;
// edits change the lines they name and no others; a reason to decline and a judge's advice are
// short lines of text; what was not shown of a file, which may be damaged as well, comes back whole
// or not at all.
#include "base/utf8.h"
#include "fuzz/mutate.h"
#include "llm/prompt/answer_edits.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/choice_and_code.h"
#include "llm/prompt/code_tokens.h"
#include "llm/prompt/judge_answer.h"
#include "llm/prompt/prompt_library.h"
#include "llm/prompt/sample.h"
#include "llm/prompt/step_answer.h"
#include "regraph/combined_steps.h"
#include "regraph/regraph_yaml.h"
#include "source/relevant_part.h"

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
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
    "    float sum = 0.0f;\n",
    "DECLINE: ",
    "\"declined\": ",
    "#define TILE 8\n",
    "#undef TILE\n",
    "__device__ float other(float x);\n",
    "namespace a {\n",
    "\n",
    "{",
    "}",
};

// The kernel of the sample among what has nothing to do with it.
const std::string kCrowded =
    "// Copyright of nobody\n\n#define TILE 16\n#define SQUARE(x) ((x) * (x))\n"
    "struct Unused {\n  int x;\n};\n__constant__ float table[TILE];\n"
    "namespace a {\n__device__ float other(float x) { return SQUARE(x); }\n}\n"
    "#ifdef OLD\n__global__ void old(float* x) { x[0] = a::other(TILE); }\n#endif\n" +
    sample::kSource + "extern \"C\" __global__ void last(Unused* u) { u->x = table[0]; }\n";

struct Surroundings {
  Problem problem = sample::problem();
  Candidate base = sample::candidate(problem);
  StepGraph graph = *load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml");
  PromptLibrary library = *PromptLibrary::load(std::string(REGRAPH_SOURCE_DIR) + "/graphs/prompts");
};

const std::string kEdits =
    "<<<<<<< SEARCH\n    float sum = 0.0f;\n=======\n    float sum = 0;\n>>>>>>> REPLACE\n"
    "<<<<<<< SEARCH\n      sum += A[row * K + k] * B[k * N + col];\n    }\n=======\n"
    "      sum = A[row * K + k] * B[k * N + col] + sum;\n    }\n>>>>>>> REPLACE\n";

std::vector<std::string> code_answers() {
  const std::string launch = "```json\n" + sample::kSwappedLaunch + "\n```\n";
  const nlohmann::json object = {{"code", sample::kSwapped},
                                 {"launch", nlohmann::json::parse(sample::kSwappedLaunch)},
                                 {"notes", "swapped"}};
  return {"<think>swap</think>\nSwapped.\n```cuda\n" + sample::kSwapped + "```\n" + launch,
          object.dump(2),
          "```cpp\n#include <cuda_fp16.h>\n#define TILE \\\n  32\n// launch: " +
              sample::kSwappedLaunch + "\n" + sample::kSwapped + "```\n",
          "```\n" + sample::kExampleAfter + "```\n```cuda\n" + sample::kSwapped + "```\n",
          "```cuda\n" + kEdits + "```\n" + launch,
          "Two edits.\n" + kEdits,
          nlohmann::json({{"code", kEdits}, {"notes", "edits"}}).dump(2),
          "Each element is read once.\n\n**DECLINE:** there is\nno reuse\n",
          R"({"declined": "there is no reuse"})",
          "DECLINE: no\n```cuda\n" + sample::kSwapped + "```\n"};
}

const std::vector<std::string> kAdvice = {
    R"x({"critical_issue": "no barrier", "where": "line 7", "minimal_fix": "__syncthreads()"})x",
    R"({"bottleneck": "uncoalesced", "step": "coalesce_swap", "change": "x, y"})",
    R"({"steps": [{"step": "smem_tile", "why": "reuse", "parameters": {"depth": 32}},
                  {"step": "New One", "why": ""}]})",
    R"([{"step": "padding", "why": "banks", "parameters": {"pad": "1"}}])",
    R"({"steps": [{"step": "leap", "why": "together", "plan": ["smem_tile", "pad the tile", "leap"],
                   "parameters": []},
                  {"step": "combine", "why": "both", "plan": [],
                   "parameters": [{"name": "with", "value": "17"}]}]})",
};

// A choice with the first of its steps applied.
const std::string kTogether =
    "```steps\n{\"steps\": [{\"step\": \"smem_tile\", \"why\": "
    "\"reuse\"}]}\n```\nTiled.\n```cuda\n" +
    sample::kSwapped + "```\n```json\n" + sample::kSwappedLaunch + "\n```\n";

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
  if (answer->declined) {
    const bool is_line = answer->declined->size() <= 300 && !answer->declined->empty() &&
                         answer->declined->find('\n') == std::string::npos;
    if (!is_line || find_invalid_utf8(*answer->declined)) rounds.fail("a reason that is no line");
    if (!answer->source.empty() || answer->launch) rounds.fail("a decline with code");
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
  if (!same) rounds.fail("refused the second time: " + same.error().message);
  // Without its launch it may be as it was.
  if (!same->declined && same->source != answer->source) rounds.fail("read twice, different codes");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Whatever the edits are: lines are taken out and put in, and all others stay in order.
void try_edits(std::string text, fuzz::Random& random, const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  std::string shown = sample::kSource;
  if (random() % 2 == 0) fuzz::damage(shown, random, kWords);
  if (!holds_edits(text)) {
    if (read_edits(text)) rounds.fail("edits in a text without any");
    return;
  }
  const auto read = read_edits(text);
  const auto edited = read ? apply_edits(shown, read->edits) : Result<std::string>(read.error());
  if (!edited) {
    const std::string& reason = edited.error().message;
    if (reason.empty() || edited.error().code != ErrorCode::parse) rounds.fail("no reason");
    return;
  }
  std::size_t removed = 0;
  std::size_t added = 0;
  for (const CodeEdit& edit : read->edits) {
    removed += lines_of(edit.search).size();
    added += lines_of(edit.replace).size();
    if (edit.search.empty() || edit.search == edit.replace) rounds.fail("an edit that is none");
  }
  // The last line of what is shown may have no end, and then what follows it would go on.
  if (shown.ends_with('\n') && lines_of(*edited).size() != lines_of(shown).size() - removed + added)
    rounds.fail("other lines were changed");
}

// Damaged files and answers.
void try_part(fuzz::Random& random, const fuzz::Rounds& rounds) {
  std::string file = kCrowded;
  if (random() % 3 != 0) fuzz::damage(file, random, kWords);
  const std::vector<std::string> kernels = {"sgemm"};
  const source::RelevantPart part = source::relevant_part(file, kernels);
  const auto same = source::put_back(part, part.shown);
  if (!same || !same_tokens(*same, file)) rounds.fail("not put back: " + file);
  if (part.shown.size() > part.whole.size() + 1) rounds.fail("more is shown than there is");
  std::string answer = part.shown;
  fuzz::damage(answer, random, kWords);
  const auto whole = source::put_back(part, answer);
  if (!whole || part.is_whole() || same_tokens(answer, part.shown)) return;
  if (whole->find(answer) == std::string::npos) rounds.fail("the answer was changed");
  if (!whole->ends_with(part.left_out)) rounds.fail("something was lost");
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
    if (step.plan.size() == 1 || step.plan.size() > kLongestPlan) rounds.fail("no plan");
    if (step.plan.empty() != (step.id != kLeap)) rounds.fail("a plan of something else");
    std::vector<std::string> ids;
    for (const NamedStep& planned : step.plan) {
      if (planned.id == kLeap || planned.id == kCombine || planned.id.empty())
        rounds.fail("no step of a plan");
      ids.push_back(planned.id);
    }
    StepProposal leap;
    leap.step = kLeap;
    leap.parameters[kPlan] = plan_text(ids);
    if (planned_steps(leap) != ids) rounds.fail("a plan that does not come back");
  }
}

// The list and the code of an answer that holds both: nothing is in two of them.
void try_together(std::string text, fuzz::Random& random, const fuzz::Rounds& rounds) {
  fuzz::damage(text, random, kWords);
  const auto split = split_choice(choice_of(text));
  if (!split) {
    if (split.error().message.empty()) rounds.fail("no reason");
    return;
  }
  const std::size_t parts = split->steps.text.size() + (split->code ? split->code->text.size() : 0);
  if (parts > text.size()) rounds.fail("more than there was");
  if (split->code && split->code->text.find_first_not_of(" \t\r\n") == std::string::npos)
    rounds.fail("code that is none");
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
    if (random() % 8 == 0) return try_together(kTogether, random, rounds);
    if (random() % 4 == 0) return try_part(random, rounds);
    if (random() % 6 == 0) return try_edits("Two edits.\n" + kEdits, random, rounds);
    return try_code(all, codes[random() % codes.size()], random, rounds);
  });
}
