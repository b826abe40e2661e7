#include "session/observed_lengths.h"

#include "capture/problem/match_expressions.h"
#include "eval/verify/parameters.h"
#include "ptx/device_memory.h"
#include "ptx/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace regraph {
namespace {

// Sizes are so many units: of one, two and more sizes, so that blocks without a guard fit.
constexpr std::array<std::int64_t, 3> kUnits = {256, 64, 32};
constexpr std::array<std::int64_t, 8> kFactors = {2, 3, 5, 7, 4, 6, 1, 8};
constexpr std::size_t kTrials = 4;
constexpr std::size_t kBufferBytes = std::size_t{256} << 20;  // committed where they are touched
constexpr std::uint64_t kMostInstructions = 20'000'000;       // of warps, a trial
// Smaller integers out of the host code are structural, as in derived_tests.cpp.
constexpr double kStructuralSize = 32.0;
constexpr std::size_t kPatternBytes = 4096;

// What a kernel touched of a buffer, in elements.
struct Touched {
  std::int64_t length = 0;
  bool is_read = false;
  bool is_written = false;
};
using Trial = std::vector<Touched>;  // by parameter

// Whether buffers hold zeros, or small numbers.
enum class Filling : std::uint8_t { zeros, numbers };

std::vector<std::byte> pattern_of(ScalarType type, Filling filling) {
  std::vector<std::byte> pattern(kPatternBytes);
  if (filling == Filling::zeros) return pattern;
  const auto fill = [&](auto value) {
    for (std::size_t at = 0; at + sizeof value <= pattern.size(); at += sizeof value)
      std::memcpy(pattern.data() + at, &value, sizeof value);
  };
  switch (type) {
    case ScalarType::f64:
      fill(0.75);
      break;
    case ScalarType::f32:
      fill(0.75F);
      break;
    case ScalarType::i64:
    case ScalarType::u64:
      fill(std::int64_t{5});
      break;
    case ScalarType::i32:
    case ScalarType::u32:
      fill(std::int32_t{5});
      break;
    case ScalarType::i16:
    case ScalarType::u16:
      fill(std::int16_t{5});
      break;
    case ScalarType::f16:
    case ScalarType::bf16:
      break;  // zero in both: nobody indexes by halves
    default:
      fill(std::int8_t{1});
  }
  return pattern;
}

class Observer {
 public:
  Observer(const CompiledKernel& compiled, const KernelSignature& signature, const Manifest& draft,
           const std::vector<std::string>& fixed, const Cancellation& cancellation)
      : compiled_(compiled),
        signature_(signature),
        draft_(draft),
        fixed_(fixed),
        cancellation_(cancellation) {}

  Result<ObservedLengths> run(const std::vector<std::string>& wanted) {
    if (Status status = prepare(); !status.ok()) return status.error();
    std::vector<Symbols> symbols;
    std::vector<Trial> trials;
    for (std::size_t trial = 0; trial < kTrials; ++trial) {
      symbols.push_back(sizes_of(trial));
      auto touched = run_once(symbols.back(), Filling::zeros);
      if (!touched.ok()) return touched.error();
      trials.push_back(std::move(*touched));
    }
    const auto other = run_once(symbols.front(), Filling::numbers);
    if (!other.ok()) return other.error();
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const Parameter& parameter = signature_.parameters[i];
      if (std::ranges::find(wanted, parameter.name) == wanted.end()) continue;
      if ((*other)[i].length != trials.front()[i].length) {
        result_.unknown.emplace_back(parameter.name,
                                     "the places that are touched depend on what buffers hold");
        continue;
      }
      explain(i, symbols, trials);
    }
    return std::move(result_);
  }

 private:
  Status prepare() {
    if (!draft_.launch) return fail(ErrorCode::unsupported, "the launch is not known");
    for (const Parameter& parameter : signature_.parameters) {
      if (parameter.record_bytes > 0)
        return fail(ErrorCode::unsupported, "structures are not looked into");
    }
    auto program = ptx::Program::load(compiled_.ptx, compiled_.entry);
    if (!program.ok()) return program.error();
    program_.emplace(std::move(*program));
    for (const Parameter& parameter : signature_.parameters) {
      if (may_be_size(parameter)) result_.sizes.push_back(parameter.name);
    }
    // Sizes of the grid alone.
    for (const IntegerExpression& extent : draft_.launch->grid) {
      for (const std::string& name : extent.symbols()) {
        const bool known = std::ranges::find(result_.sizes, name) != result_.sizes.end();
        const auto size = draft_.sizes.find(name);
        const bool parameter = std::ranges::any_of(
            signature_.parameters, [&](const Parameter& one) { return one.name == name; });
        if (known || parameter || size == draft_.sizes.end() ||
            static_cast<double>(size->second) <= kStructuralSize)
          continue;
        if (extent.text() == name) blocks_.insert(name);
        result_.sizes.push_back(name);
      }
    }
    add_sizes_of_values();
    return {};
  }

  [[nodiscard]] const ManifestArgument* said_of(const std::string& name) const {
    for (const auto& [known, one] : draft_.arguments) {
      if (known == name) return &one;
    }
    return nullptr;
  }

  [[nodiscard]] bool may_be_size(const Parameter& parameter) const {
    if (parameter.is_pointer || is_floating(parameter.type) ||
        parameter.type == ScalarType::boolean)
      return false;
    if (std::ranges::find(fixed_, parameter.name) != fixed_.end()) return false;
    const auto size = draft_.sizes.find(parameter.name);
    if (size != draft_.sizes.end()) return static_cast<double>(size->second) > kStructuralSize;
    const ManifestArgument* said = said_of(parameter.name);
    if (said == nullptr || !said->value) return true;
    const Result<double> number = said->value->at({});  // an expression follows other sizes
    return number.ok() && *number > kStructuralSize;
  }

  // Sizes that are not passed, but that what is passed follows.
  void add_sizes_of_values() {
    for (const auto& [name, said] : draft_.arguments) {
      if (!said.value || said.value->expression() == nullptr) continue;
      for (const std::string& symbol : said.value->expression()->symbols()) {
        const auto size = draft_.sizes.find(symbol);
        const bool known = std::ranges::find(result_.sizes, symbol) != result_.sizes.end();
        if (known || size == draft_.sizes.end()) continue;
        if (static_cast<double>(size->second) > kStructuralSize) result_.sizes.push_back(symbol);
      }
    }
  }

  [[nodiscard]] Symbols sizes_of(std::size_t trial) const {
    Symbols symbols = draft_.sizes;
    const std::size_t count = std::max<std::size_t>(result_.sizes.size(), 1);
    const std::int64_t unit = kUnits[std::min(count, kUnits.size()) - 1];
    for (std::size_t k = 0; k < result_.sizes.size(); ++k) {
      const std::size_t factor = (trial * (k + 1) + k) % kFactors.size();
      const bool counts_blocks = blocks_.contains(result_.sizes[k]);
      symbols[result_.sizes[k]] = counts_blocks ? kFactors[factor] + 1 : unit * kFactors[factor];
    }
    return symbols;
  }

  Result<Trial> run_once(const Symbols& symbols, Filling filling) {
    const auto launch = concretise(*draft_.launch, symbols);
    if (!launch.ok()) return launch.error();
    ptx::DeviceMemory memory;
    std::vector<std::uint64_t> addresses(signature_.parameters.size());
    ptx::LaunchArguments arguments;
    arguments.grid = launch->grid;
    arguments.block = launch->block;
    arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(launch->dynamic_shared_bytes);
    std::size_t slot = 0;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const Parameter& parameter = signature_.parameters[i];
      if (!parameter.is_passed()) continue;
      if (slot >= program_->parameters().size())
        return fail(ErrorCode::unsupported, "the kernel has other parameters than the source");
      const auto layout = program_->parameters()[slot++];
      arguments.parameters.resize(
          std::max(arguments.parameters.size(), layout.offset + layout.bytes));
      std::byte* const place = arguments.parameters.data() + layout.offset;
      if (!parameter.is_pointer) {
        write_scalar(parameter, symbols, place, layout.bytes);
        continue;
      }
      auto address =
          memory.allocate_pattern(parameter.name, kBufferBytes, ptx::BufferAccess::read_write,
                                  pattern_of(parameter.type, filling));
      if (!address.ok()) return address.error();
      addresses[i] = *address;
      std::memcpy(place, &*address, sizeof *address);
    }
    ptx::AddressLog reads;
    ptx::AddressLog writes;
    ptx::RunOptions options;
    options.count = false;
    options.instruction_budget = kMostInstructions;
    options.reads = &reads;
    options.writes = &writes;
    options.threads = 1;
    options.shared_fill = 0;
    const ptx::RunResult done = ptx::run(*program_, arguments, memory, options, cancellation_);
    if (cancellation_.requested()) return fail(ErrorCode::cancelled, "interrupted");
    if (!done.ok())
      return fail(ErrorCode::unsupported, "run at small sizes it fails: " + done.fault.message);
    if (reads.full || writes.full)
      return fail(ErrorCode::unsupported, "it touches memory too often to look at");
    return touched_by(addresses, reads, writes);
  }

  // A size, what the draft says, or a number that does no harm.
  void write_scalar(const Parameter& parameter, const Symbols& symbols, std::byte* place,
                    std::size_t bytes) const {
    const auto put = [&](auto value) { std::memcpy(place, &value, std::min(bytes, sizeof value)); };
    const ManifestArgument* said = said_of(parameter.name);
    double number = 1.0;
    if (said != nullptr && said->value) {
      if (const Result<double> given = said->value->at(symbols); given.ok()) number = *given;
    }
    if (parameter.type == ScalarType::f64) return put(number);
    if (parameter.type == ScalarType::f32) return put(static_cast<float>(number));
    if (is_floating(parameter.type)) return;
    const auto size = symbols.find(parameter.name);
    put(size != symbols.end() ? size->second : static_cast<std::int64_t>(std::llround(number)));
  }

  [[nodiscard]] Trial touched_by(const std::vector<std::uint64_t>& addresses,
                                 const ptx::AddressLog& reads,
                                 const ptx::AddressLog& writes) const {
    Trial trial(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] == 0) continue;
      const Parameter& parameter = signature_.parameters[i];
      const auto element = static_cast<std::uint64_t>(parameter.components) *
                           static_cast<std::uint64_t>(size_in_bytes(parameter.type));
      const auto look = [&](const ptx::AddressLog& log, bool& any) {
        for (const ptx::AddressLog::Range& range : log.ranges) {
          if (range.begin < addresses[i] || range.begin >= addresses[i] + kBufferBytes) continue;
          any = true;
          trial[i].length = std::max(
              trial[i].length,
              static_cast<std::int64_t>((range.end - addresses[i] + element - 1) / element));
        }
      };
      look(reads, trial[i].is_read);
      look(writes, trial[i].is_written);
    }
    return trial;
  }

  void explain(std::size_t place, const std::vector<Symbols>& symbols,
               const std::vector<Trial>& trials) {
    const Parameter& parameter = signature_.parameters[place];
    std::vector<std::int64_t> lengths;
    ObservedBuffer seen;
    bool is_read = false;
    bool is_written = false;
    for (const Trial& trial : trials) {
      lengths.push_back(trial[place].length);
      is_read = is_read || trial[place].is_read;
      is_written = is_written || trial[place].is_written;
    }
    const auto unknown = [&](std::string why) {
      result_.unknown.emplace_back(parameter.name, std::move(why));
    };
    if (lengths.front() == 0) return unknown("nothing of it is touched at small sizes");
    const bool constant =
        std::ranges::all_of(lengths, [&](std::int64_t one) { return one == lengths.front(); });
    if (constant) {
      seen.length = lengths.front();
    } else if (auto found = capture::match_length(symbols, lengths)) {
      seen.length = *found;
    } else if (auto quotient = capture::match_grid(symbols, lengths, "", 1)) {
      seen.length = *quotient;
    } else {
      return unknown(
          fmt::format("run at small sizes it has {} and {} elements, which no simple "
                      "expression of sizes gives",
                      lengths[0], lengths[1]));
    }
    // Atomics stand among the writes, and read.
    const bool may_read = is_read || compiled_.ptx.find("atom.") != std::string::npos ||
                          compiled_.ptx.find("red.") != std::string::npos;
    if (parameter.points_to_const || !is_written) {
      seen.direction = Direction::in;
    } else {
      seen.direction = may_read ? Direction::inout : Direction::out;
    }
    result_.buffers[parameter.name] = seen;
  }

  const CompiledKernel& compiled_;
  const KernelSignature& signature_;
  const Manifest& draft_;
  const std::vector<std::string>& fixed_;
  const Cancellation& cancellation_;
  std::optional<ptx::Program> program_;
  std::set<std::string> blocks_;  // sizes that are a number of blocks
  ObservedLengths result_;
};

}  // namespace

Result<ObservedLengths> observe_lengths(const CompiledKernel& compiled,
                                        const KernelSignature& signature, const Manifest& draft,
                                        const std::vector<std::string>& fixed,
                                        const std::vector<std::string>& wanted,
                                        const Cancellation& cancellation) {
  return Observer(compiled, signature, draft, fixed, cancellation).run(wanted);
}

}  // namespace regraph
