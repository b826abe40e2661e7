#include "capture/problem/derive_manifest.h"

#include "capture/kernel_image.h"
#include "capture/problem/join_sequence.h"
#include "capture/problem/kernel_source.h"
#include "capture/problem/launch_numbers.h"
#include "capture/problem/match_expressions.h"
#include "kernel/captured_data.h"
#include "ptx/memory/module_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace regraph::capture {
namespace {

// Smaller integers of a single launch are taken for structural constants, as in make_problem.cpp.
constexpr std::int64_t kStructuralSize = 32;
// What a captured launch may cost to be repeated for every candidate, a few times over.
constexpr std::uint64_t kCheapInstructions = 200'000'000;
constexpr std::uint64_t kLikelyInstructions = 500;  // of a thread; half of all kernels take less
constexpr std::uint64_t kCheapBytes = std::uint64_t{64} << 20;
// Longer buffers whose length no size explains have a size of their own: smaller ones can be tried.
constexpr std::int64_t kLongBuffer = 4096;
// Contents that are looked through for the range of their integers.
constexpr std::uint64_t kMostScanned = std::uint64_t{64} << 20;
constexpr std::size_t kMostCases = 8;

using Numbers = std::vector<std::int64_t>;  // one a case

std::size_t size_of(const Parameter& parameter) {
  if (parameter.is_pointer) return sizeof(std::uint64_t);
  return parameter.record_bytes > 0 ? static_cast<std::size_t>(parameter.record_bytes)
                                    : size_in_bytes(parameter.type);
}

template <typename Type>
Type value_at(const std::vector<std::byte>& bytes, std::size_t at) {
  Type value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool all_equal(const Numbers& numbers) {
  return std::ranges::all_of(numbers, [&](std::int64_t one) { return one == numbers.front(); });
}

class Deriver {
 public:
  Deriver(const CapturedKernel& kernel, const KernelSignature& signature,
          const std::filesystem::path& folder, const JoinedSequence* sequence = nullptr)
      : kernel_(kernel), signature_(signature), folder_(folder), sequence_(sequence) {
    for (const Parameter& parameter : signature.parameters) {
      if (parameter.is_passed()) passed_.push_back(&parameter);
    }
  }

  Result<DerivedManifest> run() {
    if (Status status = check_layout(); !status.ok()) return status.error();
    choose_cases();
    for (auto step : {&Deriver::derive_scalars, &Deriver::derive_pointers, &Deriver::derive_launch,
                      &Deriver::derive_constants}) {
      if (Status status = (this->*step)(); !status.ok()) return status.error();
    }
    add_cases();
    Manifest& manifest = result_.manifest;
    manifest.path = (folder_ / kCaptureFile).string();
    manifest.kernel = kernel_name_of(kernel_.symbol);
    manifest.is_captured = true;
    if (kernel_.overlapping) manifest.assume.noalias = false;
    return std::move(result_);
  }

 private:
  [[nodiscard]] const KeptLaunch& main() const { return *cases_.front(); }
  void note(std::string text) { result_.notes.push_back(std::move(text)); }
  ManifestArgument& argument(const std::string& name) {
    auto& arguments = result_.manifest.arguments;
    for (auto& [known, one] : arguments) {
      if (known == name) return one;
    }
    return arguments.emplace_back(name, ManifestArgument{}).second;
  }

  Status check_layout() const {
    bool fits = kernel_.slots.size() == passed_.size();
    for (std::size_t i = 0; fits && i < passed_.size(); ++i)
      fits = kernel_.slots[i].bytes == size_of(*passed_[i]);
    if (fits) return {};
    return fail(ErrorCode::invalid_argument,
                fmt::format("the program launched '{}' with {} parameters of other sizes than the "
                            "source's; is '{}' another version of it?",
                            readable_name(kernel_.symbol), kernel_.slots.size(),
                            (folder_ / kCapturedSource).string()));
  }

  // A launch alone is its only stage.
  static std::vector<StageLaunch> stages_of(const KeptLaunch& launch) {
    if (!launch.stages.empty()) return launch.stages;
    return {{launch.grid, launch.block, launch.dynamic_shared_bytes}};
  }

  // Of one block, and each with its own numbers.
  void choose_cases() {
    std::set<std::string> seen;
    std::size_t other_blocks = 0;
    for (const KeptLaunch& launch : kernel_.kept) {
      const auto stages = stages_of(launch);
      if (!std::ranges::equal(stages, stages_of(kernel_.kept.front()), {}, &StageLaunch::block,
                              &StageLaunch::block)) {
        ++other_blocks;
        continue;
      }
      std::string numbers;
      for (const StageLaunch& stage : stages)
        numbers += fmt::format("{} {} {} ", stage.grid.x, stage.grid.y, stage.grid.z);
      for (std::size_t i = 0; i < passed_.size(); ++i) {
        if (passed_[i]->is_pointer || passed_[i]->record_bytes > 0) continue;
        for (std::size_t byte = 0; byte < kernel_.slots[i].bytes; ++byte)
          numbers += fmt::format(
              " {}", std::to_integer<int>(launch.parameters[kernel_.slots[i].offset + byte]));
      }
      for (const KeptPointer& pointer : launch.pointers)
        numbers += fmt::format(" {}", pointer.bytes);
      if (cases_.size() < kMostCases && seen.insert(std::move(numbers)).second)
        cases_.push_back(&launch);
    }
    if (other_blocks > 0)
      note(fmt::format("{} kept launches have another block and are not used", other_blocks));
    symbols_.resize(cases_.size());
  }

  [[nodiscard]] Numbers integers_of(std::size_t parameter) const {
    Numbers numbers;
    for (const KeptLaunch* one : cases_) {
      numbers.push_back(
          integer_at(one->parameters, kernel_.slots[parameter].offset, passed_[parameter]->type));
    }
    return numbers;
  }

  void make_symbol(const std::string& name, const Numbers& numbers) {
    for (std::size_t i = 0; i < cases_.size(); ++i)
      symbols_[i][name] = numbers[i];
  }

  Status derive_scalars() {
    bool differ = false;
    std::vector<std::pair<std::size_t, Numbers>> integers;
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      const Parameter& parameter = *passed_[i];
      if (parameter.is_pointer || parameter.record_bytes > 0) continue;
      if (is_floating(parameter.type)) {
        take_number(parameter, kernel_.slots[i].offset);
        continue;
      }
      integers.emplace_back(i, integers_of(i));
      differ = differ || !all_equal(integers.back().second);
    }
    for (const auto& [i, numbers] : integers) {
      const bool is_size = differ ? !all_equal(numbers) : numbers.front() > kStructuralSize;
      const bool usable = std::ranges::all_of(numbers, [](std::int64_t one) { return one >= 0; });
      if (is_size && usable && passed_[i]->type != ScalarType::boolean) {
        if (!is_result_of_sizes(passed_[i]->name, numbers)) make_symbol(passed_[i]->name, numbers);
      } else {
        argument(passed_[i]->name).value = static_cast<double>(numbers.front());
        if (!all_equal(numbers)) drop_cases_unlike(numbers);
      }
    }
    return {};
  }

  // Of several kernels in a row the later ones are told what the earlier ones left, such as their
  // number of blocks.
  bool is_result_of_sizes(const std::string& name, const Numbers& numbers) {
    if (sequence_ == nullptr || cases_.size() < 2 || all_equal(numbers)) return false;
    const auto found = match_grid(symbols_, numbers, "", 1);
    if (found) expressions_[name] = found->text();
    return found.has_value();
  }

  // A number that differs and cannot be a size: launches with another one are other problems.
  void drop_cases_unlike(Numbers numbers) {
    for (std::size_t i = cases_.size(); i-- > 1;) {
      if (numbers[i] == numbers.front()) continue;
      const auto at = static_cast<std::ptrdiff_t>(i);
      cases_.erase(cases_.begin() + at);
      symbols_.erase(symbols_.begin() + at);
    }
  }

  void take_number(const Parameter& parameter, std::size_t offset) {
    const std::vector<std::byte>& block = main().parameters;
    if (parameter.type == ScalarType::f64) {
      argument(parameter.name).value = value_at<double>(block, offset);
    } else if (parameter.type == ScalarType::f32) {
      argument(parameter.name).value = value_at<float>(block, offset);
    }  // half precision gets the default
  }

  static const KeptPointer* pointer_of(const KeptLaunch& launch, std::size_t parameter,
                                       std::int64_t byte) {
    const auto found = std::ranges::find_if(launch.pointers, [&](const KeptPointer& one) {
      return one.parameter == parameter && one.byte == byte;
    });
    return found == launch.pointers.end() ? nullptr : &*found;
  }

  struct Pointer {
    const Parameter* parameter = nullptr;
    std::vector<const KeptPointer*> kept;  // one a case
  };

  Status derive_pointers() {
    std::vector<Pointer> pointers;
    for (const Parameter& parameter : signature_.parameters) {
      if (!parameter.is_pointer || parameter.is_symbol) continue;
      const std::size_t place = place_of(signature_, parameter);
      Pointer pointer{&parameter, {}};
      for (const KeptLaunch* one : cases_)
        pointer.kept.push_back(pointer_of(*one, place, parameter.inside_byte));
      if (std::ranges::count(pointer.kept, nullptr) == 0) {
        pointers.push_back(std::move(pointer));
        continue;
      }
      std::uint64_t address = 0;
      std::memcpy(&address,
                  main().parameters.data() + kernel_.slots[place].offset + parameter.inside_byte,
                  sizeof address);
      if (pointer.kept.front() != nullptr || address != 0) {
        return fail(ErrorCode::unsupported,
                    fmt::format("'{}' is passed a pointer that does not lead into the device's "
                                "memory",
                                parameter.name));
      }
      argument(parameter.name).is_null = true;
    }
    for (const Pointer& pointer : pointers) {
      if (Status status = derive_buffer(pointer, pointers); !status.ok()) return status;
    }
    return {};
  }

  Status derive_buffer(const Pointer& pointer, const std::vector<Pointer>& all) {
    const Parameter& parameter = *pointer.parameter;
    const std::int64_t element =
        parameter.components * static_cast<std::int64_t>(size_in_bytes(parameter.type));
    ManifestArgument& said = argument(parameter.name);
    Numbers lengths;
    for (const KeptPointer* one : pointer.kept)
      lengths.push_back(static_cast<std::int64_t>(one->bytes) / element);
    if (std::ranges::any_of(lengths, [](std::int64_t one) { return one < 1; })) {
      return fail(ErrorCode::unsupported,
                  fmt::format("'{}' leads to less than one element", parameter.name));
    }
    said.shape =
        std::vector<IntegerExpression>{expression_of(lengths, length_symbol(parameter.name))};
    const bool plain_integers = !is_floating(parameter.type) && parameter.fields.empty();
    if (plain_integers) said.init = range_of(pointer);
    find_overlap(pointer, all, said);
    return {};
  }

  // In terms of sizes; the numbers themselves where they are all the same; else a size of its own.
  IntegerExpression expression_of(const Numbers& numbers, const std::string& name) {
    const bool several =
        std::ranges::any_of(symbols_, [&](const Symbols& one) { return one != symbols_.front(); });
    if (several && all_equal(numbers)) return numbers.front();
    if (const auto found = match_length(symbols_, numbers)) return *found;
    // One a block of another launch, say; of one launch that would prove nothing.
    if (several && !all_equal(numbers)) {
      if (const auto found = match_grid(symbols_, numbers, "", 1)) return *found;
    }
    if (all_equal(numbers) && (several || numbers.front() < kLongBuffer)) return numbers.front();
    make_symbol(name, numbers);
    return IntegerExpression::symbol(name);
  }

  // The first pointer into an allocation has it, others lead into it.
  void find_overlap(const Pointer& pointer, const std::vector<Pointer>& all,
                    ManifestArgument& said) {
    const auto before = [](const Pointer& a, const Pointer& b) {
      return a.kept.front()->offset < b.kept.front()->offset;
    };
    const Pointer* first = &pointer;
    for (const Pointer& other : all) {
      if (other.kept.front()->allocation != pointer.kept.front()->allocation) continue;
      const bool earlier = &other < first && !before(*first, other);
      if (before(other, *first) || earlier) first = &other;
    }
    if (first == &pointer) return;
    Numbers bytes;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const bool together = pointer.kept[i]->allocation == first->kept[i]->allocation &&
                            pointer.kept[i]->offset >= first->kept[i]->offset;
      if (!together) {
        note(fmt::format("'{}' and '{}' lie in one allocation in some launches only",
                         pointer.parameter->name, first->parameter->name));
        result_.manifest.assume.noalias = false;
        return;
      }
      bytes.push_back(static_cast<std::int64_t>(pointer.kept[i]->offset - first->kept[i]->offset));
    }
    said.overlaps = first->parameter->name;
    said.overlap_bytes = all_equal(bytes) && bytes.front() == 0
                             ? IntegerExpression(0)
                             : expression_of(bytes, begin_symbol(pointer.parameter->name));
  }

  // What indices are drawn from where nothing was captured.
  [[nodiscard]] std::optional<BufferInit> range_of(const Pointer& pointer) const {
    const KeptPointer& kept = *pointer.kept.front();
    if (kept.data.empty() || kept.bytes > kMostScanned) return {};
    const auto content = read_captured(folder_ / kCapturedData / kept.data);
    if (!content.ok() || (*content)->size() < kept.offset + kept.bytes) return {};
    const std::size_t size = size_in_bytes(pointer.parameter->type);
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::size_t at = kept.offset; at + size <= kept.offset + kept.bytes; at += size) {
      const auto value = static_cast<double>(integer_at(**content, at, pointer.parameter->type));
      low = std::min(low, value);
      high = std::max(high, value);
    }
    constexpr double kExact = 0x1p53;
    if (!(low >= -kExact && high <= kExact)) return {};
    return BufferInit{BufferInit::Kind::integers, low, high};
  }

  Status derive_launch() {
    if (sequence_ == nullptr) {
      result_.manifest.launch = launch_of(0, signature_.name);
      return {};
    }
    for (std::size_t stage = 0; stage < sequence_->kernels.size(); ++stage) {
      ManifestLaunch entry{launch_of(stage, sequence_->kernels[stage]), 0};
      for (const std::string& name : sequence_->arguments[stage]) {
        const auto found = expressions_.find(name);
        entry.launch.arguments.push_back(found == expressions_.end() ? name : found->second);
      }
      result_.manifest.launches.push_back(std::move(entry));
    }
    return {};
  }

  regraph::Launch launch_of(std::size_t stage, const std::string& kernel) {
    std::vector<StageLaunch> cases;
    for (const KeptLaunch* one : cases_)
      cases.push_back(stages_of(*one)[stage]);
    regraph::Launch launch;
    launch.kernel = kernel;
    launch.block = cases.front().block;
    const std::pair<const char*, std::uint32_t> blocks[] = {
        {"bx", launch.block.x}, {"by", launch.block.y}, {"bz", launch.block.z}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Numbers numbers;
      for (const StageLaunch& one : cases) {
        const std::uint32_t extents[] = {one.grid.x, one.grid.y, one.grid.z};
        numbers.push_back(extents[axis]);
      }
      launch.grid[axis] =
          grid_of(numbers, blocks[axis].first, blocks[axis].second, grid_symbol(axis, stage));
    }
    Numbers shared;
    for (const StageLaunch& one : cases)
      shared.push_back(one.dynamic_shared_bytes);
    launch.dynamic_shared_bytes =
        shared.front() == 0 && all_equal(shared) ? 0 : expression_of(shared, shared_symbol(stage));
    return launch;
  }

  IntegerExpression grid_of(const Numbers& numbers, const char* block, std::uint32_t extent,
                            const std::string& name) {
    if (all_equal(numbers) && numbers.front() == 1) {
      // As many as one block has is one block.
      return 1;
    }
    if (const auto found = match_grid(symbols_, numbers, block, extent)) return *found;
    if (all_equal(numbers)) return numbers.front();
    make_symbol(name, numbers);
    return IntegerExpression::symbol(name);
  }

  // Structures by value, and variables of constant memory.
  Status derive_constants() {
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      const Parameter& parameter = *passed_[i];
      if (parameter.is_pointer || parameter.record_bytes == 0) continue;
      argument(parameter.name).record = record_in(main(), i);
    }
    return {};
  }

  [[nodiscard]] std::vector<std::byte> record_in(const KeptLaunch& launch,
                                                 std::size_t parameter) const {
    const auto from = launch.parameters.begin() + kernel_.slots[parameter].offset;
    std::vector<std::byte> bytes(from, from + kernel_.slots[parameter].bytes);
    // Addresses mean nothing here; they are put in anew.
    for (const KeptPointer& pointer : launch.pointers) {
      if (pointer.parameter != parameter) continue;
      std::fill_n(bytes.begin() + pointer.byte, sizeof(std::uint64_t), std::byte{0});
    }
    return bytes;
  }

  // Launches that a GPU executed are judged by their threads.
  [[nodiscard]] bool is_cheap(const KeptLaunch& launch) const {
    if (kernel_.seconds > 0.0) return launch.threads() <= kCheapInstructions / kLikelyInstructions;
    return launch.thread_instructions > 0 && launch.thread_instructions <= kCheapInstructions;
  }

  void add_cases() {
    Manifest& manifest = result_.manifest;
    manifest.sizes = symbols_.front();
    manifest.bench = {symbols_.front()};
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      ManifestCapture capture;
      capture.sizes = symbols_[i];
      std::uint64_t bytes = 0;
      bool whole = true;
      for (const Parameter& parameter : signature_.parameters)
        whole = add_content(*cases_[i], parameter, capture, bytes) && whole;
      if (!whole) {
        note("contents of a launch were not kept, so it is no test");
        continue;
      }
      capture.is_test = is_cheap(*cases_[i]) && bytes <= kCheapBytes;
      manifest.captured.push_back(std::move(capture));
    }
  }

  // False where something of it was not kept.
  bool add_content(const KeptLaunch& launch, const Parameter& parameter, ManifestCapture& capture,
                   std::uint64_t& bytes) const {
    const auto data = [&](const std::string& name) {
      return std::filesystem::absolute(folder_ / kCapturedData / name).string();
    };
    if (parameter.is_symbol) {
      const auto found = std::ranges::find_if(launch.variables, [&](const KeptVariable& one) {
        return ptx::source_name(one.name) == parameter.name;
      });
      if (found != launch.variables.end() && !found->data.empty())
        capture.contents[parameter.name] = {data(found->data), 0, nullptr};
      return true;
    }
    const std::size_t place = place_of(signature_, parameter);
    if (!parameter.is_pointer) {
      if (parameter.record_bytes > 0 && cases_.size() > 1) {
        auto stored = store_captured(folder_ / kCapturedData, record_in(launch, place));
        if (!stored.ok()) return false;
        capture.contents[parameter.name] = {data(*stored), 0, nullptr};
      }
      return true;
    }
    const KeptPointer* kept = pointer_of(launch, place, parameter.inside_byte);
    if (kept == nullptr) return true;  // null
    bytes += kept->bytes;
    if (kept->data.empty()) return false;
    capture.contents[parameter.name] = {data(kept->data), kept->offset, nullptr};
    return true;
  }

  const CapturedKernel& kernel_;
  const KernelSignature& signature_;
  const std::filesystem::path folder_;
  const JoinedSequence* const sequence_;  // null: it is one kernel
  std::vector<const Parameter*> passed_;
  std::vector<const KeptLaunch*> cases_;
  std::vector<Symbols> symbols_;                    // of each
  std::map<std::string, std::string> expressions_;  // that stand for arguments
  DerivedManifest result_;
};

}  // namespace

Result<DerivedManifest> derive_manifest(const CapturedKernel& kernel,
                                        const KernelSignature& signature,
                                        const std::filesystem::path& folder) {
  return Deriver(kernel, signature, folder).run();
}

Result<DerivedManifest> derive_manifest_of_stages(const CapturedKernel& kernel,
                                                  const std::vector<KernelSignature>& signatures,
                                                  const std::filesystem::path& folder) {
  const auto joined = join_sequence(kernel, signatures);
  if (!joined.ok()) return joined.error();
  return Deriver(joined->kernel, joined->signature, folder, &*joined).run();
}

}  // namespace regraph::capture
