#include "session/opened_problem.h"

#include "base/deadline.h"
#include "eval/compile/same_code.h"
#include "eval/verify/conditioning.h"
#include "infer/size_quotients.h"
#include "kernel/derived_tests.h"
#include "session/fit_sizes.h"
#include "session/infer_problem.h"
#include "session/observed_lengths.h"
#include "session/sequential_check.h"
#include "session/sequential_source.h"
#include "session/triton_source.h"
#include "source/analysis.h"
#include "source/clang_frontend.h"
#include "source/extract.h"
#include "source/library_headers.h"
#include "source/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace regraph {
namespace {

using Done = Result<void, SessionError>;

SessionError unusable(std::string message) {
  return {FailureCause::unusable_kernel, std::move(message)};
}

class ProblemOpener {
 public:
  ProblemOpener(ProblemSource source, ChosenDevice device, Toolchain& toolchain,
                const OpenOptions& options, const Cancellation& cancellation)
      : source_(std::move(source)),
        toolchain_(toolchain),
        options_(options),
        cancellation_(cancellation),
        opened_(std::make_unique<OpenedProblem>()) {
    opened_->device = std::move(device);
    opened_->capture = source_.capture;
    opened_->template_arguments = source_.template_arguments;
  }

  Result<std::unique_ptr<OpenedProblem>, SessionError> run() {
    const std::pair<Done (ProblemOpener::*)(), const char*> steps[] = {
        {&ProblemOpener::make_kernels, "reading the source"},
        {&ProblemOpener::accept, "compiling the source"},
        {&ProblemOpener::parse, "reading the kernel"},
        {&ProblemOpener::compile, "compiling the kernel"},
        {&ProblemOpener::fit, "choosing sizes"},
        {&ProblemOpener::check, "checking the original on its test sizes, on the interpreter"},
        {&ProblemOpener::check_function, "running the function on this processor"}};
    for (const auto& [step, what] : steps) {
      if (options_.on_phase) options_.on_phase(what);
      if (Done done = (this->*step)(); !done) return with_notes(std::move(done).error());
      // To be completed first: it could not run.
      if (!opened_->to_fill_in.empty()) break;
    }
    return std::move(opened_);
  }

 private:
  // What was left out of the source may be what the compiler misses, and what was inferred what the
  // original stumbles over.
  [[nodiscard]] SessionError with_notes(SessionError error) const {
    if (error.cause == FailureCause::interrupted) return error;
    const auto& inferred = opened_->problem.notes;
    error.notes = inferred.empty() ? source_.notes : inferred;
    return error;
  }

  // Of a sequential function.
  Done make_kernels() {
    if (source_.is_triton) return cut_out();
    if (!source_.sequential) return {};
    return make_kernels_of_function(source_, toolchain_, architecture(), cancellation_);
  }

  Done cut_out() {
    auto cut = cut_out_triton(source_, toolchain_, options_.fill_in, cancellation_);
    if (!cut) return std::move(cut).error();
    opened_->triton = std::move(cut->text);
    read_only_ = std::move(cut->read_only);
    missing_ = std::move(cut->missing);
    return {};
  }

  Done check_function() {
    if (!source_.sequential) return {};
    auto notes =
        check_against_function(*source_.sequential, *opened_, options_.seed, cancellation_);
    if (!notes) return std::move(notes).error();
    for (std::string& note : *notes)
      opened_->problem.notes.push_back(std::move(note));
    return {};
  }

  // A compiler in its sandbox must accept the file before Clang reads it in this process.
  Done accept() {
    if (!missing_.empty()) return {};  // it cannot be compiled yet
    auto accepted = compiles();
    constexpr int kMostRounds = 8;
    for (int round = 0; round < kMostRounds && !accepted; ++round) {
      if (!declares_what_is_missing(accepted.error())) break;
      accepted = compiles();
    }
    if (accepted) return {};
    if (accepted.error().code == ErrorCode::compile && needs_nvcc(accepted.error().message))
      return accept_with_nvcc(accepted.error());
    return compile_failure(accepted.error());
  }

  Result<CompiledKernel> compiles() {
    CompileRequest request = request_for(source_.source);
    request.want_cubin = false;
    return toolchain_.compiler->compile(request, cancellation_);
  }

  // Whether the source is another one now, in which names stand that the compiler did not know.
  bool declares_what_is_missing(const Error& refused) {
    if (refused.code != ErrorCode::compile || source_.sequential) return false;
    return declare_undefined(source_, undefined_names(refused.message));
  }

  // From here on nvcc compiles everything of this problem: candidates do not try NVRTC first, and
  // are judged against an original that the same compiler made.
  Done accept_with_nvcc(Error refused) {
    auto nvcc = toolchain_.compiler->with_nvcc();
    if (!nvcc) {
      refused.message +=
          "\nnvcc may take it, but there is none here: install a whole CUDA toolkit, and gcc";
      return compile_failure(refused);
    }
    const bool with_headers = !source_.library_source.empty();
    CompileRequest request = request_for(with_headers ? source_.library_source : source_.source);
    request.kernel = source_.qualified_kernel;  // as it is wanted next: then it is in the cache
    auto accepted = nvcc->compile(request, cancellation_);
    if (!accepted) {
      if (accepted.error().code != ErrorCode::compile) return compile_failure(accepted.error());
      return compile_failure(
          fail(ErrorCode::compile, fmt::format("{}\n(with nvcc, because NVRTC said: {})",
                                               accepted.error().message, first_line(refused))));
    }
    if (with_headers) source_.source = source_.library_source;
    toolchain_.compiler = std::move(nvcc);
    source_.notes.push_back(
        with_own_name("compiled with nvcc, because NVRTC said: " + first_line(refused)));
    return {};
  }

  [[nodiscard]] CompileRequest request_for(const std::string& text) const {
    CompileRequest request;
    request.source = text;
    request.architecture = architecture();
    return request;
  }

  static std::string first_line(const Error& error) {
    return error.message.substr(0, error.message.find('\n'));
  }

  Done parse() {
    if (opened_->triton) return describe();
    const std::string name = file_name();
    auto parsed = source::parse_kernel(source_.source, name, source_.kernel, toolchain_.front_end);
    if (!parsed) return unusable(parsed.error().message);
    if (parsed->unit) without_line_directives(*parsed->unit);
    std::vector<source::ParsedKernel> kernels = {*parsed};
    qualify_launches(source_.kernel, parsed->signature.name);
    for (const std::string& other : source_.others) {
      auto one = source::parse_kernel(source_.source, name, other, toolchain_.front_end);
      if (!one) return unusable(one.error().message);
      qualify_launches(other, one->signature.name);
      kernels.push_back(std::move(*one));
    }
    if (needs_cooperative_launch()) {
      return unusable(fmt::format(
          "{}: '{}' waits for all blocks of its grid (cooperative groups' grid.sync()), and is "
          "launched cooperatively, which is not supported: a block is run after the other here. "
          "Cut the kernel where it waits, and list the parts under 'launches' in the manifest",
          source_.kernel_file, kernels.front().signature.name));
    }
    if (Done done = infer(kernels); !done) return done;
    opened_->opaque_reason = std::move(parsed->opaque_reason);
    unit_ = std::move(parsed->unit);
    return {};
  }

  // Plans name kernels with their namespaces, the cut-out code is asked for plain names.
  void qualify_launches(const std::string& plain, const std::string& qualified) {
    for (ManifestLaunch& entry : source_.manifest.launches) {
      if (entry.launch.kernel == plain) entry.launch.kernel = qualified;
    }
  }

  // Blocks that meet find each other through registers that an ordinary launch leaves empty.
  [[nodiscard]] bool needs_cooperative_launch() {
    const std::string& text = source_.source;
    const bool may =
        text.find("this_grid") != std::string::npos || text.find("grid_group") != std::string::npos;
    if (!may) return false;
    CompileRequest request = request_for(text);
    request.kernel = source_.kernel;
    request.want_cubin = false;
    const auto compiled = toolchain_.compiler->compile(request, cancellation_);
    return compiled && compiled->ptx.find("%envreg") != std::string::npos;
  }

  Done infer(const std::vector<source::ParsedKernel>& kernels) {
    const LengthObserver observe = [&](const Manifest& draft, const ObservationHints& hints) {
      return observe_buffers(kernels.front().signature, draft, hints);
    };
    auto inferred = infer_problem(source_, kernels, observe, options_.fill_in);
    if (!inferred) return usage(inferred.error().message);
    opened_->problem = std::move(inferred->problem);
    opened_->to_fill_in = std::move(inferred->to_fill_in);
    lengths_inferred_ = inferred->lengths_inferred;
    tests_are_chosen_ = inferred->tests_are_chosen;
    sizes_.own_sizes = std::move(inferred->own_sizes);
    if (kernels.front().unit)
      sizes_.quotients = infer::size_quotients(kernels.front().unit->kernel);
    auto& notes = opened_->problem.notes;
    if (!opened_->device.note.empty()) notes.insert(notes.begin(), opened_->device.note);
    return {};
  }

  // Of a Triton kernel: its types are those of its comment.
  Done describe() {
    triton::KernelText& text = *opened_->triton;
    source::ParsedKernel kernel;
    kernel.signature = text.signature();
    for (Parameter& parameter : kernel.signature.parameters)
      parameter.points_to_const = std::ranges::count(read_only_, parameter.name) > 0;
    if (Done done = infer({kernel}); !done) return done;
    opened_->to_fill_in.insert(opened_->to_fill_in.end(), missing_.begin(), missing_.end());
    opened_->rewritable = true;
    opened_->other_sizes = decide_divisible(text, opened_->problem);
    opened_->problem.source = text.text();
    source_.source = opened_->problem.source;
    return {};
  }

  Result<ObservedLengths> observe_buffers(const KernelSignature& signature, const Manifest& draft,
                                          const ObservationHints& hints) {
    CompileRequest request = request_for(source_.source);
    request.kernel = signature.name;
    request.want_cubin = false;
    const auto compiled = toolchain_.compiler->compile(request, cancellation_);
    if (!compiled) return compiled.error();
    const Deadline deadline(options_.evaluation_seconds, cancellation_);
    Manifest launched = draft;
    if (opened_->triton && launched.launch)
      launched.launch->dynamic_shared_bytes =
          IntegerExpression(triton::shared_bytes_of(compiled->ptx));
    return observe_lengths(*compiled, signature, launched, hints, deadline.cancellation());
  }

  Done compile() {
    auto original = compile_plan(*toolchain_.compiler, source_.source, opened_->problem.launch,
                                 architecture(), cancellation_);
    if (!original) return compile_failure(original.error());
    opened_->compiled = std::move(*original);
    if (opened_->triton) take_shared_bytes();
    Candidate& candidate = opened_->original;
    candidate.source = opened_->problem.source;
    candidate.plan = opened_->problem.launch;
    candidate.identity = candidate_identity(candidate.source, candidate.plan);
    if (unit_) pass_gate();
    return {};
  }

  // How much memory a launch of a Triton kernel shares, its compile alone tells.
  void take_shared_bytes() {
    const std::int64_t bytes = triton::shared_bytes_of(opened_->compiled.launches.front()->ptx);
    opened_->problem.launch.launches.front().dynamic_shared_bytes = IntegerExpression(bytes);
  }

  // What the printer makes of the IR must be the same program, else steps may not touch it.
  void pass_gate() {
    const std::vector<Launch>& launches = opened_->problem.launch.launches;
    const std::string& name = opened_->problem.signature.name;
    const auto times = std::ranges::count(launches, name, &Launch::kernel);
    if (times > 1) {
      opened_->opaque_reason =
          fmt::format("'{}' is launched {} times, and steps change one launch", name, times);
      return;
    }
    const auto optimised = std::ranges::find(launches, name, &Launch::kernel) - launches.begin();
    const auto& compiled = opened_->compiled.launches[static_cast<std::size_t>(optimised)];
    std::optional<std::string> obstacle = gate_obstacle(source::print(*unit_), *compiled);
    if (obstacle && read_as_it_stands(*compiled)) obstacle.reset();
    if (obstacle) {
      opened_->opaque_reason = std::move(*obstacle);
      return;
    }
    if (unit_->opened != nullptr) drop_opened_that_does_not_compile();
    opened_->original = source::make_candidate(*unit_, opened_->problem.launch);
    opened_->rewritable = true;
    opened_->opaque_reason.clear();
    note_opaque_code();
  }

  // Why what was printed is not the kernel that was compiled; nothing where it is.
  [[nodiscard]] std::optional<std::string> gate_obstacle(const std::string& text,
                                                         const CompiledKernel& compiled) {
    // Assertions say which file they stand in.
    const bool has_own_name = source_.source.find("#line ") != std::string::npos &&
                              (source_.source.find("assert") != std::string::npos ||
                               source_.source.find("__FILE__") != std::string::npos);
    CompileRequest request =
        request_for(has_own_name ? fmt::format("#line 1 \"{}\"\n{}", file_name(), text) : text);
    request.kernel = opened_->problem.signature.name;
    const auto printed = toolchain_.compiler->compile(request, cancellation_);
    if (!printed) {
      return "printed back from the rewriter's form it does not compile: " +
             printed.error().message;
    }
    if (same_code(compiled.ptx, printed->ptx)) return std::nullopt;
    return "printed back from the rewriter's form it compiles to different PTX";
  }

  // Other code of the same meaning, which steps begin with: it must be code at least.
  void drop_opened_that_does_not_compile() {
    source::Unit opened = *unit_;
    opened.kernel = unit_->opened_kernel();
    CompileRequest request = request_for(source::print(opened));
    request.kernel = opened_->problem.signature.name;
    const auto compiled = toolchain_.compiler->compile(request, cancellation_);
    if (compiled) return;
    unit_->opened = nullptr;
    unit_->not_opened = "its calls, written out, do not compile (" + compiled.error().message + ")";
  }

  // Reads the kernel once more without taking anything apart, so that one unusual statement is
  // opaque, not the kernel. Returns whether that form passes.
  bool read_as_it_stands(const CompiledKernel& compiled) {
    source::FrontEndConfiguration front_end = toolchain_.front_end;
    front_end.takes_apart = false;
    auto parsed = source::parse_kernel(source_.source, file_name(), source_.kernel, front_end);
    if (!parsed || !parsed->unit) return false;
    without_line_directives(*parsed->unit);
    const std::string text = source::print(*parsed->unit);
    if (text == source::print(*unit_) || gate_obstacle(text, compiled)) return false;
    unit_ = std::move(parsed->unit);
    return true;
  }

  static void without_line_directives(source::Unit& unit) {
    unit.before = source::without_line_directives(unit.before);
    unit.after = source::without_line_directives(unit.after);
  }

  void note_opaque_code() {
    const source::Kernel kernel = unit_->opened_kernel();
    auto opaque = source::Analysis(kernel).opaque();
    if (!opaque) return;
    if (!unit_->not_opened.empty()) opaque = unit_->not_opened;
    // Several lines of source would tear the note apart.
    std::replace(opaque->begin(), opaque->end(), '\n', ' ');
    opened_->problem.notes.push_back(source_.kernel_file + ", " + *opaque +
                                     ": the rewriter has no form for this code, so steps that "
                                     "would have to look into it do not apply");
  }

  // Sizes that nobody gave, by what the original has to do at them.
  Done fit() {
    if (opened_->triton) return {};  // it was compiled for what divides its sizes
    const auto plan = verify::load_plan(opened_->compiled, opened_->problem.launch);
    if (!plan) return {};  // the verifier says why
    const Deadline deadline(options_.evaluation_seconds, cancellation_);
    fit_sizes(opened_->problem, *plan, sizes_, deadline.cancellation());
    return {};
  }

  Done check() {
    // An endless loop would otherwise run into the interpreter's own limit only, minutes later.
    const Deadline deadline(options_.evaluation_seconds, cancellation_);
    for (;;) {
      make_verifier();
      auto warnings = opened_->verifier->check_original(options_.seed, deadline.cancellation());
      if (warnings) {
        opened_->warnings = std::move(*warnings);
        // What a run writes down is what was tested.
        for (const Symbols& size : opened_->verifier->sizes_left_out(options_.seed, cancellation_))
          std::erase(opened_->problem.tests, size);
        opened_->problem.held_fixed = opened_->verifier->held_fixed(options_.seed, cancellation_);
        return {};
      }
      if (deadline.expired() || !give_up_obstacle(warnings.error(), deadline.cancellation()))
        return check_failure(warnings.error(), deadline.expired());
    }
  }

  void make_verifier() {
    VerifierConfiguration configuration;
    // What they capture outlives the verifier.
    // Types of a Triton kernel are not in its text.
    if (!opened_->triton)
      configuration.make_double_shadow =
          [opened = opened_.get(), architecture = architecture(),
           compiler = toolchain_.compiler.get()](const Cancellation& cancellation) {
            return verify::make_double_shadow(*compiler, opened->problem, opened->problem.source,
                                              architecture, cancellation);
          };
    configuration.make_uncontracted =
        [opened = opened_.get(), architecture = architecture(),
         compiler = toolchain_.compiler.get()](const Cancellation& cancellation) {
          return verify::make_uncontracted(*compiler, opened->problem, opened->problem.source,
                                           architecture, cancellation);
        };
    opened_->verifier =
        std::make_unique<Verifier>(opened_->problem, opened_->compiled, std::move(configuration));
  }

  // Of what the original fails at, what nobody asked for: a test size that was made up, or a
  // direction that was inferred. Says so; false where it is none of that.
  bool give_up_obstacle(const Error& error, const Cancellation& cancellation) {
    if (error.code == ErrorCode::cancelled) return false;
    Problem& problem = opened_->problem;
    const auto obstacle = opened_->verifier->obstacle(options_.seed, cancellation);
    if (obstacle.written_input) {
      Argument& argument = problem.arguments[*obstacle.written_input];
      if (!may_redirect(argument)) return false;
      argument.direction = Direction::inout;
      problem.notes.push_back(fmt::format("'{}' is written, too, as runs show", argument.name));
      return true;
    }
    const bool own_tests = problem.tests_are_derived || tests_are_chosen_;
    if (obstacle.test_size && own_tests && problem.tests.size() > 1) {
      std::erase(problem.tests, *obstacle.test_size);
      problem.notes.push_back(fmt::format("the test size {} is left out: {}",
                                          sizes_text({*obstacle.test_size}),
                                          error.message.substr(0, error.message.find("; "))));
      return true;
    }
    if (!obstacle.unwritten_output) return false;
    Argument& argument = problem.arguments[*obstacle.unwritten_output];
    const auto outputs = std::ranges::count_if(problem.arguments,
                                               [](const Argument& one) { return one.is_output(); });
    if (!may_redirect(argument) || outputs < 2) return false;
    argument.direction = Direction::in;
    problem.notes.push_back(fmt::format(
        "'{}' is never written at the test sizes, so it is taken as an input", argument.name));
    return true;
  }

  // Whether the argument's direction was inferred.
  [[nodiscard]] bool may_redirect(const Argument& argument) const {
    if (!lengths_inferred_ || source_.capture) return false;
    const auto said = std::ranges::find(source_.manifest.arguments, argument.name,
                                        [](const auto& one) { return one.first; });
    return said == source_.manifest.arguments.end() || !said->second.direction;
  }

  Done check_failure(const Error& error, bool expired) {
    if (expired) {
      return unusable(fmt::format(
          "{}: the original kernel does not end within {:g} seconds on the test sizes; is there an "
          "endless loop? Else give smaller 'tests' in the manifest, or more time with "
          "--evaluation-time",
          source_.kernel_file, options_.evaluation_seconds));
    }
    if (error.code == ErrorCode::cancelled) return interrupted();
    if (options_.fill_in) {
      // The manifest may be what is wrong: it is printed for correction.
      opened_->to_fill_in.push_back(error.message);
      return {};
    }
    return unusable(source_.kernel_file + ": the original kernel cannot be used as a reference: " +
                    with_own_name(error.message) + (lengths_inferred_ ? inferred_hint() : ""));
  }

  [[nodiscard]] SessionError compile_failure(const Error& error) const {
    if (error.code == ErrorCode::cancelled) return interrupted();
    // The machinery failed, not the kernel.
    if (error.code == ErrorCode::io || error.code == ErrorCode::not_found)
      return {FailureCause::internal, error.message};
    return unusable(source_.kernel_file + " does not compile for " + architecture() + ":\n" +
                    with_own_name(error.message) + pytorch_hint());
  }

  // PyTorch itself is not looked at.
  [[nodiscard]] std::string pytorch_hint() const {
    const std::vector<std::string> names = source::unknown_names_of_pytorch(source_.source);
    if (names.empty()) return {};
    return fmt::format(
        "\n{} of PyTorch's that ReGraph has no stand-in for: {}. Write what the kernel needs of {} "
        "into the "
        "file, or pass the kernel plain pointers and numbers (docs/manifest.md lists what there "
        "is)",
        names.size() == 1 ? "A name" : "Names", fmt::join(names, ", "),
        names.size() == 1 ? "it" : "them");
  }

  [[nodiscard]] static SessionError interrupted() {
    return {FailureCause::interrupted, "interrupted"};
  }

  // The compiler sees the file under a fixed name, so that equal texts are compiled once.
  [[nodiscard]] std::string with_own_name(std::string message) const {
    const std::string file = file_name();
    const std::string_view compilers_name = opened_->triton ? "kernel.py" : "kernel.cu";
    for (std::size_t at = 0; (at = message.find(compilers_name, at)) != std::string::npos;) {
      message.replace(at, compilers_name.size(), file);
      at += file.size();
    }
    return message;
  }

  [[nodiscard]] std::string inferred_hint() const {
    return fmt::format(
        " (lengths and launch that were inferred may be wrong; they are printed by: {} --init)",
        source_.command);
  }

  [[nodiscard]] std::string file_name() const {
    return std::filesystem::path(source_.kernel_file).filename().string();
  }
  [[nodiscard]] std::string architecture() const { return opened_->device.device.architecture; }

  ProblemSource source_;
  Toolchain& toolchain_;
  const OpenOptions& options_;
  const Cancellation& cancellation_;
  std::unique_ptr<OpenedProblem> opened_;
  std::optional<source::Unit> unit_;
  bool lengths_inferred_ = false;
  bool tests_are_chosen_ = false;
  SizeChoice sizes_;
  std::vector<std::string> read_only_;  // parameters of a Triton kernel
  std::vector<std::string> missing_;    // of the comment of a Triton kernel
};

}  // namespace

Result<std::unique_ptr<OpenedProblem>, SessionError> open_problem(
    ProblemSource source, ChosenDevice device, Toolchain& toolchain, const OpenOptions& options,
    const Cancellation& cancellation) {
  return ProblemOpener(std::move(source), std::move(device), toolchain, options, cancellation)
      .run();
}

}  // namespace regraph
