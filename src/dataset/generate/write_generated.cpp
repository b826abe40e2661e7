#include "base/files.h"
#include "dataset/generate/canonical_text.h"
#include "dataset/generate/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <unordered_set>

namespace regraph::dataset {

namespace {

// Families that compute nearly the same: none may test what another one taught.
constexpr std::string_view kDescription =
    "# Kernels that ReGraph's generator made.\n"
    "kin:\n"
    "  - [map, combination, polynomial, iterated_map, color_conversion, outer_product]\n"
    "  - [transpose, permutation]\n"
    "  - [gather, scatter]\n"
    "  - [upsampling, pooling]\n"
    "  - [row_reduction, row_norm, softmax_row, row_scan, arg_max, matrix_vector]\n"
    "  - [column_reduction, full_reduction]\n"
    "  - [matrix_matrix, batched_product, distance_matrix]\n"
    "  - [stencil_1d, stencil_2d, stencil_3d]\n"
    "  - [convolution_1d, convolution_2d]\n";

Error folder_error(const std::filesystem::path& folder, const std::error_code& code) {
  const bool full = code == std::errc::no_space_on_device;
  return fail(full ? ErrorCode::resource : ErrorCode::io,
              fmt::format("{}: {}", folder.string(), code.message()));
}

Status check_request(const std::filesystem::path& folder, const GeneratorRequest& request) {
  const std::vector<std::string>& known = generator_families();
  for (const std::string& family : request.families) {
    if (std::ranges::find(known, family) == known.end()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("there is no family '{}' of generated kernels", family));
    }
    if (std::ranges::count(request.families, family) > 1)
      return fail(ErrorCode::invalid_argument, fmt::format("family '{}' is named twice", family));
  }
  if (request.per_family == 0)
    return fail(ErrorCode::invalid_argument, "there must be at least one kernel of a family");
  std::error_code code;
  const auto status = std::filesystem::status(folder, code);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (code) return folder_error(folder, code);
  const bool directory = std::filesystem::is_directory(status);
  const bool empty = directory && std::filesystem::is_empty(folder, code);
  if (code) return folder_error(folder, code);
  if (!empty) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: it {}; name another folder", folder.string(),
                            directory ? "is not empty" : "is no folder"));
  }
  return {};
}

Result<GeneratorReport> write_kernels(const std::filesystem::path& folder,
                                      const GeneratorRequest& request) {
  GeneratorReport report;
  std::unordered_set<Hash128> known;
  const std::vector<std::string>& names =
      request.families.empty() ? generator_families() : request.families;
  for (const std::string& family : names) {
    for (std::uint64_t index = 0; index < request.per_family; ++index) {
      const auto kernel = generate_kernel(family, request.seed, index);
      if (!kernel) return kernel.error();
      if (!known.insert(canonical_identity(kernel->source)).second) {
        ++report.repeated;
        continue;
      }
      const std::filesystem::path stem = folder / family / kernel->name;
      if (Status done = write_file(stem.string() + ".regraph.yaml", kernel->manifest); !done)
        return done.error();
      if (Status done = write_file(stem.string() + ".cu", kernel->source); !done)
        return done.error();
      ++report.written;
    }
  }
  if (Status done = write_file(folder / "corpus.yaml", kDescription); !done) return done.error();
  return report;
}

}  // namespace

Result<GeneratorReport> write_generated(const std::filesystem::path& folder,
                                        const GeneratorRequest& request) {
  if (Status right = check_request(folder, request); !right) return right.error();
  // "FOLDER/" has no last name; what is renamed in the end needs one.
  const std::filesystem::path target =
      folder.has_filename() ? folder : folder.lexically_normal().parent_path();
  const std::filesystem::path parent = target.has_parent_path() ? target.parent_path() : ".";
  // A sibling, so that renaming it moves nothing; it goes with its directory when anything fails.
  auto beside = TemporaryDirectory::create(".generated-", parent);
  if (!beside) return fail(ErrorCode::io, beside.error().message);
  const std::filesystem::path made = beside->path() / "corpus";
  auto report = write_kernels(made, request);
  if (!report) return report;
  std::error_code code;
  std::filesystem::rename(made, target, code);
  if (code) return folder_error(target, code);
  return report;
}

}  // namespace regraph::dataset
