#include "session/infer_problem.h"

#include "capture/problem/derive_manifest.h"
#include "eval/verify/element.h"
#include "infer/grid_sizes.h"
#include "infer/infer_launches.h"
#include "infer/infer_manifest.h"
#include "infer/size_quotients.h"
#include "kernel/captured_data.h"
#include "kernel/input_files.h"
#include "session/plain_lengths.h"
#include "session/size_names.h"
#include "source/choose_launch.h"
#include "source/extract.h"
#include "source/host_launch.h"
#include "source/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph {

namespace {

// Verification keeps several copies of all buffers, and interprets every access.
constexpr double kMostTestBytes = double{1 << 30};

// Why a test size is too large for the interpreter; nothing when all are fine.
std::optional<std::string> oversized_test(const Problem& problem) {
  for (const Symbols& symbols : problem.tests) {
    double bytes = 0.0;
    for (const Argument& argument : problem.arguments) {
      const auto count = argument.element_count(symbols);
      if (!count || !argument.has_content()) continue;  // the verifier explains what has no length
      bytes += static_cast<double>(*count) * static_cast<double>(size_in_bytes(argument.type));
    }
    if (bytes <= kMostTestBytes) continue;
    std::string sizes;
    for (const auto& [name, value] : symbols) {
      sizes += fmt::format("{}{}: {}", sizes.empty() ? "" : ", ", name, value);
    }
    return fmt::format(
        "the test size {{{}}} needs {:.3g} GiB of buffers, more than the {:g} GiB that can be "
        "verified; give smaller 'tests' in the manifest ('bench' may be as large as it is)",
        sizes, bytes / (1 << 30), kMostTestBytes / (1 << 30));
  }
  return std::nullopt;
}

// The manifest with a T1 file's arguments bound to the kernel's parameters.
Result<Manifest> bind_schema(const ProblemSource& input, const source::ParsedKernel& parsed) {
  auto bound = bind_arguments(*input.schema, parsed.signature);
  if (!bound) return bound;
  bound->launch = input.manifest.launch;  // flags may have changed the block
  bound->defines = input.manifest.defines;
  for (const auto& [name, value] : input.manifest.sizes)
    bound->sizes[name] = value;
  Manifest open = *bound;
  for (auto& [name, argument] : open.arguments)
    argument.shape.reset();
  open.launch.reset();
  source::HostLaunch block_only;
  if (bound->launch) block_only.block = bound->launch->block;
  prefer_expressions(
      infer::infer_manifest(open, parsed.signature, parsed.unit, block_only).manifest, *bound);
  return bound;
}

// Of each launch's kernel.
std::vector<KernelSignature> signatures_of_launches(
    const Manifest& manifest, const std::vector<source::ParsedKernel>& kernels) {
  std::vector<KernelSignature> signatures;
  for (const ManifestLaunch& entry : manifest.launches) {
    for (const source::ParsedKernel& kernel : kernels) {
      if (kernel.signature.name != entry.launch.kernel) continue;
      signatures.push_back(kernel.signature);
      break;
    }
  }
  return signatures;
}

// What the launches of a captured program say, with the options applied.
Result<capture::DerivedManifest> manifest_of_capture(
    const ProblemSource& input, const std::vector<source::ParsedKernel>& kernels) {
  const std::filesystem::path folder = std::filesystem::path(input.kernel_file).parent_path();
  const std::string& optimised = kernels.front().signature.name;
  auto derived = input.capture->stages.empty()
                     ? capture::derive_manifest(*input.capture, kernels.front().signature, folder)
                     : capture::derive_manifest_of_stages(
                           *input.capture, signatures_of_launches(input.manifest, kernels), folder);
  if (!derived) return derived;
  Manifest& manifest = derived->manifest;
  manifest.kernel = input.manifest.kernel;
  manifest.defines = input.manifest.defines;
  if (input.block && manifest.launch) manifest.launch->block = *input.block;
  for (ManifestLaunch& entry : manifest.launches) {
    if (input.block && entry.launch.kernel == optimised) entry.launch.block = *input.block;
  }
  for (const auto& [name, value] : input.manifest.sizes) {
    manifest.sizes[name] = value;
    for (Symbols& bench : manifest.bench)
      bench[name] = value;
  }
  return derived;
}

ManifestArgument& argument_of(Manifest& manifest, const std::string& name) {
  for (auto& [known, one] : manifest.arguments) {
    if (known == name) return one;
  }
  return manifest.arguments.emplace_back(name, ManifestArgument{}).second;
}

// Of a structure: an extent that is work, and neither 0 nor 1.
constexpr int kIntegerOfStructure = 64;
constexpr double kNumberOfStructure = 1.5;

std::vector<std::byte> usual_record(const Parameter& parameter) {
  std::vector<std::byte> record(static_cast<std::size_t>(parameter.record_bytes));
  for (const Field& field : parameter.fields) {
    if (field.is_pointer) continue;
    const std::size_t size = size_in_bytes(field.type);
    double value = is_floating(field.type) ? kNumberOfStructure : kIntegerOfStructure;
    if (field.type == ScalarType::boolean) value = 1.0;
    for (std::int64_t i = 0; i < field.components; ++i) {
      const std::size_t at =
          static_cast<std::size_t>(field.byte) + static_cast<std::size_t>(i) * size;
      if (at + size <= record.size()) verify::store_element(field.type, value, record.data() + at);
    }
  }
  return record;
}

// What structures hold that are passed by value, where nothing says it.
void infer_structures(const KernelSignature& signature, infer::InferredManifest& inferred) {
  for (const Parameter& parameter : signature.parameters) {
    if (parameter.is_pointer || parameter.record_bytes == 0) continue;
    const bool is_empty = parameter.fields.empty() && parameter.record_bytes == 1;
    if (parameter.fields.empty() && !is_empty) continue;
    ManifestArgument& said = argument_of(inferred.manifest, parameter.name);
    if (said.record) continue;
    said.record = usual_record(parameter);
    if (is_empty) continue;
    inferred.notes.push_back(
        fmt::format("nothing says what the structure '{}' holds: its integers are {}, other "
                    "numbers {}; give its bytes where that is not what it holds",
                    parameter.name, kIntegerOfStructure, kNumberOfStructure));
  }
}

// Whether the launch that was inferred lacks the size of an array `extern __shared__`.
bool lacks_shared_bytes(const ProblemSource& input, const Manifest& given,
                        const Manifest& inferred) {
  if (given.launch || !inferred.launch) return false;
  if (!(inferred.launch->dynamic_shared_bytes == IntegerExpression(0))) return false;
  const std::vector<source::Token> tokens = source::tokenize(input.source);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].in(input.source) != "extern") continue;
    // extern __shared__, or __align__(16) between the two.
    for (std::size_t next = i + 1; next < std::min(i + 6, tokens.size()); ++next) {
      if (tokens[next].in(input.source) == "__shared__") return true;
    }
  }
  return false;
}

// Completes a manifest by what is seen when the kernel runs at small sizes, where the source does
// not tell lengths or shared memory.
class Observation {
 public:
  Observation(const ProblemSource& input, const source::ParsedKernel& parsed,
              const LengthObserver& observe, const std::map<std::string, std::int64_t>& host)
      : input_(input), parsed_(parsed), observe_(observe), host_(host) {}

  // Returns what to say of it; nothing changes where nothing is seen; reasons in `unknown` get
  // better.
  std::vector<std::string> complete(infer::InferredManifest& inferred, Manifest& manifest) {
    for (const auto& [name, reason] : inferred.unknown) {
      if (name.empty()) return {};  // without a launch nothing can run
      hints_.wanted.push_back(name);
    }
    for (const auto& [name, said] : manifest.arguments) {
      if (said.value) hints_.fixed.push_back(name);
    }
    hints_.shared_bytes_wanted = lacks_shared_bytes(input_, manifest, inferred.manifest);
    if (hints_.wanted.empty() && !hints_.shared_bytes_wanted) return {};
    if (parsed_.unit) hints_.quotients = infer::size_quotients(parsed_.unit->kernel);
    for (const auto& [name, value] : manifest.sizes)
      hints_.said_sizes.push_back(name);
    auto seen = look(inferred.manifest);
    std::string no_numbers;
    if ((!seen || !seen->unknown.empty()) && manifest.bench.empty()) {
      auto numbers = measured(inferred.manifest, seen);
      if (numbers) {
        seen = std::move(numbers);
      } else if (seen) {
        no_numbers = "; " + numbers.error().message;
      }
    }
    if (!seen) {
      for (auto& [name, reason] : inferred.unknown)
        reason += "; " + seen.error().message;
      return {};
    }
    for (auto& [name, reason] : inferred.unknown) {
      for (const auto& [other, why] : seen->unknown) {
        if (other == name) reason += fmt::format("; {}{}", why, no_numbers);
      }
    }
    std::vector<std::string> notes;
    for (const auto& [name, buffer] : seen->buffers) {
      take(name, buffer, inferred.manifest, manifest);
      if (measured_.contains(name)) continue;  // says so itself
      notes.push_back(fmt::format("'{}': {} elements, seen when it ran at small sizes", name,
                                  buffer.length.text()));
    }
    for (const auto& [name, init] : seen->contents) {
      ManifestArgument& said = argument_of(manifest, name);
      if (!said.init) said.init = init;
    }
    notes.insert(notes.end(), seen->notes.begin(), seen->notes.end());
    take_sizes(seen->own_sizes, manifest);
    if (seen->chosen) {
      tests_are_chosen_ = manifest.tests.empty();
      for (const auto& [name, value] : seen->chosen->bench)
        manifest.sizes[name] = value;
      manifest.tests = seen->chosen->tests;
      std::erase_if(manifest.tests, [&](const Symbols& sizes) {
        return !has_lengths_at(sizes, manifest) || !has_lengths_at(sizes, inferred.manifest);
      });
      if (manifest.tests.empty()) manifest.tests.push_back(seen->chosen->bench);
    }
    if (seen->shared_bytes) shared_bytes_ = seen->shared_bytes;
    return notes;
  }

  [[nodiscard]] bool tests_are_chosen() const { return tests_are_chosen_; }
  // Sizes that what was seen made necessary.
  [[nodiscard]] const std::vector<std::string>& own_sizes() const { return own_sizes_; }

  // Of a launch that was inferred once more; returns what to say of it.
  [[nodiscard]] std::vector<std::string> put_shared_bytes(Manifest& inferred) const {
    if (!shared_bytes_ || !inferred.launch) return {};
    inferred.launch->dynamic_shared_bytes = *shared_bytes_;
    return {fmt::format("smem: {} bytes, seen when it ran at small sizes", shared_bytes_->text())};
  }

 private:
  // Whether the lengths that are known by now are such at the sizes: a kernel that does nothing
  // there, as with more groups than channels, runs, too.
  static bool has_lengths_at(const Symbols& sizes, const Manifest& manifest) {
    Symbols known = manifest.sizes;
    for (const auto& [name, value] : sizes)
      known[name] = value;
    const auto is_length = [&](const IntegerExpression& extent) {
      const auto symbols = extent.symbols();
      if (!std::ranges::all_of(symbols, [&](const auto& name) { return known.contains(name); }))
        return true;
      const auto value = extent.evaluate(known);
      return value.ok() && *value >= 1;
    };
    return std::ranges::all_of(manifest.arguments, [&](const auto& one) {
      return !one.second.shape || std::ranges::all_of(*one.second.shape, is_length);
    });
  }

  // Integers that nothing says a value of may be sizes; where that comes to nothing they are what
  // was made up for them.
  Result<ObservedLengths> look(const Manifest& draft) {
    auto seen = observe_(opened(draft), hints_);
    if (seen && seen->unknown.empty()) return seen;
    auto again = observe_(draft, hints_);
    if (again && (!seen || again->unknown.size() < seen->unknown.size())) return again;
    return seen;
  }

  // Without the values that were made up.
  [[nodiscard]] Manifest opened(const Manifest& draft) const {
    Manifest open = draft;
    for (auto& [name, said] : open.arguments) {
      const bool told =
          host_.contains(name) || std::ranges::find(hints_.fixed, name) != hints_.fixed.end();
      if (said.value && !told) said.value.reset();
    }
    return open;
  }

  // Lengths that no expression gives, as numbers; with the expressions of `seen` that hold whatever
  // buffers hold.
  Result<ObservedLengths> measured(const Manifest& draft, const Result<ObservedLengths>& seen) {
    ObservationHints hints = hints_;
    hints.measured = true;
    std::map<std::string, ObservedBuffer> kept;
    if (seen) {
      for (const auto& [name, buffer] : seen->buffers) {
        const std::set<std::string> symbols = buffer.length.symbols();
        const bool own = std::ranges::any_of(
            symbols, [&](const std::string& one) { return seen->own_sizes.contains(one); });
        if (own) continue;
        kept.emplace(name, buffer);
        std::erase(hints.wanted, name);
      }
      if (seen->shared_bytes) hints.shared_bytes_wanted = false;
    }
    Manifest open = opened(draft);
    for (const auto& [name, buffer] : kept)
      argument_of(open, name).shape = std::vector<IntegerExpression>{buffer.length};
    if (seen && seen->shared_bytes) open.launch->dynamic_shared_bytes = *seen->shared_bytes;
    auto numbers = observe_(open, hints);
    if (numbers) {
      for (const auto& [name, buffer] : numbers->buffers)
        measured_.insert(name);
      numbers->buffers.merge(kept);
      if (seen && seen->shared_bytes) numbers->shared_bytes = seen->shared_bytes;
      return numbers;
    }
    hints.wanted = hints_.wanted;
    hints.shared_bytes_wanted = hints_.shared_bytes_wanted;
    numbers = observe_(draft, hints);
    if (!numbers) return numbers;
    for (const auto& [name, buffer] : numbers->buffers)
      measured_.insert(name);
    return numbers;
  }

  static void take(const std::string& name, const ObservedBuffer& buffer, const Manifest& inferred,
                   Manifest& manifest) {
    ManifestArgument& said = argument_of(manifest, name);
    said.shape = std::vector<IntegerExpression>{buffer.length};
    if (said.direction) return;
    const auto known =
        std::ranges::find(inferred.arguments, name, [](const auto& one) { return one.first; });
    const bool told = known != inferred.arguments.end() && known->second.direction;
    said.direction = told ? *known->second.direction : buffer.direction;
  }

  void take_sizes(const Symbols& sizes, Manifest& manifest) {
    for (const auto& [name, value] : sizes) {
      const bool listed = std::ranges::any_of(
          manifest.bench, [&, &size = name](const Symbols& entry) { return entry.contains(size); });
      if (!listed && manifest.sizes.emplace(name, value).second) own_sizes_.push_back(name);
    }
  }

  const ProblemSource& input_;
  const source::ParsedKernel& parsed_;
  const LengthObserver& observe_;
  const std::map<std::string, std::int64_t>& host_;
  ObservationHints hints_;
  std::vector<std::string> own_sizes_;
  bool tests_are_chosen_ = false;
  std::set<std::string> measured_;  // buffers whose lengths are numbers
  std::optional<IntegerExpression> shared_bytes_;
};

// So that a manifest can be printed although something is missing; returns what to correct.
std::vector<std::string> fill_in_unknown(infer::InferredManifest& inferred,
                                         const KernelSignature& signature) {
  std::vector<std::string> missing;
  for (const auto& [name, reason] : inferred.unknown) {
    if (name.empty()) {
      inferred.manifest.launch = Launch{.kernel = "", .block = {256, 1, 1}};
      missing.push_back("launch: " + reason);
      continue;
    }
    for (auto& [argument, said] : inferred.manifest.arguments) {
      if (argument == name) said.shape = std::vector<IntegerExpression>{1};
    }
    missing.push_back(fmt::format("args.{}.shape: {}", name, reason));
  }
  auto& arguments = inferred.manifest.arguments;
  for (const Parameter& parameter : signature.parameters) {
    if (parameter.is_pointer || parameter.record_bytes == 0) continue;
    auto said = std::ranges::find(arguments, parameter.name,
                                  [](const auto& argument) { return argument.first; });
    if (said == arguments.end()) said = arguments.insert(said, {parameter.name, {}});
    if (said->second.record) continue;
    said->second.record.emplace(static_cast<std::size_t>(parameter.record_bytes));
    missing.push_back(
        fmt::format("args.{}.bytes: the content of a structure is not known", parameter.name));
  }
  return missing;
}

}  // namespace

Result<InferredProblem> infer_problem(const ProblemSource& input,
                                      const std::vector<source::ParsedKernel>& kernels,
                                      const LengthObserver& observe, bool fill_in) {
  const source::ParsedKernel& parsed = kernels.front();
  Manifest manifest = input.manifest;
  if (input.schema) {
    auto bound = bind_schema(input, parsed);
    if (!bound) return bound.error();
    manifest = *std::move(bound);
  }
  std::vector<std::string> capture_notes;
  if (input.capture && !input.has_manifest) {
    auto derived = manifest_of_capture(input, kernels);
    if (!derived) return derived.error();
    manifest = std::move(derived->manifest);
    capture_notes = std::move(derived->notes);
  }
  const bool told = manifest.launch || !manifest.launches.empty() || input.capture;
  std::optional<source::HostLaunch> host;
  std::string launch_note;
  if (told) {
    host = source::find_host_launch(input.file_text, parsed.signature);
  } else {
    auto chosen = source::choose_launch(input.file_text, parsed.signature, input.template_arguments,
                                        input.launch_line);
    if (!chosen) {
      return fail(chosen.error().code, input.kernel_file + ": " + chosen.error().message);
    }
    host = std::move(chosen->launch);
    launch_note = std::move(chosen->note);
  }
  if (input.block) {
    if (!host) host.emplace();
    // The grid of another block is another one.
    if (host->block != input.block) host->grid.reset();
    host->block = input.block;
  }
  infer::InferredManifest inferred =
      manifest.launches.empty()
          ? infer::infer_manifest(manifest, parsed.signature, parsed.unit, host)
          : infer::infer_launches(manifest, kernels);
  for (auto& [name, reason] : inferred.unknown) {
    if (!parsed.unit && !parsed.opaque_reason.empty())
      reason += ": " + parsed.opaque_reason.substr(0, parsed.opaque_reason.find('\n'));
  }
  if (!input.capture) infer_structures(parsed.signature, inferred);
  std::vector<std::string> observed;
  bool tests_are_chosen = false;
  if (manifest.launches.empty()) {
    const auto integers = host ? host->integers : std::map<std::string, std::int64_t>();
    Observation observation(input, parsed, observe, integers);
    observed = observation.complete(inferred, manifest);
    tests_are_chosen = observation.tests_are_chosen();
    const auto unknown = inferred.unknown;
    if (!observed.empty()) {
      inferred = infer::infer_manifest(manifest, parsed.signature, parsed.unit, host);
      for (auto& [name, reason] : inferred.unknown) {
        for (const auto& [other, better] : unknown) {
          if (other == name) reason = better;
        }
      }
      if (!input.capture) infer_structures(parsed.signature, inferred);
    }
    for (const auto& notes :
         {observation.put_shared_bytes(inferred.manifest),
          infer::notes_of_own_sizes(observation.own_sizes(), inferred.manifest.sizes)})
      observed.insert(observed.end(), notes.begin(), notes.end());
    inferred.own_sizes.insert(inferred.own_sizes.end(), observation.own_sizes().begin(),
                              observation.own_sizes().end());
  }
  put_lengths_plainly(
      manifest, parsed.unit ? infer::small_sizes(parsed.unit->kernel) : std::vector<std::string>(),
      inferred);
  InferredProblem result;
  if (fill_in) result.to_fill_in = fill_in_unknown(inferred, parsed.signature);
  std::vector<KernelSignature> signatures;
  signatures.reserve(kernels.size());
  for (const source::ParsedKernel& kernel : kernels)
    signatures.push_back(kernel.signature);
  auto problem = make_problem_of_launches(inferred.manifest, signatures, input.kernel_file,
                                          source::without_line_directives(input.source));
  if (!problem) {
    std::string message = problem.error().message;
    if (!inferred.unknown.empty()) {
      const auto& [argument, reason] = inferred.unknown.front();
      message +=
          fmt::format(" ({} could not be inferred: {})",
                      argument.empty() ? "the launch" : "the length of '" + argument + "'", reason);
    }
    if (!input.has_manifest) {
      message += fmt::format(
          "; {} has no manifest, write one to complete by: {} --init > {}", input.kernel_file,
          input.command,
          sidecar_of(input.kernel_file, input.sequential ? input.sequential->function : ""));
    }
    return fail(ErrorCode::invalid_argument, message);
  }
  result.problem = std::move(*problem);
  result.own_sizes = inferred.own_sizes;
  result.tests_are_chosen = tests_are_chosen;
  if (auto unused = unused_size(input.sizes_given, inferred.manifest, result.problem, signatures))
    return fail(ErrorCode::invalid_argument, *unused);
  const std::filesystem::path folder = std::filesystem::path(inferred.manifest.path).parent_path();
  if (Status loaded = load_captured(result.problem, folder); !loaded) return loaded.error();
  if (Status loaded = load_input_files(result.problem, folder); !loaded) return loaded.error();
  auto& notes = result.problem.notes;
  notes.insert(notes.begin(), observed.begin(), observed.end());
  notes.insert(notes.begin(), inferred.notes.begin(), inferred.notes.end());
  notes.insert(notes.begin(), capture_notes.begin(), capture_notes.end());
  if (!launch_note.empty()) notes.push_back(launch_note);
  notes.insert(notes.begin(), input.notes.begin(), input.notes.end());
  const auto with_shape = std::ranges::count_if(
      manifest.arguments, [](const auto& argument) { return argument.second.shape.has_value(); });
  const auto buffers = std::ranges::count_if(parsed.signature.parameters, [](const auto& one) {
    return one.is_pointer && !one.is_symbol;
  });
  result.lengths_inferred =
      !observed.empty() || with_shape < buffers || (!manifest.launch && manifest.launches.empty());
  if (const auto oversized = oversized_test(result.problem))
    return fail(ErrorCode::invalid_argument, input.kernel_file + ": " + *oversized);
  return result;
}

}  // namespace regraph
