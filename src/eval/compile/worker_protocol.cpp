#include "eval/compile/worker_protocol.h"

#include <cstdint>

namespace regraph::compile_internal {

namespace {

constexpr std::string_view kRequestMagic = "ReGraphCompile3?";
constexpr std::string_view kResponseMagic = "ReGraphCompile3!";

class Writer {
 public:
  explicit Writer(std::string_view magic) : bytes_(magic) {}

  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes_ += static_cast<char>(value >> shift);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void list(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values)
      text(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view magic) : rest_(bytes) {
    good_ = rest_.substr(0, magic.size()) == magic;
    if (good_) rest_.remove_prefix(magic.size());
  }

  std::uint64_t number() {
    if (!good_ || rest_.size() < 8) return spoil();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    }
    rest_.remove_prefix(8);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (!good_ || size > rest_.size()) {
      spoil();
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  std::vector<std::string> list() {
    std::vector<std::string> values;
    const std::uint64_t count = number();
    for (std::uint64_t i = 0; good_ && i < count; ++i)
      values.push_back(text());
    return values;
  }
  // Whether everything was well-formed and nothing is left.
  [[nodiscard]] bool complete() const { return good_ && rest_.empty(); }

 private:
  std::uint64_t spoil() {
    good_ = false;
    return 0;
  }
  std::string_view rest_;
  bool good_ = false;
};

}  // namespace

std::string encode(const WorkerRequest& request) {
  Writer writer(kRequestMagic);
  writer.text(request.nvrtc_library);
  writer.list(request.include_directories);
  writer.number(request.headers.size());
  for (const auto& [name, text] : request.headers) {
    writer.text(name);
    writer.text(text);
  }
  writer.text(request.file_name);
  writer.text(request.source);
  writer.text(request.kernel);
  writer.list(request.options);
  writer.number(request.want_cubin ? 1 : 0);
  writer.text(request.tools.program);
  writer.text(request.tools.script);
  writer.text(request.tools.assembler);
  writer.list(request.tools.assembler_options);
  writer.list(request.tools.runnable_directories);
  writer.text(request.tools.folder);
  return writer.take();
}

std::optional<WorkerRequest> decode_request(std::string_view bytes) {
  Reader reader(bytes, kRequestMagic);
  WorkerRequest request;
  request.nvrtc_library = reader.text();
  request.include_directories = reader.list();
  const std::uint64_t headers = reader.number();
  for (std::uint64_t i = 0; i < headers && i < 1000; ++i) {
    std::string name = reader.text();
    request.headers.emplace_back(std::move(name), reader.text());
  }
  request.file_name = reader.text();
  request.source = reader.text();
  request.kernel = reader.text();
  request.options = reader.list();
  request.want_cubin = reader.number() != 0;
  request.tools.program = reader.text();
  request.tools.script = reader.text();
  request.tools.assembler = reader.text();
  request.tools.assembler_options = reader.list();
  request.tools.runnable_directories = reader.list();
  request.tools.folder = reader.text();
  if (!reader.complete()) return std::nullopt;
  return request;
}

std::string encode(const WorkerResponse& response) {
  Writer writer(kResponseMagic);
  writer.number(static_cast<std::uint64_t>(response.status));
  for (const std::string* field :
       {&response.log, &response.ptx, &response.cubin, &response.entry, &response.sandbox}) {
    writer.text(*field);
  }
  return writer.take();
}

std::optional<WorkerResponse> decode_response(std::string_view bytes) {
  Reader reader(bytes, kResponseMagic);
  WorkerResponse response;
  const std::uint64_t status = reader.number();
  for (std::string* field :
       {&response.log, &response.ptx, &response.cubin, &response.entry, &response.sandbox}) {
    *field = reader.text();
  }
  if (!reader.complete() || status > static_cast<std::uint64_t>(WorkerResponse::Status::failed)) {
    return std::nullopt;
  }
  response.status = static_cast<WorkerResponse::Status>(status);
  return response;
}

}  // namespace regraph::compile_internal
