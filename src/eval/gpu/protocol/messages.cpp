#include "eval/gpu/protocol/messages.h"

#include <nlohmann/json.hpp>

namespace regraph::gpu {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stretch, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenRequest, device, harness)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeRequest, device)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceProperties, name, architecture, bus_id, device_count,
                                   driver_version, total_bytes, free_bytes, sm_count, l2_bytes,
                                   shared_bytes_per_block, clock_hertz, memory_clock_hertz,
                                   memory_bus_bits, device_reads_host_memory)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FunctionRequest, entry, dynamic_shared_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadRequest, cubin, functions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FunctionProperties, registers, static_shared_bytes, local_bytes,
                                   max_threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadResponse, module, functions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BufferRequest, bytes, alignment, offset, placement, read_only,
                                   content)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AllocateRequest, buffers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AllocateResponse, buffers, addresses)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FreeRequest, buffers, modules)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SymbolRequest, module, name, content)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchMessage, module, function, grid, block, shared_bytes,
                                   parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReadMessage, buffer, offset)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyMessage, target, source)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunRequest, launches, reads, timeout_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunResponse, damaged)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimedPlan, launches, restores, poisons)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeRequest, plans, samples, cold, as_graph, poison_seed,
                                   timeout_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeResponse, seconds, clock_hertz, wall_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProfileRequest, plan, tier, cupti, poison_seed, timeout_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProfileResponse, values, passes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failure, cuda, final, timeout, message)

void to_json(nlohmann::json& json, const Nothing&) {
  json = nlohmann::json::object();
}
void from_json(const nlohmann::json&, Nothing&) {}

Result<Message> Message::decode(std::string_view bytes) {
  // Lengths that cannot be are thrown, whatever is asked for.
  try {
    nlohmann::json map = nlohmann::json::from_cbor(bytes, true, false);
    if (map.is_object()) return Message(std::make_shared<const nlohmann::json>(std::move(map)));
  } catch (const nlohmann::json::exception&) {
  }
  return fail(ErrorCode::parse, "malformed message: not a map");
}

std::string Message::operation() const {
  const auto found = map_->find("op");
  return found != map_->end() && found->is_string() ? found->get<std::string>() : "";
}

template <typename T>
Result<T> Message::fields() const {
  // The library's only way to say so.
  try {
    return map_->get<T>();
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::parse, std::string("malformed message: ") + problem.what());
  }
}

template <typename T>
std::string encode(std::string_view operation, const T& fields) {
  nlohmann::json map = fields;
  map["op"] = operation;
  std::string bytes;
  nlohmann::json::to_cbor(map, bytes);
  return bytes;
}

std::string readable(const DeviceProperties& properties) {
  return nlohmann::json(properties).dump(2);
}

// Everything that travels as a frame of its own: the JSON library is compiled here alone.
#define INSTANTIATE(TYPE)                              \
  template Result<TYPE> Message::fields<TYPE>() const; \
  template std::string encode<TYPE>(std::string_view, const TYPE&);
INSTANTIATE(OpenRequest)
INSTANTIATE(ProbeRequest)
INSTANTIATE(DeviceProperties)
INSTANTIATE(LoadRequest)
INSTANTIATE(LoadResponse)
INSTANTIATE(AllocateRequest)
INSTANTIATE(AllocateResponse)
INSTANTIATE(FreeRequest)
INSTANTIATE(SymbolRequest)
INSTANTIATE(RunRequest)
INSTANTIATE(RunResponse)
INSTANTIATE(TimeRequest)
INSTANTIATE(TimeResponse)
INSTANTIATE(ProfileRequest)
INSTANTIATE(ProfileResponse)
INSTANTIATE(Failure)
INSTANTIATE(Nothing)
#undef INSTANTIATE

}  // namespace regraph::gpu
