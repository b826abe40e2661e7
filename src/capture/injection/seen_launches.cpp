#include "capture/injection/seen_launches.h"

#include "capture/runtime/server_connection.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unistd.h>

namespace regraph::capture {
namespace {

constexpr std::size_t kWord = 8;
constexpr CUdeviceptr kLowestAddress = 1 << 16;
constexpr std::size_t kPiece = std::size_t{32} << 20;
// Of each kernel; the median counts.
constexpr int kTimedLaunches = 16;

// The launch of this thread that is being timed.
struct Timed {
  std::string symbol;
  std::chrono::steady_clock::time_point begin;
};
thread_local Timed timed;

std::uint32_t own_process() {
  return static_cast<std::uint32_t>(::getpid());
}

Part part_of(const std::string& text) {
  return {text.data(), text.size()};
}

template <typename Structure>
void append(const Structure& structure, std::string& to) {
  to.append(reinterpret_cast<const char*>(&structure), sizeof structure);
}

double threads_of(const DriverLaunch& launch) {
  double threads = 1.0;
  for (int axis = 0; axis < 3; ++axis)
    threads *= static_cast<double>(launch.grid[axis]) * static_cast<double>(launch.block[axis]);
  return threads;
}

bool overlap(const std::vector<SeenPointer>& pointers) {
  std::set<std::uint64_t> bases;
  for (const SeenPointer& pointer : pointers) {
    if (!bases.insert(pointer.base).second) return true;
  }
  return false;
}

}  // namespace

void SeenLaunches::complain(const std::string& trouble) {
  (void)ask(RequestKind::seen_trouble, part_of(trouble));
}

// What the program's file says of it, else what the driver does.
void SeenLaunches::ask_for(Kernel& kernel, const DriverLaunch& launch) const {
  const Answer answer = ask(RequestKind::seen_kernel, part_of(kernel.symbol));
  SeenKernel known;
  if (answer.status != 0 || !answer.read(known)) return;
  if (known.is_known != 0) {
    const std::size_t names = sizeof known + known.slots * sizeof(KernelAnswer::Slot);
    if (answer.payload.size() < names) return;
    kernel.slots.resize(known.slots);
    std::memcpy(kernel.slots.data(), answer.payload.data() + sizeof known, names - sizeof known);
    for (std::size_t at = names; at < answer.payload.size();
         at += kernel.variables.back().size() + 1)
      kernel.variables.emplace_back(answer.payload.c_str() + at);
    kernel.is_usable = true;
  }
  if (kernel.is_usable && kernel.variables.empty()) return;
  // The runtime passes a CUkernel for the CUfunction (CUDA 12 and later).
  auto* const handle = reinterpret_cast<CUkernel>(launch.function);
  const char* name = nullptr;
  kernel.is_kernel_handle = driver_.kernel_name(&name, handle) == CUDA_SUCCESS && name != nullptr;
  if (kernel.is_usable) return;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kMostParameters; ++i) {
    const CUresult got = kernel.is_kernel_handle
                             ? driver_.kernel_parameter(handle, i, &offset, &bytes)
                             : driver_.function_parameter(launch.function, i, &offset, &bytes);
    kernel.is_usable = got == CUDA_ERROR_INVALID_VALUE;  // there are no more
    if (got != CUDA_SUCCESS) return;
    kernel.slots.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
  }
}

SeenLaunches::Kernel& SeenLaunches::kernel_of(const DriverLaunch& launch, const char* symbol) {
  const auto [found, added] = kernels_.try_emplace(launch.function);
  Kernel& kernel = found->second;
  // A handle may be another kernel's after its module was unloaded.
  if (!added && kernel.symbol == symbol) return kernel;
  kernel = Kernel();
  kernel.symbol = symbol;
  ask_for(kernel, launch);
  if (!kernel.is_usable) complain("the parameters of '" + kernel.symbol + "' are not known");
  return kernel;
}

std::vector<char> SeenLaunches::parameter_block(const Kernel& kernel,
                                                const DriverLaunch& launch) const {
  std::size_t bytes = 0;
  for (const auto& slot : kernel.slots)
    bytes = std::max<std::size_t>(bytes, std::size_t{slot.offset} + slot.bytes);
  std::vector<char> block(bytes);
  if (launch.parameters != nullptr) {
    for (std::size_t i = 0; i < kernel.slots.size(); ++i)
      std::memcpy(block.data() + kernel.slots[i].offset, launch.parameters[i],
                  kernel.slots[i].bytes);
    return block;
  }
  const void* packed = nullptr;
  std::size_t packed_bytes = 0;
  for (void** at = launch.extra; at != nullptr && *at != CU_LAUNCH_PARAM_END; at += 2) {
    if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = at[1];
    if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) packed_bytes = *static_cast<std::size_t*>(at[1]);
  }
  if (packed != nullptr) std::memcpy(block.data(), packed, std::min(bytes, packed_bytes));
  return block;
}

std::vector<SeenPointer> SeenLaunches::pointers_in(const Kernel& kernel,
                                                   const std::vector<char>& block) const {
  std::vector<SeenPointer> pointers;
  for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
    for (std::size_t byte = 0; byte + kWord <= kernel.slots[i].bytes; byte += kWord) {
      CUdeviceptr word = 0;
      std::memcpy(&word, block.data() + kernel.slots[i].offset + byte, kWord);
      CUdeviceptr base = 0;
      std::size_t bytes = 0;
      if (word < kLowestAddress || driver_.address_range(&base, &bytes, word) != CUDA_SUCCESS)
        continue;
      pointers.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(byte), base,
                          bytes, word - base});
    }
  }
  return pointers;
}

// Into a graph: nothing runs now, and nothing may be waited for.
bool SeenLaunches::is_being_captured(const DriverLaunch& launch) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver_.is_capturing(launch.stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void SeenLaunches::send_bytes(SeenContent piece, CUdeviceptr address) {
  std::vector<char> bytes(std::min<std::uint64_t>(kPiece, piece.total));
  for (piece.offset = 0; piece.offset < piece.total; piece.offset += bytes.size()) {
    bytes.resize(std::min<std::uint64_t>(kPiece, piece.total - piece.offset));
    if (driver_.copy_to_host(bytes.data(), address + piece.offset, bytes.size()) != CUDA_SUCCESS) {
      complain("the contents of a buffer could not be copied from the GPU");
      return;
    }
    const Answer taken =
        ask(RequestKind::seen_content, {&piece, sizeof piece}, {bytes.data(), bytes.size()});
    if (taken.status != 0) return;  // it holds enough
  }
}

void SeenLaunches::send_contents(const Kernel& kernel, const DriverLaunch& launch,
                                 const std::vector<SeenPointer>& pointers) {
  if (driver_.synchronize() != CUDA_SUCCESS) {
    complain("an earlier launch failed on the GPU");
    return;
  }
  SeenContent piece;
  piece.process = own_process();
  std::set<std::uint64_t> sent;
  for (const SeenPointer& pointer : pointers) {
    if (!sent.insert(pointer.base).second) continue;
    piece.base = pointer.base;
    piece.total = pointer.bytes;
    send_bytes(piece, pointer.base);
  }
  piece.is_variable = 1;
  auto* const handle = reinterpret_cast<CUkernel>(launch.function);
  CUlibrary library = nullptr;
  CUmodule module = nullptr;
  if (!kernel.variables.empty()) {
    const CUresult found = kernel.is_kernel_handle
                               ? driver_.kernel_library(&library, handle)
                               : driver_.function_module(&module, launch.function);
    if (found != CUDA_SUCCESS) return;
  }
  for (const std::string& name : kernel.variables) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const CUresult found = kernel.is_kernel_handle
                               ? driver_.library_global(&address, &bytes, library, name.c_str())
                               : driver_.module_global(&address, &bytes, module, name.c_str());
    if (found != CUDA_SUCCESS || bytes == 0) continue;
    piece.base = address;
    piece.total = bytes;
    piece.offset = 0;
    const Answer named = ask(RequestKind::seen_variable, {&piece, sizeof piece}, part_of(name));
    if (named.status == 0) send_bytes(piece, address);
  }
}

void SeenLaunches::show(Kernel& kernel, const DriverLaunch& launch, const std::vector<char>& block,
                        const std::vector<SeenPointer>& pointers) {
  SeenLaunch seen;
  seen.process = own_process();
  for (int axis = 0; axis < 3; ++axis) {
    seen.grid[axis] = launch.grid[axis];
    seen.block[axis] = launch.block[axis];
  }
  seen.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  seen.slots = static_cast<std::uint32_t>(kernel.slots.size());
  seen.pointers = static_cast<std::uint32_t>(pointers.size());
  seen.symbol_bytes = static_cast<std::uint32_t>(kernel.symbol.size());
  seen.parameter_bytes = static_cast<std::uint32_t>(block.size());
  seen.not_shown = kernel.not_shown;
  std::string message;
  append(seen, message);
  for (const SeenPointer& pointer : pointers)
    append(pointer, message);
  message += kernel.symbol;
  message.append(block.data(), block.size());
  for (const auto& slot : kernel.slots)
    append(slot, message);
  const Answer answer = ask(RequestKind::seen_launch, part_of(message));
  SeenAnswer wish;
  if (answer.status != 0 || !answer.read(wish)) return;
  kernel.not_shown = 0;
  if (wish.wants_contents != 0) {
    send_contents(kernel, launch, pointers);
    const Hello done{kProtocolVersion, own_process()};
    const Answer last = ask(RequestKind::seen_all, {&done, sizeof done});
    if (last.status != 0 || !last.read(wish)) return;
  }
  kernel.quiet_threads = wish.quiet_threads;
}

bool SeenLaunches::before(const DriverLaunch& launch, const char* symbol) {
  const std::lock_guard lock(mutex_);
  if (is_being_captured(launch)) {
    complain("launches into a graph are not kept");
    return false;
  }
  Kernel& kernel = kernel_of(launch, symbol);
  if (!kernel.is_usable) return false;
  const std::vector<char> block = parameter_block(kernel, launch);
  const std::vector<SeenPointer> pointers = pointers_in(kernel, block);
  const bool new_overlap = !kernel.overlapped && overlap(pointers);
  if (new_overlap || threads_of(launch) > kernel.quiet_threads) {
    kernel.overlapped = kernel.overlapped || new_overlap;
    show(kernel, launch, block, pointers);
  } else {
    ++kernel.not_shown;
  }
  if (kernel.timed >= kTimedLaunches || driver_.synchronize() != CUDA_SUCCESS) return false;
  ++kernel.timed;
  timed = {kernel.symbol, std::chrono::steady_clock::now()};
  return true;
}

void SeenLaunches::after() {
  if (driver_.synchronize() != CUDA_SUCCESS) return;
  SeenTime time;
  time.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - timed.begin).count();
  (void)ask(RequestKind::seen_time, {&time, sizeof time}, part_of(timed.symbol));
}

void SeenLaunches::flush() {
  const std::lock_guard lock(mutex_);
  for (auto& [function, kernel] : kernels_) {
    if (kernel.not_shown == 0) continue;
    const SeenTime time{0.0, kernel.not_shown};
    (void)ask(RequestKind::seen_time, {&time, sizeof time}, part_of(kernel.symbol));
    kernel.not_shown = 0;
  }
}

}  // namespace regraph::capture
