#include "kernel/input_files.h"

#include "base/files.h"
#include "base/hash.h"
#include "kernel/captured_data.h"
#include "kernel/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// Reads one argument's file.
class InputFile {
 public:
  InputFile(const Problem& problem, Argument& argument, const std::filesystem::path& folder)
      : problem_(problem), argument_(argument), path_(folder / argument.init.content.file) {}

  Status load() {
    argument_.init.content.file = std::filesystem::absolute(path_).lexically_normal().string();
    if (!argument_.is_input()) return {};
    if (Status known = measure(); !known.ok()) return known;
    Result<std::string> content = read_file(path_, kMostCapturedBytes);
    if (!content.ok()) return trouble(content.error().message, content.error().code);
    std::string_view data = *content;
    if (path_.extension() == ".npy") {
      const Result<NpyHeader> header = parse_npy_header(data);
      if (!header.ok()) return trouble(header.error().message);
      if (Status fits = check(*header); !fits.ok()) return fits;
      data.remove_prefix(header->data_begin);
    }
    const auto wanted = static_cast<std::uint64_t>(elements_) * size_in_bytes(argument_.type);
    if (data.size() != wanted) {
      return trouble(fmt::format("it holds {} bytes of data, and {} elements of {} are {}",
                                 data.size(), elements_, cuda_name(argument_.type), wanted));
    }
    const auto bytes = std::as_bytes(std::span(data));
    if (argument_.type == ScalarType::boolean &&
        std::ranges::any_of(bytes, [](std::byte byte) { return byte > std::byte{1}; })) {
      return trouble("a bool is a byte of 0 or 1");
    }
    const std::string hash = hash_bytes(bytes).hex();
    if (!argument_.init.hash.empty() && argument_.init.hash != hash) {
      return trouble(
          "it is not the file that the manifest was written with; take 'hash' out of the manifest "
          "to use it as it is now");
    }
    argument_.init.hash = hash;
    argument_.init.content.bytes =
        std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    return {};
  }

 private:
  [[nodiscard]] Error trouble(std::string_view why,
                              ErrorCode code = ErrorCode::invalid_argument) const {
    return fail(code, fmt::format("args.{}.init: {}: {}", argument_.name, path_.string(), why));
  }

  // How many elements the file has to hold.
  Status measure() {
    for (const Symbols& symbols : problem_.bench) {
      const Result<std::int64_t> count = argument_.element_count(symbols);
      if (!count.ok()) return count.error();
      if (*count <= elements_) continue;
      elements_ = *count;
      largest_ = &symbols;
    }
    for (const Symbols& symbols : problem_.tests) {
      const Result<std::int64_t> count = argument_.element_count(symbols);
      if (!count.ok()) return count.error();
      if (*count <= elements_) continue;
      return trouble(fmt::format("a test needs {} elements, more than the {} of the bench size",
                                 *count, elements_));
    }
    if (static_cast<std::uint64_t>(elements_) <= kMostCapturedBytes / size_in_bytes(argument_.type))
      return {};
    return trouble(fmt::format("{} elements are more than the {} GiB that a file may hold",
                               elements_, kMostCapturedBytes >> 30),
                   ErrorCode::resource);
  }

  // Whether the file's elements are the buffer's.
  Status check(const NpyHeader& header) const {
    if (argument_.record_bytes > 0)
      return trouble("a buffer of structures takes a file of their bytes, not a NumPy file");
    if (scalar_type_from_npy(header.type) != argument_.type) {
      return trouble(fmt::format("its elements are '{}', those of the buffer are {} ('{}')",
                                 header.type, cuda_name(argument_.type), npy_type(argument_.type)));
    }
    if (header.fortran_order && header.shape.size() > 1) {
      return trouble("it is in Fortran order; write it again with numpy.ascontiguousarray");
    }
    if (header.elements != elements_) {
      return trouble(
          fmt::format("it holds {} elements (shape {}), the buffer has {} at the bench "
                      "size",
                      header.elements, shape_text(header.shape), elements_));
    }
    return check_shape(header);
  }

  // As many extents as the buffer, and others: the elements lie in another order.
  Status check_shape(const NpyHeader& header) const {
    if (header.shape.size() < 2 || header.shape.size() != argument_.shape.size()) return {};
    std::vector<std::int64_t> extents;
    for (const IntegerExpression& extent : argument_.shape) {
      const Result<std::int64_t> value = extent.evaluate(*largest_);
      if (!value.ok()) return value.error();
      extents.push_back(*value);
    }
    if (extents == header.shape || argument_.components > 1) return {};
    return trouble(fmt::format("its shape is {}, that of the buffer is {} at the bench size",
                               shape_text(header.shape), shape_text(extents)));
  }

  const Problem& problem_;
  Argument& argument_;
  const std::filesystem::path path_;
  std::int64_t elements_ = 0;
  const Symbols* largest_ = nullptr;
};

}  // namespace

Status load_input_files(Problem& problem, const std::filesystem::path& folder) {
  for (Argument& argument : problem.arguments) {
    if (argument.init.kind != BufferInit::Kind::file) continue;
    if (Status status = InputFile(problem, argument, folder).load(); !status.ok()) return status;
  }
  return {};
}

}  // namespace regraph
