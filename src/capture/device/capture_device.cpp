#include "capture/device/capture_device.h"

#include "base/deadline.h"
#include "capture/fat_binary.h"
#include "capture/kernel_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <cuda_runtime_api.h>
#include <span>
#include <utility>

namespace regraph::capture {
namespace {

constexpr std::size_t kMostShapes = 64;
constexpr std::size_t kMostNotes = 200;
constexpr std::uint32_t kMostThreads = 1024;  // of a block
constexpr std::size_t kWord = sizeof(std::uint64_t);
// Memory is hashed before and after a launch where that takes a small part of executing it.
constexpr double kHashedBytesPerSecond = 4e9;
constexpr double kSecondsPerHash = 5e-6;
constexpr double kShareForHashing = 0.25;
constexpr std::size_t kMostSteady = 16;  // arguments of a kernel; programs swap buffers

// The struct at the begin of a request, and what follows it.
template <typename Structure>
bool take(std::string_view& request, Structure& into) {
  if (request.size() < sizeof into) return false;
  std::memcpy(&into, request.data(), sizeof into);
  request.remove_prefix(sizeof into);
  return true;
}

template <typename Structure>
std::string bytes_of(const Structure& structure) {
  return {reinterpret_cast<const char*>(&structure), sizeof structure};
}

DeviceAnswer failed(int status) {
  return {status, {}, -1};
}

// What the runtime says on a GPU after such a fault.
int status_of(ptx::FaultKind kind) {
  switch (kind) {
    case ptx::FaultKind::none:
      return cudaSuccess;
    case ptx::FaultKind::out_of_bounds:
    case ptx::FaultKind::write_to_read_only:
      return cudaErrorIllegalAddress;
    case ptx::FaultKind::misaligned:
      return cudaErrorMisalignedAddress;
    case ptx::FaultKind::cancelled:
    case ptx::FaultKind::instruction_budget:
    case ptx::FaultKind::deadlock:
      return cudaErrorLaunchTimeout;
    default:
      return cudaErrorLaunchFailure;
  }
}

std::string shape_of(const Launch& launch) {
  return fmt::format("grid {}x{}x{} block {}x{}x{}", launch.grid[0], launch.grid[1], launch.grid[2],
                     launch.block[0], launch.block[1], launch.block[2]);
}

}  // namespace

CaptureDevice::CaptureDevice(const CaptureDeviceConfig& config)
    : config_(config), memory_(config_.facts.total_bytes) {}

DeviceAnswer CaptureDevice::answer(RequestKind kind, std::string_view request,
                                   const Cancellation& cancellation) {
  switch (kind) {
    case RequestKind::hello:
      return {cudaSuccess, bytes_of(config_.facts), -1};
    case RequestKind::module:
      return load_module(request);
    case RequestKind::kernel:
      return find_kernel(request);
    case RequestKind::variable:
      return find_variable(request);
    case RequestKind::launch:
    case RequestKind::write:
    case RequestKind::fill:
    case RequestKind::move:
      return work(kind, request, cancellation);
    case RequestKind::allocate:
    case RequestKind::host_memory:
    case RequestKind::release:
    case RequestKind::read:
    case RequestKind::access:
      if (const int status = catch_up(cancellation); status != cudaSuccess) return failed(status);
      return touch(kind, request);
    case RequestKind::not_there:
      ++not_there_[std::string(request.substr(0, 200))];
      return {};
    default:  // what programs on a GPU say
      return failed(cudaErrorInvalidValue);
  }
}

DeviceAnswer CaptureDevice::touch(RequestKind kind, std::string_view request) {
  if (kind == RequestKind::read) return read(request);
  Access access;
  if (kind == RequestKind::access) {
    if (!take(request, access)) return failed(cudaErrorInvalidValue);
    if (access.writes != 0) {
      repeats_.forget();
      tell_of_write(0);
    }
    return {};
  }
  repeats_.forget();
  if (kind == RequestKind::release) return release(request);
  return kind == RequestKind::allocate ? allocate(request) : register_host(request);
}

std::vector<const LaunchedKernel*> CaptureDevice::launched() const {
  std::vector<const LaunchedKernel*> all;
  all.reserve(order_.size());
  for (const std::uint32_t index : order_)
    all.push_back(&entries_[index]->record);
  return all;
}

DeviceAnswer CaptureDevice::load_module(std::string_view request) {
  Module module;
  const auto images = read_fat_binaries(std::as_bytes(std::span(request.data(), request.size())));
  module.trouble = images
                       ? "it has no PTX that this device takes (machine code alone: was it built "
                         "for other GPUs, or linked from relocatable code, -rdc?)"
                       : images.error().message;
  const int architecture = config_.facts.major * 10 + config_.facts.minor;
  int best = -1;
  for (const DeviceImage& image : images ? *images : std::vector<DeviceImage>()) {
    if (image.kind == DeviceImage::Kind::machine_code) {
      const auto kernels = kernels_of_cubin(image.content);
      for (const KernelImage& kernel : kernels ? *kernels : std::vector<KernelImage>())
        module.registers[kernel.symbol] = kernel.registers;
    } else if (!image.not_read.empty()) {
      module.trouble = image.not_read;
    } else if (image.architecture <= architecture && image.architecture > best) {
      best = image.architecture;
      module.ptx = image.content;
    }
  }
  if (best >= 0) module.trouble.clear();
  if (!module.trouble.empty() && notes_.size() < kMostNotes)
    notes_.push_back(fmt::format("module {}: {}", modules_.size(), module.trouble));
  modules_.push_back(std::move(module));
  return {cudaSuccess, bytes_of(ModuleAnswer{static_cast<std::uint32_t>(modules_.size() - 1)}), -1};
}

int CaptureDevice::load_entry(Module& module, const std::string& symbol,
                              std::optional<ptx::Program>& into) {
  if (!module.trouble.empty()) return cudaErrorNoKernelImageForDevice;
  auto program =
      module.program ? module.program->with_entry(symbol) : ptx::Program::load(module.ptx, symbol);
  if (!program) {
    if (notes_.size() < kMostNotes)
      notes_.push_back(fmt::format("{}: {}", readable_name(symbol), program.error().message));
    return program.error().code == ErrorCode::not_found ? cudaErrorInvalidDeviceFunction
                                                        : cudaErrorInvalidPtx;
  }
  if (!module.program) {
    auto variables = ptx::ModuleMemory::create(*program);
    if (!variables) return cudaErrorMemoryAllocation;
    module.variables.emplace(std::move(*variables));
    module.program.emplace(*program);
  }
  into.emplace(std::move(*program));
  return cudaSuccess;
}

DeviceAnswer CaptureDevice::find_kernel(std::string_view request) {
  NameInModule named;
  if (!take(request, named) || named.module >= modules_.size())
    return failed(cudaErrorInvalidValue);
  const std::string symbol(request);
  Module& module = modules_[named.module];
  std::optional<ptx::Program> program;
  if (const int status = load_entry(module, symbol, program); status != cudaSuccess)
    return failed(status);
  const auto& parameters = program->parameters();
  if (parameters.size() > kMostParameters) return failed(cudaErrorInvalidPtx);
  KernelAnswer known;
  known.kernel = static_cast<std::uint32_t>(entries_.size());
  known.parameters = static_cast<std::uint32_t>(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    known.slots[i] = {static_cast<std::uint32_t>(parameters[i].offset),
                      static_cast<std::uint32_t>(parameters[i].bytes)};
    known.parameter_bytes =
        std::max(known.parameter_bytes, known.slots[i].offset + known.slots[i].bytes);
  }
  known.static_shared_bytes = program->static_shared_bytes();
  const auto registers = module.registers.find(symbol);
  if (registers != module.registers.end()) known.registers = registers->second;
  auto entry = std::make_unique<Entry>(Entry{std::move(*program), named.module, {}, 0.0, {}, {}});
  entry->slots.assign(known.slots, known.slots + known.parameters);
  entry->record.symbol = symbol;
  entry->record.module = named.module;
  entries_.push_back(std::move(entry));
  return {cudaSuccess, bytes_of(known), -1};
}

DeviceAnswer CaptureDevice::find_variable(std::string_view request) {
  NameInModule named;
  if (!take(request, named) || named.module >= modules_.size())
    return failed(cudaErrorInvalidValue);
  Module& module = modules_[named.module];
  // Variables come with any entry of the module.
  if (!module.program) {
    const std::size_t at = module.ptx.find(".entry ");
    if (at == std::string::npos) return failed(cudaErrorInvalidSymbol);
    const std::size_t begin = at + 7;
    std::optional<ptx::Program> program;
    const std::string symbol =
        module.ptx.substr(begin, module.ptx.find_first_of("( \t\r\n", begin) - begin);
    if (const int status = load_entry(module, symbol, program); status != cudaSuccess)
      return failed(status);
  }
  for (const ptx::ModuleMemory::Variable& variable : module.variables->variables()) {
    if (variable.name == request)
      return {cudaSuccess, bytes_of(VariableAnswer{variable.address, variable.bytes}), -1};
  }
  return failed(cudaErrorInvalidSymbol);
}

DeviceAnswer CaptureDevice::allocate(std::string_view request) {
  Allocation wanted;
  if (!take(request, wanted)) return failed(cudaErrorInvalidValue);
  const auto buffer = memory_.allocate(wanted.bytes, wanted.kind);
  if (!buffer) {
    if (notes_.size() < kMostNotes) notes_.push_back(buffer.error().message);
    return failed(cudaErrorMemoryAllocation);
  }
  return {cudaSuccess, bytes_of(AllocationAnswer{(*buffer)->address, (*buffer)->mapped_bytes}),
          (*buffer)->file.get()};
}

DeviceAnswer CaptureDevice::register_host(std::string_view request) {
  HostMemory wanted;
  if (!take(request, wanted)) return failed(cudaErrorInvalidValue);
  const auto buffer = memory_.register_host(wanted);
  if (!buffer) return failed(cudaErrorMemoryAllocation);
  return {cudaSuccess, bytes_of(AllocationAnswer{(*buffer)->address, (*buffer)->mapped_bytes}),
          (*buffer)->file.get()};
}

DeviceAnswer CaptureDevice::release(std::string_view request) {
  Address address;
  const bool released = take(request, address) && memory_.release(address.address);
  return failed(released ? cudaSuccess : cudaErrorInvalidValue);
}

void CaptureDevice::release_left(const std::vector<std::uint64_t>& addresses,
                                 const Cancellation& cancellation) {
  if (addresses.empty()) return;
  // With nobody else, nobody will read what was left out.
  if (clients_ > 1) (void)catch_up(cancellation);
  repeats_.forget();
  for (const std::uint64_t address : addresses)
    (void)memory_.release(address);
}

std::span<std::byte> CaptureDevice::variable_bytes(std::uint64_t address, std::uint64_t bytes) {
  for (const Module& module : modules_) {
    if (!module.variables) continue;
    for (const ptx::ModuleMemory::Variable& variable : module.variables->variables()) {
      const std::uint64_t offset = address - variable.address;
      if (address >= variable.address && offset <= variable.bytes &&
          bytes <= variable.bytes - offset) {
        return {variable.host.get() + offset, bytes};
      }
    }
  }
  return {};
}

std::span<std::byte> CaptureDevice::device_bytes(std::uint64_t address, std::uint64_t bytes) {
  const SharedBuffer* buffer = memory_.find(address);
  if (buffer == nullptr) return variable_bytes(address, bytes);
  const std::uint64_t offset = address - buffer->address;
  if (bytes > buffer->bytes - offset) return {};
  return {buffer->host + offset, bytes};
}

DeviceAnswer CaptureDevice::read(std::string_view request) {
  Range range;
  if (!take(request, range)) return failed(cudaErrorInvalidValue);
  const std::span<const std::byte> found = variable_bytes(range.address, range.bytes);
  if (found.empty()) return failed(cudaErrorInvalidValue);
  return {cudaSuccess, {reinterpret_cast<const char*>(found.data()), found.size()}, -1};
}

DeviceAnswer CaptureDevice::write(std::string_view request) {
  Range range;
  if (!take(request, range) || request.size() != range.bytes) return failed(cudaErrorInvalidValue);
  const std::span<std::byte> found = device_bytes(range.address, range.bytes);
  if (found.empty()) return failed(cudaErrorInvalidValue);
  tell_of_write(range.address);
  std::memcpy(found.data(), request.data(), request.size());
  return {};
}

DeviceAnswer CaptureDevice::fill(std::string_view request) {
  Fill wanted;
  if (!take(request, wanted)) return failed(cudaErrorInvalidValue);
  const std::span<std::byte> found = device_bytes(wanted.address, wanted.bytes);
  if (found.empty()) return failed(cudaErrorInvalidValue);
  tell_of_write(wanted.address);
  std::memset(found.data(), static_cast<int>(wanted.value), found.size());
  return {};
}

DeviceAnswer CaptureDevice::move(std::string_view request) {
  Move wanted;
  if (!take(request, wanted)) return failed(cudaErrorInvalidValue);
  const std::span<std::byte> to = device_bytes(wanted.to, wanted.bytes);
  const std::span<const std::byte> from = device_bytes(wanted.from, wanted.bytes);
  if (to.empty() || from.empty()) return failed(cudaErrorInvalidValue);
  tell_of_write(wanted.to);
  std::memmove(to.data(), from.data(), from.size());
  return {};
}

void CaptureDevice::tell_of_write(std::uint64_t address) const {
  if (config_.observer == nullptr || catching_up_) return;
  const SharedBuffer* buffer = address == 0 ? nullptr : memory_.find(address);
  config_.observer->before_write(buffer == nullptr ? std::nullopt : std::optional(buffer->id));
}

DeviceAnswer CaptureDevice::execute(RequestKind kind, std::string_view request,
                                    const Cancellation& cancellation) {
  switch (kind) {
    case RequestKind::launch:
      return launch(request, cancellation);
    case RequestKind::write:
      return write(request);
    case RequestKind::fill:
      return fill(request);
    default:
      return move(request);
  }
}

bool CaptureDevice::sees_all_writes() const {
  return clients_ == 1 && std::ranges::all_of(memory_.buffers(), [](const auto& buffer) {
           return buffer.second.kind == MemoryKind::device;
         });
}

DeviceAnswer CaptureDevice::work(RequestKind kind, std::string_view request,
                                 const Cancellation& cancellation) {
  const bool can_skip = config_.skip_repeats && sees_all_writes();
  Hash128 key;
  if (can_skip) {
    const Hash128 content = hash_text(request);
    key =
        Hasher().add(static_cast<std::uint64_t>(kind)).add(content.low).add(content.high).finish();
    if (repeats_.expects(key) && may_skip(kind, request) && repeats_.skip(key)) {
      if (kind == RequestKind::launch) record_skip(request, true);
      return {};
    }
  }
  if (const int status = catch_up(cancellation); status != cudaSuccess) return failed(status);
  const auto start = std::chrono::steady_clock::now();
  DeviceAnswer answer = execute(kind, request, cancellation);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (!can_skip || answer.status != cudaSuccess) {
    repeats_.forget();
  } else if (repeats_.done({key, static_cast<std::uint32_t>(kind), std::string(request)},
                           taken.count(), hash_seconds())) {
    repeats_.remember(hash_memory());
  }
  return answer;
}

int CaptureDevice::catch_up(const Cancellation& cancellation) {
  int status = cudaSuccess;
  catching_up_ = true;
  for (const PeriodicWork::Work* behind : repeats_.behind()) {
    const auto kind = static_cast<RequestKind>(behind->kind);
    if (kind == RequestKind::launch) record_skip(behind->request, false);
    status = execute(kind, behind->request, cancellation).status;
    if (status != cudaSuccess) break;
  }
  catching_up_ = false;
  repeats_.caught_up();
  if (status != cudaSuccess) repeats_.forget();
  return status;
}

bool CaptureDevice::may_skip(RequestKind kind, std::string_view request) {
  Launch wanted;
  if (kind != RequestKind::launch || config_.observer == nullptr) return true;
  return take(request, wanted) &&
         config_.observer->may_skip(entries_[wanted.kernel]->record.symbol);
}

void CaptureDevice::record_skip(std::string_view launch, bool skipped) {
  Launch wanted;
  if (!take(launch, wanted)) return;
  const std::uint64_t threads = std::uint64_t{wanted.block[0]} * wanted.block[1] * wanted.block[2] *
                                wanted.grid[0] * wanted.grid[1] * wanted.grid[2];
  LaunchedKernel& record = entries_[wanted.kernel]->record;
  if (skipped) {
    ++record.launches;
    ++record.skipped;
    record.threads += threads;
  } else {
    --record.launches;
    --record.skipped;
    record.threads -= threads;
  }
}

std::vector<PointerArgument> CaptureDevice::pointers_in(const Entry& entry,
                                                        std::string_view block) const {
  std::vector<PointerArgument> pointers;
  const auto& parameters = entry.program.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (std::size_t byte = 0; byte + kWord <= parameters[i].bytes; byte += kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + parameters[i].offset + byte, kWord);
      const SharedBuffer* buffer = memory_.find(word);
      if (buffer == nullptr) continue;
      pointers.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(byte),
                          buffer->id, word - buffer->address});
    }
  }
  return pointers;
}

ObservedLaunch CaptureDevice::observed(const Entry& entry, const Launch& launch,
                                       std::string_view block) const {
  const auto dim = [](const std::uint32_t(&axes)[3]) { return Dim3{axes[0], axes[1], axes[2]}; };
  ObservedLaunch one{entry.record.symbol,
                     dim(launch.grid),
                     dim(launch.block),
                     launch.dynamic_shared_bytes,
                     std::as_bytes(std::span(block.data(), block.size())),
                     entry.slots,
                     {},
                     {},
                     cut_short_};
  for (const PointerArgument& pointer : pointers_in(entry, block)) {
    for (const auto& [address, buffer] : memory_.buffers()) {
      if (buffer.id != pointer.allocation) continue;
      one.pointers.push_back({pointer.parameter,
                              pointer.byte,
                              pointer.allocation,
                              pointer.offset,
                              buffer.bytes,
                              {buffer.host, buffer.bytes}});
    }
  }
  for (const ptx::ModuleMemory::Variable& variable : modules_[entry.module].variables->variables())
    one.variables.push_back({variable.name, {variable.host.get(), variable.bytes}});
  return one;
}

void CaptureDevice::record_arguments(const Entry& entry, std::string_view block,
                                     LaunchedKernel& record) const {
  std::vector<PointerArgument> pointers = pointers_in(entry, block);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      record.aliased = record.aliased || pointers[i].allocation == pointers[j].allocation;
  }
  if (record.launches == 0) record.pointers = std::move(pointers);
}

Hash128 CaptureDevice::hash_memory() const {
  Hasher all;
  const auto add = [&](std::uint64_t address, std::span<const std::byte> bytes) {
    const Hash128 content = hash_bytes(bytes);
    all.add(address).add(content.low).add(content.high);
  };
  for (const auto& [address, buffer] : memory_.buffers())
    add(address, {buffer.host, buffer.usable_bytes});
  for (const Module& module : modules_) {
    if (!module.variables) continue;
    for (const ptx::ModuleMemory::Variable& variable : module.variables->variables())
      add(variable.address, {variable.host.get(), variable.bytes});
  }
  return all.finish();
}

void CaptureDevice::record_slack(const ptx::SlackUse& slack, LaunchedKernel& record) {
  record.slack_reads += slack.reads;
  record.slack_writes += slack.writes;
  if (record.first_slack.empty()) record.first_slack = slack.first.message;
}

double CaptureDevice::hash_seconds() const {
  return kSecondsPerHash + static_cast<double>(memory_.used_bytes()) / kHashedBytesPerSecond;
}

bool CaptureDevice::is_worth_hashing(const Entry& entry) const {
  return config_.skip_repeats && 2.0 * hash_seconds() < kShareForHashing * entry.last_seconds;
}

DeviceAnswer CaptureDevice::launch(std::string_view request, const Cancellation& cancellation) {
  Launch wanted;
  if (!take(request, wanted) || wanted.kernel >= entries_.size() ||
      request.size() != wanted.parameter_bytes) {
    return failed(cudaErrorInvalidValue);
  }
  Entry& entry = *entries_[wanted.kernel];
  const auto& parameters = entry.program.parameters();
  const bool complete = std::ranges::all_of(parameters, [&](const auto& parameter) {
    return parameter.offset + parameter.bytes <= request.size();
  });
  const std::uint64_t block_threads =
      std::uint64_t{wanted.block[0]} * wanted.block[1] * wanted.block[2];
  const std::uint64_t blocks = std::uint64_t{wanted.grid[0]} * wanted.grid[1] * wanted.grid[2];
  if (!complete || block_threads == 0 || block_threads > kMostThreads || blocks == 0)
    return failed(cudaErrorInvalidConfiguration);
  LaunchedKernel& record = entry.record;
  if (record.launches == 0) order_.push_back(wanted.kernel);
  record_arguments(entry, request, record);
  if (record.shapes.size() < kMostShapes) record.shapes.insert(shape_of(wanted));
  ++record.launches;
  record.threads += blocks * block_threads;

  std::optional<ObservedLaunch> watched;
  // Those that are caught up with were counted when they were skipped.
  LaunchObserver* const observer = catching_up_ ? nullptr : config_.observer;
  if (observer != nullptr || config_.substitute != nullptr)
    watched.emplace(observed(entry, wanted, request));
  if (observer != nullptr) observer->before_launch(*watched);
  const std::string asked = bytes_of(wanted) + std::string(request);
  const auto steady = entry.steady.find(asked);
  std::optional<Hash128> before;
  if (steady != entry.steady.end() || is_worth_hashing(entry)) before = hash_memory();
  if (steady != entry.steady.end() && steady->second == *before) {
    ++record.skipped;
    if (observer != nullptr) observer->after_launch(*watched, 0);
    return {};
  }

  ptx::LaunchArguments arguments;
  arguments.grid = {wanted.grid[0], wanted.grid[1], wanted.grid[2]};
  arguments.block = {wanted.block[0], wanted.block[1], wanted.block[2]};
  arguments.dynamic_shared_bytes = wanted.dynamic_shared_bytes;
  const auto block = std::as_bytes(std::span(request.data(), request.size()));
  arguments.parameters.assign(block.begin(), block.end());
  ptx::RunOptions options;
  options.count = false;
  options.threads = config_.threads;
  options.shared_limit_bytes =
      static_cast<std::uint32_t>(config_.facts.shared_bytes_per_block_with_opt_in);
  options.variables = &*modules_[entry.module].variables;
  const ptx::Program* program = &entry.program;
  if (auto other =
          config_.substitute != nullptr ? config_.substitute->substitute(*watched) : std::nullopt) {
    program = other->program;
    arguments = std::move(other->arguments);
    options.variables = other->variables;
  }
  const auto start = std::chrono::steady_clock::now();
  const Deadline deadline(config_.launch_seconds, cancellation);
  const ptx::RunResult result =
      ptx::run(*program, arguments, memory_.memory(), options, deadline.cancellation());
  entry.last_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.seconds += entry.last_seconds;
  record.thread_instructions += result.profile.thread_instructions;
  if (observer != nullptr)
    observer->after_launch(*watched, result.ok() ? result.profile.thread_instructions : 0);
  record_slack(result.slack, record);
  if (!result.ok() && record.fault.empty()) {
    if (result.fault.kind != ptx::FaultKind::cancelled) {
      record.fault = result.fault.message;
    } else if (deadline.expired()) {
      record.fault = fmt::format("a launch took longer than {} s", config_.launch_seconds);
    }
  }
  if (before) {
    if (entry.steady.size() >= kMostSteady) entry.steady.clear();
    if (result.ok() && hash_memory() == *before) {
      entry.steady[asked] = *before;
    } else {
      entry.steady.erase(asked);
    }
  }
  if (config_.goes_on && result.fault.kind == ptx::FaultKind::cancelled && deadline.expired()) {
    cut_short_ = true;
    return {};
  }
  return failed(status_of(result.fault.kind));
}

}  // namespace regraph::capture
