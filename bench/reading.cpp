// How much of strangers' kernels the rewriter can read: for every kernel of the files, whether it
// has a form without opaque code and how many steps apply to it as it stands. Nothing is verified,
// so that a thousand kernels take minutes.
//
//   reading [--gate] [--keep FOLDER] [--include FOLDER]... FILE.cu...
//
// A line a kernel: file, kernel, what it is (readable, opaque, refused), number of proposals, why
// not; then the counts. With --gate a kernel counts as readable only where what is printed of its
// form compiles to the same PTX; the proposals of the others are for the kernel as it stands, with
// nothing taken apart, if that passes. --keep leaves the texts of what does not. What the source
// does not tell of launch and lengths is made up.
#include "base/files.h"
#include "eval/compile/same_code.h"
#include "rewrite/ast_rewriter.h"
#include "rewrite/candidate_state.h"
#include "session/choose_device.h"
#include "session/infer_problem.h"
#include "session/installation.h"
#include "session/problem_source.h"
#include "session/toolchain.h"
#include "source/analysis.h"
#include "source/extract.h"
#include "source/lexer.h"
#include "source/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace regraph;

struct Options {
  bool gate = false;
  std::string keep;
  std::vector<std::string> include_directories;
  std::vector<std::string> files;
};

struct Reading {
  std::string state;  // readable, opaque or refused
  std::size_t proposals = 0;
  std::string why;
};

// The names behind `__global__`, in order, each once.
std::vector<std::string> kernels_of(const std::string& text) {
  std::vector<std::string> names;
  std::string last;
  bool is_head = false;
  int depth = 0;  // of the parentheses of __launch_bounds__
  for (const source::Token& token : source::tokenize(text)) {
    const std::string word(token.in(text));
    if (word == "__global__") {
      is_head = true;
      last.clear();
    } else if (is_head && (word == "(" || depth > 0)) {
      if (last != "__launch_bounds__") {
        is_head = false;
        if (std::ranges::find(names, last) == names.end()) names.push_back(last);
      }
      depth += word == "(" ? 1 : 0;
      depth -= word == ")" ? 1 : 0;
      if (depth == 0 || !is_head) {
        depth = 0;
        last.clear();
      }
    } else if (is_head && token.kind == source::TokenKind::identifier) {
      last = word;
    }
  }
  return names;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text.substr(0, 200);
}

class Reader {
 public:
  Reader(const Options& options, const Toolchain& toolchain, const DeviceSpec& device)
      : options_(options), toolchain_(toolchain), device_(device) {}

  Reading read(const std::string& file, const std::string& kernel) const {
    ProblemOptions request;
    request.kernel_file = file;
    request.kernel = kernel;
    request.include_directories = options_.include_directories;
    const auto input = read_problem_source(request);
    if (!input) return {.state = "refused", .why = input.error().message};
    Reading result;
    for (const bool takes_apart : {true, false}) {
      const auto parsed = parse(*input, file, takes_apart);
      if (!parsed) return {.state = "refused", .why = parsed.error().message};
      if (!parsed->unit) return {.state = "opaque", .why = parsed->opaque_reason};
      const auto opaque = source::Analysis(parsed->unit->kernel).opaque();
      const std::string obstacle = options_.gate ? gate(*input, *parsed->unit) : "";
      if (result.state.empty()) {
        result.state = opaque || !obstacle.empty() ? "opaque" : "readable";
        result.why = !obstacle.empty() ? obstacle : opaque.value_or("");
      }
      // Else as it stands, for the steps that need not see all of it.
      if (!obstacle.empty()) continue;
      propose(*input, *parsed, result);
      break;
    }
    return result;
  }

 private:
  Result<source::ParsedKernel> parse(const ProblemSource& input, const std::string& file,
                                     bool takes_apart) const {
    source::FrontEndConfiguration front_end = toolchain_.front_end;
    front_end.takes_apart = takes_apart;
    auto parsed = source::parse_kernel(
        input.source, std::filesystem::path(file).filename().string(), input.kernel, front_end);
    if (!parsed || !parsed->unit) return parsed;
    parsed->unit->before = source::without_line_directives(parsed->unit->before);
    parsed->unit->after = source::without_line_directives(parsed->unit->after);
    return parsed;
  }

  // Why the kernel does not pass; "" where it does.
  std::string gate(const ProblemSource& input, const source::Unit& unit) const {
    CompileRequest request;
    request.architecture = device_.architecture;
    request.kernel = input.kernel;
    request.want_cubin = false;
    request.source = source::without_line_directives(input.source);
    const auto original = toolchain_.compiler->compile(request, Cancellation());
    if (!original) return "gate: the original: " + original.error().message;
    request.source = source::print(unit);
    const auto printed = toolchain_.compiler->compile(request, Cancellation());
    if (!printed) return "gate: " + printed.error().message;
    if (same_code(original->ptx, printed->ptx)) return "";
    if (!options_.keep.empty()) {
      const std::filesystem::path folder = options_.keep;
      for (const auto& [suffix, text] : {std::pair(".cu", request.source),
                                         {".original.ptx", code_only(original->ptx)},
                                         {".printed.ptx", code_only(printed->ptx)}}) {
        if (!write_file(folder / (input.kernel + suffix), text)) break;
      }
    }
    return "gate: different PTX";
  }

  void propose(const ProblemSource& input, const source::ParsedKernel& parsed,
               Reading& result) const {
    const LengthObserver observe = [](const Manifest&, const ObservationHints&) {
      return Result<ObservedLengths>(Error{ErrorCode::unsupported, "nothing is run here"});
    };
    const auto inferred = infer_problem(input, {parsed}, observe, true);
    if (!inferred) {
      result.why = "no problem: " + inferred.error().message;
      return;
    }
    const Problem& problem = inferred->problem;
    const rewrite::AstRewriter rewriter(problem, limits_of(device_));
    const Candidate candidate = source::make_candidate(*parsed.unit, problem.launch);
    result.proposals = rewriter.propose(candidate, {}, Cancellation()).size();
  }

  const Options& options_;
  const Toolchain& toolchain_;
  const DeviceSpec& device_;
};

Options options_of(int count, char** arguments) {
  Options options;
  for (int at = 1; at < count; ++at) {
    const std::string word = arguments[at];
    if (word == "--gate") {
      options.gate = true;
    } else if (word == "--keep" && at + 1 < count) {
      options.keep = arguments[++at];
    } else if (word == "--include" && at + 1 < count) {
      options.include_directories.emplace_back(arguments[++at]);
    } else {
      options.files.push_back(word);
    }
  }
  return options;
}

int run(int count, char** arguments) {
  const Options options = options_of(count, arguments);
  if (options.files.empty()) {
    fmt::print(stderr,
               "usage: reading [--gate] [--keep FOLDER] [--include FOLDER]... FILE.cu...\n");
    return 2;
  }
  const Installation installation = Installation::of_program(arguments[0]);
  const auto table = named_device("h200");
  if (!table) {
    fmt::print(stderr, "reading: {}\n", table.error().message);
    return 1;
  }
  const DeviceSpec& device = table->device;
  const auto toolchain = find_toolchain(installation, device.architecture);
  if (!toolchain) {
    fmt::print(stderr, "reading: {}\n", toolchain.error().message);
    return 1;
  }
  const Reader reader(options, *toolchain, device);
  int kernels = 0;
  int readable = 0;
  int with_step = 0;
  for (const std::string& file : options.files) {
    const auto text = read_file(file, 1 << 24);
    if (!text) continue;
    for (const std::string& kernel : kernels_of(*text)) {
      const Reading reading = reader.read(file, kernel);
      fmt::print("{}\t{}\t{}\t{}\t{}\n", file, kernel, reading.state, reading.proposals,
                 one_line(reading.why));
      std::fflush(stdout);
      ++kernels;
      readable += reading.state == "readable" ? 1 : 0;
      with_step += reading.proposals > 0 ? 1 : 0;
    }
  }
  fmt::print("{} kernels, {} readable, {} with a step\n", kernels, readable, with_step);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  return run(count, arguments);
}
