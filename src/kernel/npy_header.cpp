#include "kernel/npy_header.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace regraph {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 16;
constexpr std::size_t kMostExtents = 32;  // NumPy's own limit for long

// NumPy has no bfloat16 of its own: of that of other packages it writes "<V2", two bytes that it
// knows nothing of, and "|V2" once they were read back.
constexpr std::array<std::pair<std::string_view, ScalarType>, 14> kTypes = {{
    {"|b1", ScalarType::boolean},
    {"|i1", ScalarType::i8},
    {"|u1", ScalarType::u8},
    {"<i2", ScalarType::i16},
    {"<u2", ScalarType::u16},
    {"<i4", ScalarType::i32},
    {"<u4", ScalarType::u32},
    {"<i8", ScalarType::i64},
    {"<u8", ScalarType::u64},
    {"<f2", ScalarType::f16},
    {"<V2", ScalarType::bf16},
    {"|V2", ScalarType::bf16},
    {"<f4", ScalarType::f32},
    {"<f8", ScalarType::f64},
}};

Error damaged(std::string_view why) {
  return fail(ErrorCode::invalid_argument, fmt::format("its NumPy header {}", why));
}

// The dictionary in the head, a Python literal: {'descr': '<f4', 'fortran_order': False, ...}.
class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : rest_(text) {}

  Result<NpyHeader> read() {
    NpyHeader header;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    if (!take("{")) return damaged("is no dictionary");
    while (!take("}")) {
      const auto key = text();
      if (!key || !take(":")) return damaged("has a key that cannot be read");
      Status status;
      if (*key == "descr" && !std::exchange(has_type, true)) {
        status = read_type(header);
      } else if (*key == "fortran_order" && !std::exchange(has_order, true)) {
        status = read_order(header);
      } else if (*key == "shape" && !std::exchange(has_shape, true)) {
        status = read_shape(header);
      } else {
        return damaged("has a key that does not belong there, or one twice");
      }
      if (!status.ok()) return status.error();
      if (take(",")) continue;
      if (!take("}")) return damaged("has no comma between two keys");
      break;
    }
    skip_blanks();
    if (!rest_.empty()) return damaged("goes on behind its dictionary");
    if (!has_type || !has_order || !has_shape)
      return damaged("lacks one of descr, fortran_order and shape");
    return header;
  }

 private:
  void skip_blanks() {
    const std::size_t end = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // A short text in quotes, without escapes.
  std::optional<std::string> text() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string found(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    if (found.find_first_of("\\\n") != std::string::npos) return std::nullopt;
    return found;
  }

  Status read_type(NpyHeader& header) {
    auto code = text();
    if (!code) return damaged("describes no plain elements (structures are not read)");
    header.type = *std::move(code);
    return {};
  }

  Status read_order(NpyHeader& header) {
    header.fortran_order = take("True");
    if (header.fortran_order || take("False")) return {};
    return damaged("says neither True nor False for fortran_order");
  }

  Status read_shape(NpyHeader& header) {
    if (!take("(")) return damaged("has a shape that is no tuple");
    while (!take(")")) {
      skip_blanks();
      std::int64_t extent = 0;
      const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (code != std::errc{} || extent < 0) return damaged("has an extent that is no number");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      header.shape.push_back(extent);
      if (header.shape.size() > kMostExtents) return damaged("has more than 32 extents");
      if (__builtin_mul_overflow(header.elements, extent, &header.elements))
        return damaged("has more elements than 64 bits count");
      if (take(",")) continue;
      if (header.shape.size() < 2) return damaged("has a shape that is no tuple");
      if (!take(")")) return damaged("has a shape that does not end");
      break;
    }
    return {};
  }

  std::string_view rest_;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view content) {
  if (!content.starts_with(kMagic)) return damaged("is missing: it is no .npy file");
  constexpr std::size_t kVersionEnd = kMagic.size() + 2;
  if (content.size() < kVersionEnd) return damaged("is cut off");
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(content[at]); };
  const unsigned major = byte(kMagic.size());
  const unsigned minor = byte(kMagic.size() + 1);
  if ((major != 1 && major != 2) || minor != 0) {
    return damaged(fmt::format("has the version {}.{}, and 1.0 and 2.0 are read", major, minor));
  }
  const std::size_t width = major == 1 ? 2 : 4;
  if (content.size() < kVersionEnd + width) return damaged("is cut off");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= std::size_t{byte(kVersionEnd + i)} << (8 * i);
  if (length > kMostHeaderBytes) return damaged(fmt::format("is {} bytes long", length));
  const std::size_t begin = kVersionEnd + width;
  if (content.size() - begin < length) return damaged("is cut off");
  Result<NpyHeader> header = DictionaryReader(content.substr(begin, length)).read();
  if (header.ok()) header->data_begin = begin + length;
  return header;
}

std::optional<ScalarType> scalar_type_from_npy(std::string_view type) {
  for (const auto& [code, known] : kTypes) {
    if (code == type) return known;
  }
  return std::nullopt;
}

std::string_view npy_type(ScalarType type) {
  for (const auto& [code, known] : kTypes) {
    if (known == type) return code;
  }
  return "";
}

std::string npy_header_text(ScalarType type, const std::vector<std::int64_t>& shape) {
  std::string extents;
  for (const std::int64_t extent : shape)
    extents += fmt::format("{}, ", extent);
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                       npy_type(type), extents);
  constexpr std::size_t kAlignment = 64;  // of the data, by the format
  constexpr std::size_t kBefore = kMagic.size() + 4;
  while ((kBefore + dictionary.size() + 1) % kAlignment != 0)
    dictionary += ' ';
  dictionary += '\n';
  std::string text(kMagic);
  text += '\x01';
  text += '\0';
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary;
}

}  // namespace regraph
