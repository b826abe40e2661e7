// A device without a GPU, as a captured program's runtime asks for it: modules, kernels, memory and
// launches on the interpreter, and a record of what was launched.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "capture/device/launch_observer.h"
#include "capture/device/launch_substitute.h"
#include "capture/device/periodic_work.h"
#include "capture/device/program_listener.h"
#include "capture/device/shared_device_memory.h"
#include "capture/runtime/protocol.h"
#include "ptx/interpreter.h"
#include "ptx/memory/module_memory.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::capture {

// A pointer among the arguments of a launch, or inside of a structure among them.
struct PointerArgument {
  std::uint32_t parameter = 0;
  std::uint32_t byte = 0;        // where it stands in the parameter
  std::uint64_t allocation = 0;  // SharedBuffer::id
  std::uint64_t offset = 0;      // bytes from its begin
  friend bool operator==(const PointerArgument&, const PointerArgument&) = default;
};

// All launches of a kernel.
struct LaunchedKernel {
  std::string symbol;
  std::uint32_t module = 0;
  std::uint64_t launches = 0;
  std::uint64_t skipped = 0;  // of them: what they would leave in memory was known
  std::uint64_t threads = 0;
  std::uint64_t thread_instructions = 0;
  double seconds = 0.0;                   // of the interpreter
  std::set<std::string> shapes;           // "grid 4x1x1 block 256x1x1", few of them
  std::vector<PointerArgument> pointers;  // of the first launch
  std::uint64_t slack_reads = 0;   // of single threads, behind the end of an allocation where it
  std::uint64_t slack_writes = 0;  // is rounded up: hardware lets them pass
  std::string first_slack;         // what the first of them was
  bool aliased = false;            // in some launch two parameters point into one allocation
  std::string fault;               // the first that a launch ended with
};

struct CaptureDeviceConfig {
  DeviceFacts facts;
  double launch_seconds = 60.0;            // of one launch; longer ones are ended
  int threads = 0;                         // of the interpreter, 0: as many as fit
  LaunchObserver* observer = nullptr;      // null: nobody looks on
  LaunchSubstitute* substitute = nullptr;  // null: kernels run as they are
  bool skip_repeats = true;                // of launches whose outcome is known
  // The program is told that launches that were ended went well: it comes to others, with memory
  // that is not what it would be.
  bool goes_on = false;
};

// Not thread-safe.
class CaptureDevice final : public ProgramListener {
 public:
  explicit CaptureDevice(const CaptureDeviceConfig& config);

  // Answers one request: the struct of its kind and what follows, as the program sent it.
  [[nodiscard]] DeviceAnswer answer(RequestKind kind, std::string_view request,
                                    const Cancellation& cancellation) override;

  // How many processes ask at the moment, 1 at first. With several none knows what the others
  // write, and no repeats are skipped.
  void set_clients(int clients) override { clients_ = clients; }

  // Releases what a process that has ended had allocated.
  void release_left(const std::vector<std::uint64_t>& addresses,
                    const Cancellation& cancellation) override;

  // In the order of their first launch.
  [[nodiscard]] std::vector<const LaunchedKernel*> launched() const;
  // Functions of the runtime that are not there, with how often they were called.
  [[nodiscard]] const std::map<std::string, int>& not_there() const { return not_there_; }
  // What could not be used of modules and kernels, and why.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] std::uint64_t most_bytes() const { return memory_.most_bytes(); }

 private:
  struct Module {
    std::string ptx;
    std::string trouble;                  // why there is none
    std::optional<ptx::Program> program;  // of any entry, to make others of
    std::optional<ptx::ModuleMemory> variables;
    std::map<std::string, int> registers;  // by symbol, where there is machine code
  };
  struct Entry {
    ptx::Program program;
    std::uint32_t module = 0;
    LaunchedKernel record;
    double last_seconds = 0.0;  // of the last launch that was executed
    // By launch and arguments: memory that such a launch found and left alike. Benchmarks repeat
    // launches, and in that memory another one need not be executed.
    std::map<std::string, Hash128> steady;
    std::vector<KernelAnswer::Slot> slots;
  };

  DeviceAnswer load_module(std::string_view request);
  DeviceAnswer find_kernel(std::string_view request);
  DeviceAnswer find_variable(std::string_view request);
  DeviceAnswer allocate(std::string_view request);
  DeviceAnswer register_host(std::string_view request);
  DeviceAnswer release(std::string_view request);
  DeviceAnswer read(std::string_view request);
  DeviceAnswer write(std::string_view request);
  // What is no work of the device, but needs memory as it should be, or changes it.
  DeviceAnswer touch(RequestKind kind, std::string_view request);
  DeviceAnswer fill(std::string_view request);
  DeviceAnswer move(std::string_view request);
  DeviceAnswer launch(std::string_view request, const Cancellation& cancellation);
  // Tells who looks on that something else than a launch writes there; 0: that is not known.
  void tell_of_write(std::uint64_t address) const;

  // Device work: does it, or leaves it out where memory would come out as is known.
  DeviceAnswer work(RequestKind kind, std::string_view request, const Cancellation& cancellation);
  DeviceAnswer execute(RequestKind kind, std::string_view request,
                       const Cancellation& cancellation);
  // Does what was left out and matters. Returns a status; afterwards memory is as it should be.
  int catch_up(const Cancellation& cancellation);
  // Whether all that changes memory is asked for.
  [[nodiscard]] bool sees_all_writes() const;
  // Whether nobody wants to see what comes next.
  bool may_skip(RequestKind kind, std::string_view request);
  void record_skip(std::string_view launch, bool skipped);

  // Status and program of an entry of a module.
  int load_entry(Module& module, const std::string& symbol, std::optional<ptx::Program>& into);
  // The bytes of a module variable or a buffer at that address; empty where they do not all lie in
  // one.
  std::span<std::byte> variable_bytes(std::uint64_t address, std::uint64_t bytes);
  std::span<std::byte> device_bytes(std::uint64_t address, std::uint64_t bytes);
  // Of all buffers and module variables.
  [[nodiscard]] Hash128 hash_memory() const;
  // What a launch did that hardware lets pass.
  static void record_slack(const ptx::SlackUse& slack, LaunchedKernel& record);
  [[nodiscard]] double hash_seconds() const;
  [[nodiscard]] bool is_worth_hashing(const Entry& entry) const;
  [[nodiscard]] std::vector<PointerArgument> pointers_in(const Entry& entry,
                                                         std::string_view block) const;
  void record_arguments(const Entry& entry, std::string_view block, LaunchedKernel& record) const;
  [[nodiscard]] ObservedLaunch observed(const Entry& entry, const Launch& launch,
                                        std::string_view block) const;

  const CaptureDeviceConfig config_;
  SharedDeviceMemory memory_;
  PeriodicWork repeats_;
  bool catching_up_ = false;
  int clients_ = 1;
  std::vector<Module> modules_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::uint32_t> order_;  // of first launches
  bool cut_short_ = false;            // a launch was ended, and the program went on
  std::map<std::string, int> not_there_;
  std::vector<std::string> notes_;
};

}  // namespace regraph::capture
