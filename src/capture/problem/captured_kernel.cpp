#include "capture/problem/captured_kernel.h"

#include "base/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <string_view>
#include <utility>

namespace regraph::capture {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "regraph-capture-folder/1";
constexpr const char* kFormatOfStages = "regraph-capture-folder/2";  // which 1 does not know
constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr std::size_t kLargestBlock = 32764;  // CUDA's limit on a kernel's parameters
constexpr std::size_t kMostKept = 1024;
constexpr std::uint64_t kMostAddressed = std::uint64_t{1} << 48;

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

std::vector<std::byte> from_hexadecimal(const std::string& text) {
  if (text.size() % 2 != 0 || text.size() > 2 * kLargestBlock * kMostStages ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw std::invalid_argument("a parameter block is not hexadecimal");
  }
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

json axes(const Dim3& extents) {
  return json::array({extents.x, extents.y, extents.z});
}

Dim3 extents_of(const json& axes) {
  return {axes.at(0).get<std::uint32_t>(), axes.at(1).get<std::uint32_t>(),
          axes.at(2).get<std::uint32_t>()};
}

// A plain name: what lies elsewhere is not the capture's.
std::string data_name(const json& name) {
  auto text = name.get<std::string>();
  if (text.find('/') != std::string::npos)
    throw std::invalid_argument("data lie outside of the folder");
  return text;
}

json stages_json(const std::vector<StageLaunch>& stages) {
  json all = json::array();
  for (const StageLaunch& one : stages) {
    all.push_back({{"grid", axes(one.grid)},
                   {"block", axes(one.block)},
                   {"dynamic_shared_bytes", one.dynamic_shared_bytes}});
  }
  return all;
}

std::vector<StageLaunch> stages_of(const json& text, std::size_t stages) {
  std::vector<StageLaunch> all;
  if (text.size() != stages) throw std::invalid_argument("a launch has another number of stages");
  for (const json& one : text) {
    all.push_back({extents_of(one.at("grid")), extents_of(one.at("block")),
                   one.at("dynamic_shared_bytes").get<std::uint32_t>()});
  }
  return all;
}

json launch_json(const KeptLaunch& launch) {
  json pointers = json::array();
  for (const KeptPointer& one : launch.pointers) {
    pointers.push_back({{"parameter", one.parameter},
                        {"byte", one.byte},
                        {"allocation", one.allocation},
                        {"offset", one.offset},
                        {"bytes", one.bytes},
                        {"data", one.data}});
  }
  json variables = json::array();
  for (const KeptVariable& one : launch.variables)
    variables.push_back({{"name", one.name}, {"bytes", one.bytes}, {"data", one.data}});
  return {{"run", launch.run},
          {"sequence", launch.sequence},
          {"grid", axes(launch.grid)},
          {"block", axes(launch.block)},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"parameters", hexadecimal(launch.parameters)},
          {"pointers", std::move(pointers)},
          {"variables", std::move(variables)},
          {"stages", stages_json(launch.stages)},
          {"thread_instructions", launch.thread_instructions}};
}

KeptLaunch launch_of(const json& text, const std::vector<KeptSlot>& slots, std::size_t stages) {
  KeptLaunch launch;
  launch.stages = stages_of(text.value("stages", json::array()), stages);
  launch.run = text.at("run").get<std::uint64_t>();
  launch.sequence = text.at("sequence").get<std::uint64_t>();
  launch.grid = extents_of(text.at("grid"));
  launch.block = extents_of(text.at("block"));
  launch.dynamic_shared_bytes = text.at("dynamic_shared_bytes").get<std::uint32_t>();
  launch.parameters = from_hexadecimal(text.at("parameters").get<std::string>());
  launch.thread_instructions = text.at("thread_instructions").get<std::uint64_t>();
  for (const KeptSlot& slot : slots) {
    if (std::uint64_t{slot.offset} + slot.bytes > launch.parameters.size())
      throw std::invalid_argument("a parameter block is too short");
  }
  for (const json& one : text.at("pointers")) {
    KeptPointer pointer;
    pointer.parameter = one.at("parameter").get<std::uint32_t>();
    pointer.byte = one.at("byte").get<std::uint32_t>();
    pointer.allocation = one.at("allocation").get<std::uint64_t>();
    pointer.offset = one.at("offset").get<std::uint64_t>();
    pointer.bytes = one.at("bytes").get<std::uint64_t>();
    pointer.data = data_name(one.at("data"));
    if (pointer.parameter >= slots.size())
      throw std::invalid_argument("there is no such parameter");
    if (std::uint64_t{pointer.byte} + sizeof(std::uint64_t) > slots[pointer.parameter].bytes)
      throw std::invalid_argument("a pointer lies outside of its parameter");
    if (pointer.offset > kMostAddressed || pointer.bytes > kMostAddressed)
      throw std::invalid_argument("an allocation is larger than any device");
    launch.pointers.push_back(std::move(pointer));
  }
  for (const json& one : text.at("variables")) {
    launch.variables.push_back({one.at("name").get<std::string>(),
                                one.at("bytes").get<std::uint64_t>(), data_name(one.at("data"))});
  }
  return launch;
}

CapturedKernel kernel_of(const json& text) {
  CapturedKernel kernel;
  kernel.symbol = text.at("symbol").get<std::string>();
  kernel.command = text.at("command").get<std::vector<std::string>>();
  kernel.directory = text.at("directory").get<std::string>();
  kernel.device = text.at("device").get<std::string>();
  kernel.output_hash = text.at("output_hash").get<std::string>();
  kernel.exit_code = text.at("exit_code").get<int>();
  kernel.launches = text.at("launches").get<std::uint64_t>();
  kernel.thread_instructions = text.at("thread_instructions").get<std::uint64_t>();
  kernel.seconds = text.value("seconds", 0.0);
  kernel.overlapping = text.at("overlapping").get<bool>();
  kernel.source = text.at("source").get<std::string>();
  kernel.left_out = text.at("left_out").get<std::vector<std::string>>();
  for (const json& slot : text.at("slots"))
    kernel.slots.push_back({slot.at(0).get<std::uint32_t>(), slot.at(1).get<std::uint32_t>()});
  std::size_t slots = 0;
  for (const json& one : text.value("stages", json::array())) {
    kernel.stages.push_back(
        {one.at("symbol").get<std::string>(), one.at("slots").get<std::size_t>()});
    if (kernel.stages.back().slots > kernel.slots.size())
      throw std::invalid_argument("a stage has more parameters than there are");
    slots += kernel.stages.back().slots;
  }
  if (kernel.stages.size() > kMostStages) throw std::invalid_argument("too many stages");
  if (!kernel.stages.empty() &&
      (slots != kernel.slots.size() || slots_of(kernel, kernel.symbol).empty()))
    throw std::invalid_argument("the stages are not the kernel's");
  const json& kept = text.at("kept");
  if (kept.size() > kMostKept) throw std::invalid_argument("too many launches");
  for (const json& launch : kept)
    kernel.kept.push_back(launch_of(launch, kernel.slots, kernel.stages.size()));
  return kernel;
}

}  // namespace

std::uint64_t KeptLaunch::threads() const {
  if (stages.empty()) return grid.count() * block.count();
  std::uint64_t all = 0;
  for (const StageLaunch& stage : stages)
    all += stage.grid.count() * stage.block.count();
  return all;
}

std::vector<KeptSlot> slots_of(const CapturedKernel& kernel, const std::string& symbol) {
  if (kernel.stages.empty()) return kernel.slots;
  std::size_t first = 0;
  for (const KernelStage& stage : kernel.stages) {
    if (stage.symbol == symbol && first + stage.slots <= kernel.slots.size()) {
      const auto begin = kernel.slots.begin() + static_cast<std::ptrdiff_t>(first);
      std::vector<KeptSlot> slots(begin, begin + static_cast<std::ptrdiff_t>(stage.slots));
      // A block's first parameter stands at its begin.
      const std::uint32_t from = slots.empty() ? 0 : slots.front().offset;
      for (KeptSlot& slot : slots)
        slot.offset -= from;
      return slots;
    }
    first += stage.slots;
  }
  return {};
}

Status write_captured_kernel(const std::filesystem::path& folder, const CapturedKernel& kernel) {
  json slots = json::array();
  for (const KeptSlot& slot : kernel.slots)
    slots.push_back(json::array({slot.offset, slot.bytes}));
  json kept = json::array();
  for (const KeptLaunch& launch : kernel.kept)
    kept.push_back(launch_json(launch));
  json stages = json::array();
  for (const KernelStage& stage : kernel.stages)
    stages.push_back({{"symbol", stage.symbol}, {"slots", stage.slots}});
  const json document = {{"format", kernel.stages.empty() ? kFormat : kFormatOfStages},
                         {"symbol", kernel.symbol},
                         {"command", kernel.command},
                         {"directory", kernel.directory},
                         {"device", kernel.device},
                         {"output_hash", kernel.output_hash},
                         {"exit_code", kernel.exit_code},
                         {"launches", kernel.launches},
                         {"thread_instructions", kernel.thread_instructions},
                         {"seconds", kernel.seconds},
                         {"overlapping", kernel.overlapping},
                         {"source", kernel.source},
                         {"left_out", kernel.left_out},
                         {"stages", std::move(stages)},
                         {"slots", std::move(slots)},
                         {"kept", std::move(kept)}};
  // Arguments of programs need not be UTF-8.
  const std::string text = document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  if (Status status = write_file(folder / kCaptureFile, text); !status.ok()) return status;
  std::error_code failed;
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", folder.string(), failed.message()));
  return {};
}

Result<CapturedKernel> read_captured_kernel(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kCaptureFile;
  const auto text = read_file(path, kLargestFile);
  if (!text.ok()) return text.error();
  const auto damaged = [&](std::string_view why) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: it is no capture, or damaged ({}); capture the program once more",
                            path.string(), why));
  };
  // nlohmann reports wrong types by exceptions; none may leave this room.
  try {
    const json document = json::parse(*text);
    const json& format = document.at("format");
    if (format != kFormat && format != kFormatOfStages) return damaged("another format");
    CapturedKernel kernel = kernel_of(document);
    if (kernel.kept.empty()) return damaged("no launch was kept");
    return kernel;
  } catch (const std::exception& exception) {
    return damaged(exception.what());
  }
}

}  // namespace regraph::capture
