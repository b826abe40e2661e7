#include "session/problem_source.h"

#include "base/files.h"
#include "capture/problem/kernel_source.h"
#include "kernel/front_matter.h"
#include "loops/function_text.h"
#include "session/size_names.h"
#include "source/extract.h"
#include "source/local_includes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <utility>

namespace regraph {
namespace {

constexpr std::size_t kSourceLimitBytes = std::size_t{1} << 20;

// One NAME=NUMBER of an option `whole`. `has_sizes`: the manifest names some, and no others count.
Status apply_size(const std::string& text, Manifest& manifest, const std::string& whole,
                  bool has_sizes) {
  const std::size_t equals = text.find('=');
  std::int64_t value = 0;
  const char* first = text.data() + equals + 1;
  const char* last = text.data() + text.size();
  const bool has_name = equals != std::string::npos && equals > 0;
  if (!has_name || std::from_chars(first, last, value).ptr != last || first == last || value < 1) {
    return fail(ErrorCode::invalid_argument,
                "--size " + whole + ": write NAME=NUMBER, e.g. --size N=4096 or --size N=64,M=32");
  }
  const std::string name = text.substr(0, equals);
  if (!manifest.sizes.contains(name)) {
    bool known = false;
    for (const Symbols& bench : manifest.bench)
      known = known || bench.contains(name);
    if (has_sizes && !known) {
      std::vector<std::string> names;
      for (const auto& [other, ignored] : manifest.sizes)
        names.push_back(other);
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--size {}: the manifest has no size '{}'; is {} meant?", whole, name,
                              fmt::join(nearest_names(name, names), " or ")));
    }
  }
  manifest.sizes[name] = value;
  for (Symbols& bench : manifest.bench)
    bench[name] = value;
  return {};
}

Result<Dim3> read_block(const std::string& text) {
  Dim3 block;
  const char* cursor = text.data();
  const char* last = text.data() + text.size();
  std::uint32_t* const axes[] = {&block.x, &block.y, &block.z};
  for (std::uint32_t* axis : axes) {
    const auto [next, error] = std::from_chars(cursor, last, *axis);
    if (error != std::errc() || *axis == 0) break;
    cursor = next;
    if (cursor == last) return block;
    if (*cursor != 'x') break;
    ++cursor;
  }
  return fail(ErrorCode::invalid_argument, "--block " + text + ": write e.g. 256 or 32x8");
}

// NAME=VALUE or NAME, which defines 1.
Status apply_define(const std::string& text, Manifest& manifest) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_name =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
          std::string::npos;
  const std::string value = equals == std::string::npos ? "1" : text.substr(equals + 1);
  if (!is_name || value.find('\n') != std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                "--define " + text + ": write NAME=VALUE, e.g. --define TILE=16");
  }
  std::erase_if(manifest.defines, [&](const auto& define) { return define.first == name; });
  manifest.defines.emplace_back(name, value);
  return {};
}

// Replacements that are expressions of bx, by, bz and sizes follow the launch.
std::vector<std::pair<std::string, std::string>> evaluated_defines(const Manifest& manifest,
                                                                   std::optional<Dim3> block_flag) {
  auto defines = manifest.defines;
  Symbols symbols = manifest.sizes;
  std::optional<Dim3> chosen = block_flag;
  if (manifest.launch) chosen = manifest.launch->block;
  for (auto entry = manifest.launches.rbegin(); entry != manifest.launches.rend(); ++entry) {
    if (entry->launch.kernel == manifest.kernel) chosen = entry->launch.block;
  }
  if (chosen) {
    const Dim3 block = *chosen;
    symbols.insert({{"bx", block.x}, {"by", block.y}, {"bz", block.z}});
  }
  for (auto& [name, replacement] : defines) {
    const auto expression = IntegerExpression::parse(replacement);
    if (!expression || expression->is_constant()) continue;
    if (const auto value = expression->evaluate(symbols); value.ok())
      replacement = std::to_string(*value);
  }
  return defines;
}

// As a word of a command line.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=+:,-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// With everything that decides which code is looked at; what a manifest can say is not repeated.
std::string command_of(const ProblemOptions& options) {
  std::string command = "regraph-search " + shell_word(options.kernel_file);
  if (!options.kernel.empty()) command += " --kernel " + shell_word(options.kernel);
  if (!options.manifest.empty()) command += " --manifest " + shell_word(options.manifest);
  for (const std::string& define : options.defines)
    command += " -D " + shell_word(define);
  for (const std::string& folder : options.include_directories)
    command += " -I " + shell_word(folder);
  return command;
}

bool is_triton_file(const std::string& path) {
  return path.ends_with(".py");
}

class SourceReader {
 public:
  explicit SourceReader(const ProblemOptions& options) : options_(options) {}

  Result<ProblemSource, SessionError> run() {
    input_.kernel_file = options_.kernel_file;
    input_.command = command_of(options_);
    if (Status status = read_capture(); !status) return usage(status.error().message);
    if (Status status = read_schema(); !status) return usage(status.error().message);
    if (auto read = read_text(); !read) return std::move(read).error();
    if (Status status = read_manifest_of(); !status) return usage(status.error().message);
    if (Status status = apply_options(); !status) return usage(status.error().message);
    if (input_.sequential || input_.is_triton) return std::move(input_);
    if (auto cut = cut_out_kernels(input_); !cut) return std::move(cut).error();
    return std::move(input_);
  }

 private:
  // A folder that regraph-capture made.
  Status read_capture() {
    std::error_code ignored;
    const std::filesystem::path folder = options_.kernel_file;
    if (!std::filesystem::is_directory(folder, ignored)) return {};
    auto capture = capture::read_captured_kernel(folder);
    if (!capture) {
      return fail(
          capture.error().code,
          capture.error().code == ErrorCode::not_found
              ? fmt::format("'{}' is a folder without {}; give a kernel's file, or a folder "
                            "that regraph-capture made",
                            folder.string(), capture::kCaptureFile)
              : capture.error().message);
    }
    const std::filesystem::path source = folder / capture::kCapturedSource;
    if (!std::filesystem::exists(source, ignored)) {
      return fail(ErrorCode::not_found,
                  fmt::format("{} is not there: the file that defines '{}' was not found when the "
                              "program was captured; put it there, or capture with --source",
                              source.string(), capture::kernel_name_of(capture->symbol)));
    }
    input_.kernel_file = source.string();
    input_.capture = *std::move(capture);
    return {};
  }

  // A T1 file in place of a kernel, or as --manifest.
  Status read_schema() {
    const bool in_place = options_.kernel_file.ends_with(".json");
    const std::string& path = in_place ? options_.kernel_file : options_.manifest;
    if (path.empty()) return {};
    auto text = read_file(path, kSourceLimitBytes);
    if (!text) return std::move(text).error();
    if (!in_place && !is_tuning_schema(*text)) return {};
    auto schema = parse_tuning_schema(*text, path);
    if (!schema) return std::move(schema).error();
    input_.schema = *std::move(schema);
    input_.notes = input_.schema->notes;
    if (in_place) {
      const auto folder = std::filesystem::path(path).parent_path();
      input_.kernel_file = (folder / input_.schema->kernel_file).string();
    }
    return {};
  }

  Result<void, SessionError> read_text() {
    auto text = read_file(input_.kernel_file, kSourceLimitBytes);
    if (!text) return usage(text.error().message);
    const std::vector<std::filesystem::path> folders(options_.include_directories.begin(),
                                                     options_.include_directories.end());
    if (is_triton_file(input_.kernel_file)) {
      input_.is_triton = true;
      input_.file_text = *std::move(text);
      return {};
    }
    front_matter_ = find_front_matter(*text);
    if (front_matter_) blank_front_matter(*front_matter_, *text);
    auto whole = source::inline_local_includes(*text, input_.kernel_file, folders, folders);
    if (!whole) return SessionError{FailureCause::unusable_kernel, whole.error().message};
    input_.file_text = *std::move(whole);
    const bool has_kernels = input_.file_text.find("__global__") != std::string::npos;
    const bool is_sequential = loops::is_sequential_file(input_.kernel_file) && !has_kernels &&
                               options_.kernel.empty() && !input_.schema;
    if (is_sequential || !options_.function.empty()) {
      input_.sequential.emplace();
      input_.sequential->file = input_.kernel_file;
      input_.sequential->function = options_.function;
      input_.sequential->include_directories = options_.include_directories;
    }
    return {};
  }

  Status read_manifest_of() {
    Result<Manifest> manifest = Manifest{};
    input_.has_manifest = true;
    if (input_.schema) {
      manifest = input_.schema->manifest;
    } else if (!options_.manifest.empty()) {
      manifest = read_manifest(options_.manifest);
    } else if (const std::string sidecar = existing_sidecar(); !sidecar.empty()) {
      manifest = read_manifest(sidecar);
      if (front_matter_) {
        input_.notes.push_back(fmt::format("{} counts, not the manifest in the comment of line {}",
                                           sidecar, front_matter_->line));
      }
    } else if (front_matter_) {
      manifest = parse_manifest(front_matter_->yaml, input_.kernel_file);
    } else {
      input_.has_manifest = false;
    }
    if (!manifest) return std::move(manifest).error();
    input_.manifest = *std::move(manifest);
    return {};
  }

  // Of a function of several the one with its name goes first.
  [[nodiscard]] std::string existing_sidecar() const {
    std::error_code ignored;
    for (const std::string& sidecar :
         {sidecar_of(input_.kernel_file, options_.function), sidecar_of(input_.kernel_file)}) {
      if (std::filesystem::exists(sidecar, ignored)) return sidecar;
    }
    return {};
  }

  Status apply_options() {
    Manifest& manifest = input_.manifest;
    // A manifest that was printed for editing says "k" of "k<float, 3>".
    const std::string plain =
        input_.capture ? capture::plain_name_of(input_.capture->symbol) : std::string();
    if (input_.capture && manifest.kernel.value_or(plain) == plain)
      manifest.kernel = capture::qualified_name_of(input_.capture->symbol);
    if (input_.capture && !input_.has_manifest) {
      // What is cut out; the rest of each launch is derived once their parameters are known.
      for (const capture::KernelStage& stage : input_.capture->stages) {
        ManifestLaunch entry;
        entry.launch.kernel = capture::qualified_name_of(stage.symbol);
        manifest.launches.push_back(std::move(entry));
      }
    }
    if (!options_.kernel.empty()) manifest.kernel = options_.kernel;
    choose_launched_kernel();
    if (Status status = take_launch_line(); !status) return status;
    // Before the first option adds one.
    const bool has_sizes = !manifest.sizes.empty();
    for (const std::string& list : options_.sizes) {
      for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string size = list.substr(begin, end - begin);
        if (Status status = apply_size(size, manifest, list, has_sizes); !status) return status;
        input_.sizes_given.push_back(size.substr(0, size.find('=')));
        begin = end + 1;
      }
    }
    if (Status blocks = resolve_blocks(manifest); !blocks) return blocks;
    for (const std::string& define : options_.defines) {
      if (Status status = apply_define(define, manifest); !status) return status;
    }
    if (options_.block.empty()) return {};
    auto block = read_block(options_.block);
    if (!block) return std::move(block).error();
    if (input_.capture && !input_.has_manifest) {
      input_.block = *block;
    } else if (!manifest.launches.empty()) {
      for (ManifestLaunch& entry : manifest.launches) {
        if (entry.launch.kernel == manifest.kernel) fix_block(entry.launch, *block);
      }
    } else if (manifest.launch) {
      fix_block(*manifest.launch, *block);
    } else {
      input_.block = *block;
    }
    return {};
  }

  Status take_launch_line() {
    input_.launch_line = options_.launch_line;
    if (options_.launch_line == 0) return {};
    const char* const told = input_.capture  ? "the program that was captured"
                             : input_.schema ? "the tuning file"
                             : input_.manifest.launch || !input_.manifest.launches.empty()
                                 ? "the manifest"
                                 : nullptr;
    if (told == nullptr) return {};
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--launch {}: {} says how '{}' is launched; leave one of them out",
                    options_.launch_line, told, input_.manifest.kernel.value_or("the kernel")));
  }

  // One that followed the sizes follows them no longer.
  static void fix_block(Launch& launch, const Dim3& block) {
    launch.block = block;
    launch.block_of_sizes.reset();
  }

  // Of several launches the first one's kernel is optimised, unless one is named.
  void choose_launched_kernel() {
    Manifest& manifest = input_.manifest;
    if (manifest.kernel || manifest.launches.empty()) return;
    manifest.kernel = manifest.launches.front().launch.kernel;
    input_.notes.push_back(
        fmt::format("of the kernels that are launched '{}' is optimised, the first; choose another "
                    "with 'kernel' in the manifest or --kernel",
                    *manifest.kernel));
  }

  const ProblemOptions& options_;
  std::optional<FrontMatter> front_matter_;
  ProblemSource input_;
};

// Empty where it cannot be cut out so.
std::string library_source_of(const ProblemSource& input) {
  source::ExtractionRequest request = input.extraction;
  request.keep_library_headers = true;
  auto whole = source::extract_device_code(input.file_text, request);
  return whole ? std::move(whole->text) : std::string();
}

}  // namespace

Result<void, SessionError> cut_out_kernels(ProblemSource& input) {
  source::ExtractionRequest request;
  request.file_name = std::filesystem::path(input.kernel_file).filename().string();
  if (input.manifest.kernel) request.kernels.push_back(*input.manifest.kernel);
  request.defines = evaluated_defines(input.manifest, input.block);
  for (const ManifestLaunch& entry : input.manifest.launches) {
    auto& names = request.kernels;
    if (std::find(names.begin(), names.end(), entry.launch.kernel) == names.end())
      names.push_back(entry.launch.kernel);
  }
  auto code = source::extract_device_code(input.file_text, request);
  if (!code) return SessionError{FailureCause::unusable_kernel, code.error().message};
  input.extraction = request;
  input.source = std::move(code->text);
  input.library_source = library_source_of(input);
  input.kernel = code->kernels.front();
  input.qualified_kernel = code->qualified_kernels.front();
  input.template_arguments = std::move(code->template_arguments);
  input.others.assign(code->kernels.begin() + 1, code->kernels.end());
  // A template's instance is a plain function from here on.
  for (ManifestLaunch& entry : input.manifest.launches) {
    const auto named =
        std::find(request.kernels.begin(), request.kernels.end(), entry.launch.kernel);
    entry.launch.kernel =
        code->kernels.at(static_cast<std::size_t>(named - request.kernels.begin()));
  }
  for (std::string& note : code->notes)
    input.notes.push_back(std::move(note));
  return {};
}

bool declare_undefined(ProblemSource& input, const std::vector<std::string>& names) {
  source::ExtractionRequest request = input.extraction;
  std::vector<std::string> added;
  for (const std::string& name : names) {
    if (std::ranges::find(request.undefined, name) != request.undefined.end()) continue;
    request.undefined.push_back(name);
    added.push_back(name);
  }
  if (added.empty()) return false;
  auto code = source::extract_device_code(input.file_text, request);
  if (!code || code->text == input.source) return false;
  input.extraction = std::move(request);
  input.source = std::move(code->text);
  input.library_source = library_source_of(input);
  input.notes.push_back(fmt::format(
      "{}: the compiler did not know {}, so that what declares {} was put in front",
      input.extraction.file_name, fmt::join(added, ", "), added.size() == 1 ? "it" : "them"));
  return true;
}

Result<ProblemSource, SessionError> read_problem_source(const ProblemOptions& options) {
  return SourceReader(options).run();
}

Result<ProblemSource, SessionError> recorded_problem_source(const RunDescription& description) {
  ProblemSource input;
  input.kernel_file = description.source_path;
  input.command = "regraph-search " + shell_word(input.kernel_file);
  input.file_text = description.source;
  auto manifest = parse_manifest(description.manifest, "the recorded manifest");
  if (!manifest) return usage(manifest.error().message);
  input.manifest = *std::move(manifest);
  input.has_manifest = true;
  // The program has its say in a run that goes on, too, where its folder is still there. Without
  // steps there is no run: then the path may be another machine's.
  if (!description.graph.empty()) {
    auto capture =
        capture::read_captured_kernel(std::filesystem::path(description.source_path).parent_path());
    if (capture) input.capture = *std::move(capture);
  }
  input.is_triton = is_triton_file(input.kernel_file);
  if (input.is_triton) return input;
  if (auto cut = cut_out_kernels(input); !cut) return std::move(cut).error();
  return input;
}

std::string sidecar_of(const std::string& kernel_file, const std::string& function) {
  std::filesystem::path sidecar(kernel_file);
  sidecar.replace_extension(function.empty() ? ".regraph.yaml" : "." + function + ".regraph.yaml");
  return sidecar.string();
}

}  // namespace regraph
