#include "capture/problem/join_sequence.h"

#include "capture/kernel_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace regraph::capture {
namespace {

class SequenceJoiner {
 public:
  SequenceJoiner(const CapturedKernel& kernel, const std::vector<KernelSignature>& signatures)
      : kernel_(kernel), signatures_(signatures) {
    result_.kernel = kernel;
    result_.kernel.slots.clear();
    several_ = std::ranges::any_of(kernel.kept, [&](const KeptLaunch& launch) {
      return launch.parameters != kernel.kept.front().parameters;
    });
  }

  Result<JoinedSequence> run() {
    std::size_t first = 0;
    for (std::size_t stage = 0; stage < kernel_.stages.size(); ++stage) {
      if (Status status = join_stage(stage, first); !status.ok()) return status.error();
      first += kernel_.stages[stage].slots;
    }
    for (const KernelSignature& signature : signatures_) {
      for (const Parameter& parameter : signature.parameters) {
        const bool known =
            std::ranges::find(symbols_, parameter.name, &Parameter::name) != symbols_.end();
        if (parameter.is_symbol && !known) symbols_.push_back(parameter);
      }
    }
    auto& all = result_.signature.parameters;
    all.insert(all.end(), symbols_.begin(), symbols_.end());
    keep_pointers();
    return std::move(result_);
  }

 private:
  Status join_stage(std::size_t stage, std::size_t first) {
    const KernelSignature& signature = signatures_[stage];
    const KernelStage& said = kernel_.stages[stage];
    for (std::size_t other = 0; other < stage; ++other) {
      if (signatures_[other].name == signature.name &&
          kernel_.stages[other].symbol != said.symbol) {
        return fail(
            ErrorCode::unsupported,
            fmt::format("'{}' and '{}' are two instances of one template: of those in a "
                        "row only one can be told apart",
                        readable_name(kernel_.stages[other].symbol), readable_name(said.symbol)));
      }
    }
    std::vector<std::string> arguments;
    std::size_t slot = first;
    for (const Parameter& parameter : signature.parameters) {
      if (parameter.record_bytes > 0 && !parameter.is_pointer) {
        return fail(ErrorCode::unsupported,
                    fmt::format("'{}' takes the structure '{}' by value, which of several kernels "
                                "in a row none may; capture it alone",
                                signature.name, parameter.name));
      }
      if (!parameter.is_passed()) continue;
      if (slot - first >= said.slots || kernel_.slots[slot].bytes != size_of(parameter)) {
        return fail(ErrorCode::invalid_argument,
                    fmt::format("the program launched '{}' with parameters of other sizes than the "
                                "source's",
                                readable_name(said.symbol)));
      }
      arguments.push_back(join_parameter(parameter, signature.name, slot++));
    }
    if (slot - first != said.slots) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the program launched '{}' with {} parameters, the source has {}",
                              readable_name(said.symbol), said.slots, slot - first));
    }
    result_.arguments.push_back(std::move(arguments));
    result_.kernels.push_back(signature.name);
    return {};
  }

  static std::size_t size_of(const Parameter& parameter) {
    return parameter.is_pointer ? sizeof(std::uint64_t) : size_in_bytes(parameter.type);
  }

  // The name of the argument that it is.
  std::string join_parameter(Parameter parameter, const std::string& kernel, std::size_t slot) {
    auto& known = result_.signature.parameters;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!is_same(known[i], slots_[i], parameter, slot)) continue;
      known[i].points_to_const = known[i].points_to_const && parameter.points_to_const;
      return known[i].name;
    }
    parameter.name = free_name(parameter.name, kernel);
    slots_.push_back(slot);
    result_.kernel.slots.push_back(kernel_.slots[slot]);
    known.push_back(parameter);
    return parameter.name;
  }

  [[nodiscard]] std::string free_name(const std::string& name, const std::string& kernel) const {
    const auto taken = [&](const std::string& one) {
      const auto is_so = [&](const Parameter& parameter) { return parameter.name == one; };
      return std::ranges::any_of(result_.signature.parameters, is_so) ||
             std::ranges::any_of(signatures_, [&](const KernelSignature& signature) {
               return std::ranges::any_of(signature.parameters, [&](const Parameter& parameter) {
                 return parameter.is_symbol && is_so(parameter);
               });
             });
    };
    if (!taken(name)) return name;
    const std::string longer = kernel + "_" + name;
    std::string free = longer;
    for (int number = 2; taken(free); ++number)
      free = fmt::format("{}_{}", longer, number);
    return free;
  }

  [[nodiscard]] bool is_same(const Parameter& known, std::size_t known_slot,
                             const Parameter& parameter, std::size_t slot) const {
    if (known.is_pointer != parameter.is_pointer || known.type != parameter.type ||
        known.components != parameter.components || known.record_bytes != parameter.record_bytes)
      return false;
    if (!known.is_pointer && !several_ && known.name != parameter.name) return false;
    return std::ranges::all_of(kernel_.kept, [&](const KeptLaunch& launch) {
      return known.is_pointer
                 ? leads_to_same(launch, known_slot, slot)
                 : std::ranges::equal(bytes_of(launch, known_slot), bytes_of(launch, slot));
    });
  }

  [[nodiscard]] std::span<const std::byte> bytes_of(const KeptLaunch& launch,
                                                    std::size_t slot) const {
    const KeptSlot& place = kernel_.slots[slot];
    return std::span(launch.parameters).subspan(place.offset, place.bytes);
  }

  static bool leads_to_same(const KeptLaunch& launch, std::size_t a, std::size_t b) {
    const auto of = [&](std::size_t slot) {
      return std::ranges::find_if(launch.pointers, [&](const KeptPointer& pointer) {
        return pointer.parameter == slot && pointer.byte == 0;
      });
    };
    const auto one = of(a);
    const auto other = of(b);
    return one != launch.pointers.end() && other != launch.pointers.end() &&
           one->allocation == other->allocation && one->offset == other->offset;
  }

  void keep_pointers() {
    for (KeptLaunch& launch : result_.kernel.kept) {
      std::vector<KeptPointer> kept;
      for (KeptPointer& pointer : launch.pointers) {
        const auto found = std::ranges::find(slots_, pointer.parameter);
        if (found == slots_.end()) continue;
        pointer.parameter = static_cast<std::uint32_t>(found - slots_.begin());
        kept.push_back(std::move(pointer));
      }
      launch.pointers = std::move(kept);
    }
  }

  const CapturedKernel& kernel_;
  const std::vector<KernelSignature>& signatures_;
  bool several_ = false;            // launches with different numbers
  std::vector<std::size_t> slots_;  // of the joined parameters
  std::vector<Parameter> symbols_;
  JoinedSequence result_;
};

}  // namespace

Result<JoinedSequence> join_sequence(const CapturedKernel& kernel,
                                     const std::vector<KernelSignature>& signatures) {
  if (signatures.size() != kernel.stages.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} kernels were captured in a row, and the source has {} of them",
                            kernel.stages.size(), signatures.size()));
  }
  return SequenceJoiner(kernel, signatures).run();
}

}  // namespace regraph::capture
