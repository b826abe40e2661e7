#include "agent/tool_list.h"

#include <array>

namespace regraph::agent {

namespace {

constexpr std::string_view kOpenSchema =
    R"json({"type": "object", "additionalProperties": false, "properties": {
  "source": {"type": "string", "description": "CUDA C++ text with the kernel; host code may stand in it"},
  "file": {"type": "string", "description": "instead of source: a .cu file in the workspace, by its name there"},
  "manifest": {"type": "string", "description": "problem manifest, YAML: sizes, args, launch, tests (docs/manifest.md); what it leaves out is inferred from the source. Default: FILE.regraph.yaml beside the file, or the first comment of the source"},
  "kernel": {"type": "string", "maxLength": 1000, "description": "which kernel of the source, e.g. scale or scale<float, 4>"},
  "sizes": {"type": "object", "maxProperties": 64, "additionalProperties": {"type": "integer"}, "description": "sizes to be fast at, e.g. {\"N\": 4096}"},
  "defines": {"type": "object", "maxProperties": 64, "additionalProperties": {"type": "string", "maxLength": 1000}, "description": "macros for the source, e.g. {\"TILE\": \"16\"}"},
  "block": {"type": "string", "maxLength": 40, "description": "block of the original launch, e.g. 32x8"},
  "launch_line": {"type": "integer", "description": "line of the launch that is meant, where the source launches the kernel in several ways"},
  "device": {"type": "string", "maxLength": 64, "description": "GPU to optimise for, e.g. h200, a100 or sm_90; default: as the server was started"},
  "evaluator": {"type": "string", "enum": ["auto", "model", "gpu", "gpu-only"], "description": "where times come from; default: as the server was started"}}})json";

// Of those that take a candidate.
constexpr std::string_view kCandidateSchema =
    R"json({"type": "object", "additionalProperties": false, "required": ["problem"], "properties": {
  "problem": {"type": "string", "maxLength": 64, "description": "id that open_problem gave"},
  "source": {"type": "string", "description": "CUDA C++ device code; the kernel keeps its name and parameters. Default: the original"},
  "file": {"type": "string", "description": "instead of source: a file in the workspace"},
  "launch": {"type": "object", "additionalProperties": false, "properties": {
    "block": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "integer"}, "description": "threads of a block, e.g. [32, 8]"},
    "grid": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "maxLength": 500}, "description": "blocks, expressions of sizes and bx, by, bz, e.g. [\"cdiv(N, bx)\"]"},
    "smem": {"type": "string", "maxLength": 500, "description": "bytes of dynamic shared memory, an expression"}},
    "description": "how it is launched; default: as the original"}}})json";

constexpr std::string_view kScoreSchema =
    R"json({"type": "object", "additionalProperties": false, "required": ["problem"], "properties": {
  "problem": {"type": "string", "maxLength": 64, "description": "id that open_problem gave"},
  "source": {"type": "string", "description": "CUDA C++ device code; the kernel keeps its name and parameters. Default: the original"},
  "file": {"type": "string", "description": "instead of source: a file in the workspace"},
  "launch": {"type": "object", "additionalProperties": false, "properties": {
    "block": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "integer"}, "description": "threads of a block, e.g. [32, 8]"},
    "grid": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "maxLength": 500}, "description": "blocks, expressions of sizes and bx, by, bz, e.g. [\"cdiv(N, bx)\"]"},
    "smem": {"type": "string", "maxLength": 500, "description": "bytes of dynamic shared memory, an expression"}},
    "description": "how it is launched; default: as the original"},
  "depth": {"type": "string", "enum": ["once", "whole"], "description": "once: a first look, a claim that nothing confirms; whole: verified a second time with fresh inputs and, on a GPU, timed interleaved with the original in fresh processes. Default: whole"}}})json";

constexpr std::string_view kApplySchema =
    R"json({"type": "object", "additionalProperties": false, "required": ["problem", "step"], "properties": {
  "problem": {"type": "string", "maxLength": 64, "description": "id that open_problem gave"},
  "source": {"type": "string", "description": "CUDA C++ device code that the step is applied to. Default: the original"},
  "file": {"type": "string", "description": "instead of source: a file in the workspace"},
  "launch": {"type": "object", "additionalProperties": false, "properties": {
    "block": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "integer"}, "description": "threads of a block, e.g. [32, 8]"},
    "grid": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "maxLength": 500}, "description": "blocks, expressions of sizes and bx, by, bz, e.g. [\"cdiv(N, bx)\"]"},
    "smem": {"type": "string", "maxLength": 500, "description": "bytes of dynamic shared memory, an expression"}},
    "description": "how the source is launched; default: as the original"},
  "step": {"type": "string", "minLength": 1, "maxLength": 120, "description": "name of the step, as propose_steps gives it, e.g. smem_tile"},
  "parameters": {"type": "object", "maxProperties": 16, "additionalProperties": {"type": "string", "maxLength": 200}, "description": "its parameters, as propose_steps gives them, e.g. {\"factor\": \"4\", \"loop\": \"1\"}"}}})json";

constexpr std::string_view kSearchSchema =
    R"json({"type": "object", "additionalProperties": false, "required": ["problem"], "properties": {
  "problem": {"type": "string", "maxLength": 64, "description": "id that open_problem gave"},
  "evaluations": {"type": "integer", "description": "candidates to evaluate at most; default 30"},
  "seed": {"type": "integer", "description": "of everything random; default 1"}}})json";

constexpr Tool kOpen{"open_problem", "Open a kernel",
                     "Opens a CUDA kernel to be made faster: compiles it, works out sizes, "
                     "arguments and launch, verifies it and times it. "
                     "Returns the problem's id for all other tools, the device code to start from, "
                     "the original's time and what limits it. "
                     "Where something cannot be inferred, returns what is missing and the manifest "
                     "to complete: call again with it.",
                     kOpenSchema};

constexpr std::array kReGraphTools = {
    kOpen,
    Tool{"compile", "Compile a candidate",
         "Compiles a candidate: the compiler's log where it is rejected, else registers, shared "
         "memory and spills. Fast; "
         "says nothing of the result.",
         kCandidateSchema},
    Tool{"verify", "Verify a candidate",
         "Says whether a candidate computes what the original does, on several sizes and inputs, "
         "with out-of-bounds "
         "accesses, races and barriers checked; else the verdict and where it went wrong.",
         kCandidateSchema},
    Tool{"profile", "Profile a candidate",
         "Times a candidate and says what limits it: time with interval (measured on a GPU or "
         "predicted), bottleneck, "
         "roofline, and facts such as sectors per request, bank conflicts, occupancy.",
         kCandidateSchema},
    Tool{"score", "Compare with the original",
         "Verifies a candidate and compares its time with the original's: speedup with its "
         "interval, and whether it is "
         "faster beyond the uncertainty. This is the judgement that counts.",
         kScoreSchema},
    Tool{"propose_steps", "Propose optimization steps",
         "Lists the optimization steps that the built-in rewriter can legally apply to a "
         "candidate, with parameters and "
         "prior probability, and why others are refused. apply_step applies one.",
         kCandidateSchema},
    Tool{"apply_step", "Apply an optimization step",
         "Lets the built-in rewriter apply one step: returns the new source and launch, or the "
         "reason for which the step "
         "is not legal there. The result is not judged yet: score it.",
         kApplySchema},
    Tool{"search", "Search for a faster kernel",
         "Searches for a faster kernel by itself (Monte Carlo graph search over the steps). "
         "Returns the best source, its "
         "launch, the speedup and the steps that led there. Takes from seconds to minutes.",
         kSearchSchema, false},
};

constexpr std::array kTritonGymTools = {
    kOpen,
    Tool{"compile", "Compile", "Compiles a candidate. Reward: -10 where it is rejected, else 0.",
         kCandidateSchema},
    Tool{"verify", "Verify",
         "Compares a candidate's results with the original's. Reward: -10 where it does not "
         "compile, -5 where it is wrong, else 0.",
         kCandidateSchema},
    Tool{"profile", "Profile",
         "Verifies and times a candidate. Reward: -10 where it does not compile, -5 where it is "
         "wrong, else max(0, 10 / milliseconds).",
         kCandidateSchema},
};

}  // namespace

std::span<const Tool> tools_of(Interface interface) {
  if (interface == Interface::triton_gym) return kTritonGymTools;
  return kReGraphTools;
}

std::string instructions_of(Interface interface) {
  if (interface == Interface::triton_gym) {
    return "open_problem first, with a CUDA kernel; then compile, verify and profile candidates of "
           "it. Each answers with a reward.";
  }
  return "ReGraph judges and improves CUDA kernels. open_problem first: it returns an id and the "
         "device code to start from. Then write candidates yourself and score them (the kernel "
         "keeps its name and parameters; give 'launch' where block or grid change), or let the "
         "rewriter work: propose_steps, apply_step, search. profile says what limits a kernel. A "
         "candidate counts as faster only where score says equal and faster.";
}

}  // namespace regraph::agent
