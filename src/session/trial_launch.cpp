#include "session/trial_launch.h"

#include "eval/verify/parameters.h"
#include "kernel/manifest.h"
#include "ptx/device_memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace regraph {
namespace {

constexpr std::size_t kTrialBufferBytes = std::size_t{256} << 20;  // committed where touched
constexpr std::uint64_t kInstructionsOfAllBlocks = 4'000'000;      // of warps
constexpr std::uint64_t kInstructionsOfSomeBlocks = 20'000'000;
constexpr std::uint64_t kBlocksBetween = 12;
constexpr std::size_t kPatternBytes = 4096;
constexpr std::size_t kMostPatternBytes = std::size_t{1} << 20;
constexpr std::size_t kAscending = std::size_t{1} << 16;  // elements; more are not looked at

template <typename Visit>
void with_type(ScalarType type, double value, const Visit& visit) {
  switch (type) {
    case ScalarType::f64:
      return visit(value);
    case ScalarType::f32:
      return visit(static_cast<float>(value));
    case ScalarType::f16:
    case ScalarType::bf16: {
      // Of multiples of a quarter the upper bits alone count.
      const auto whole = static_cast<float>(value);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &whole, sizeof bits);
      const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
      if (type == ScalarType::bf16) return visit(static_cast<std::uint16_t>(bits >> 16));
      if (value == 0.0) return visit(std::uint16_t{0});
      const std::uint32_t exponent = (bits >> 23 & 0xffU) - 127 + 15;
      return visit(static_cast<std::uint16_t>(sign | exponent << 10 | (bits >> 13 & 0x3ffU)));
    }
    case ScalarType::i64:
    case ScalarType::u64:
      return visit(static_cast<std::int64_t>(value));
    case ScalarType::i32:
    case ScalarType::u32:
      return visit(static_cast<std::int32_t>(value));
    case ScalarType::i16:
    case ScalarType::u16:
      return visit(static_cast<std::int16_t>(value));
    case ScalarType::boolean:
      return visit(static_cast<std::uint8_t>(value != 0.0 ? 1 : 0));
    default:
      return visit(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
  }
}

std::vector<std::byte> pattern_of(ScalarType type, double value) {
  std::vector<std::byte> pattern(kPatternBytes);
  with_type(type, value, [&](auto number) {
    for (std::size_t at = 0; at + sizeof number <= pattern.size(); at += sizeof number)
      std::memcpy(pattern.data() + at, &number, sizeof number);
  });
  return pattern;
}

void fill_ascending(ScalarType type, const TrialContent& content, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < kAscending; ++i) {
    const double value = content.first + static_cast<double>(i) * static_cast<double>(content.step);
    with_type(type, value, [&](auto number) {
      std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
    });
  }
}

// The numbers that verification fills a buffer with, which are repeated.
std::vector<std::byte> drawn_pattern(const Parameter& parameter, const ManifestArgument* said,
                                     const Symbols& symbols, const DrawnContents& drawn,
                                     std::size_t stream) {
  Argument argument;
  argument.name = parameter.name;
  argument.type = parameter.type;
  argument.is_pointer = true;
  argument.components = parameter.components;
  argument.record_bytes = parameter.record_bytes;
  argument.fields = parameter.fields;
  if (said != nullptr && said->init && !said->init->is_whole()) {
    argument.init = *said->init;
  } else if (!is_floating(parameter.type)) {
    argument.init = default_integer_init(parameter.type);
  }
  const auto element = static_cast<std::size_t>(parameter.components) *
                       static_cast<std::size_t>(size_in_bytes(parameter.type));
  std::size_t bytes = std::lcm(std::max<std::size_t>(element, 1), kPatternBytes);
  if (bytes > kMostPatternBytes) bytes = kPatternBytes;
  std::vector<std::byte> pattern(bytes);
  verify::fill_input({}, argument, symbols, drawn.distribution, drawn.seed, stream, pattern);
  return pattern;
}

// First and last on each axis, and some between.
std::vector<std::uint64_t> some_blocks(const Dim3& grid) {
  std::set<std::uint64_t> blocks;
  for (const std::uint64_t z : {std::uint64_t{0}, std::uint64_t{grid.z} - 1}) {
    for (const std::uint64_t y : {std::uint64_t{0}, std::uint64_t{grid.y} - 1}) {
      for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{grid.x} - 1})
        blocks.insert((z * grid.y + y) * grid.x + x);
    }
  }
  const std::uint64_t count = grid.count();
  for (std::uint64_t i = 1; i < kBlocksBetween; ++i)
    blocks.insert(count * i / kBlocksBetween);
  return {blocks.begin(), blocks.end()};
}

}  // namespace

struct TrialLaunch::Setup {
  ptx::DeviceMemory memory;
  ptx::LaunchArguments arguments;
  std::vector<std::uint64_t> addresses;  // by parameter; 0: no buffer
};

Result<TrialLaunch> TrialLaunch::make(const CompiledKernel& compiled,
                                      const KernelSignature& signature, const Manifest& draft) {
  if (!draft.launch) return fail(ErrorCode::unsupported, "the launch is not known");
  auto program = ptx::Program::load(compiled.ptx, compiled.entry);
  if (!program.ok()) return program.error();
  const bool dynamic = compiled.ptx.find(".extern .shared") != std::string::npos;
  return TrialLaunch(std::move(*program), signature, draft, dynamic);
}

const ManifestArgument* TrialLaunch::said_of(const std::string& name) const {
  for (const auto& [known, one] : draft_.arguments) {
    if (known == name) return &one;
  }
  return nullptr;
}

std::int64_t TrialLaunch::most_shared_bytes() const {
  const auto all = static_cast<std::int64_t>(ptx::RunOptions().shared_limit_bytes);
  return std::max<std::int64_t>(all - static_cast<std::int64_t>(program_.static_shared_bytes()), 0);
}

Result<TrialLaunch::Setup> TrialLaunch::set_up(const Symbols& symbols,
                                               const TrialContents& contents) const {
  const auto launch = concretise(*draft_.launch, symbols);
  if (!launch.ok()) return launch.error();
  Setup setup;
  setup.addresses.resize(signature_.parameters.size());
  ptx::LaunchArguments& arguments = setup.arguments;
  arguments.grid = launch->grid;
  arguments.block = launch->block;
  arguments.dynamic_shared_bytes =
      static_cast<std::uint32_t>(shared_bytes_.value_or(launch->dynamic_shared_bytes));
  std::size_t slot = 0;
  std::map<std::string, std::size_t> structures;  // where they begin among the arguments
  for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
    const Parameter& parameter = signature_.parameters[i];
    if (!parameter.is_passed()) continue;
    if (slot >= program_.parameters().size())
      return fail(ErrorCode::unsupported, "the kernel has other parameters than the source");
    const auto layout = program_.parameters()[slot++];
    arguments.parameters.resize(
        std::max(arguments.parameters.size(), layout.offset + layout.bytes));
    std::byte* const place = arguments.parameters.data() + layout.offset;
    if (parameter.is_pointer) {
      if (Status status = add_buffer(i, symbols, contents, setup); !status.ok())
        return status.error();
      std::memcpy(place, &setup.addresses[i], sizeof setup.addresses[i]);
    } else if (parameter.record_bytes > 0) {
      structures[parameter.name] = layout.offset;
      const ManifestArgument* said = said_of(parameter.name);
      if (said != nullptr && said->record)
        std::copy_n(said->record->begin(), std::min(said->record->size(), layout.bytes), place);
    } else {
      write_scalar(parameter, symbols, place, layout.bytes);
    }
  }
  for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
    const Parameter& parameter = signature_.parameters[i];
    const auto structure = structures.find(parameter.inside);
    if (structure == structures.end()) continue;
    const std::size_t at = structure->second + static_cast<std::size_t>(parameter.inside_byte);
    if (at + sizeof setup.addresses[i] > arguments.parameters.size()) continue;
    if (Status status = add_buffer(i, symbols, contents, setup); !status.ok())
      return status.error();
    std::memcpy(arguments.parameters.data() + at, &setup.addresses[i], sizeof setup.addresses[i]);
  }
  return setup;
}

Status TrialLaunch::add_buffer(std::size_t index, const Symbols& symbols,
                               const TrialContents& contents, Setup& setup) const {
  const Parameter& parameter = signature_.parameters[index];
  const ManifestArgument* said = said_of(parameter.name);
  if (said != nullptr && said->is_null) return {};
  const bool floating = is_floating(parameter.type);
  TrialContent content{floating ? contents.floats : contents.integers, 0};
  if (const auto own = contents.of.find(index); own != contents.of.end()) content = own->second;
  const auto pattern = contents.drawn
                           ? drawn_pattern(parameter, said, symbols, *contents.drawn, index)
                           : pattern_of(parameter.type, content.first);
  auto address = setup.memory.allocate_pattern(parameter.name, kTrialBufferBytes,
                                               ptx::BufferAccess::read_write, pattern);
  if (!address.ok()) return address.error();
  if (content.step != 0 && !contents.drawn)
    fill_ascending(parameter.type, content, setup.memory.view(*address));
  setup.addresses[index] = *address;
  return {};
}

Result<Trial> TrialLaunch::run(const Symbols& symbols, const TrialContents& contents,
                               const Cancellation& cancellation) {
  for (;;) {
    auto setup = set_up(symbols, contents);
    if (!setup.ok()) return setup.error();
    ptx::AddressLog reads;
    for (const std::uint64_t address : setup->addresses) {
      if (address != 0) reads.buffers.push_back({address, address + kTrialBufferBytes});
    }
    std::ranges::sort(reads.buffers, {}, &ptx::AddressLog::Range::begin);
    reads.within.resize(reads.buffers.size());
    ptx::AddressLog writes = reads;
    ptx::RunOptions options;
    options.count = false;
    options.instruction_budget = most_instructions_.value_or(samples_ ? kInstructionsOfSomeBlocks
                                                                      : kInstructionsOfAllBlocks);
    if (samples_) options.blocks = some_blocks(setup->arguments.grid);
    options.reads = &reads;
    options.writes = &writes;
    options.threads = 1;
    options.shared_fill = 0;
    const ptx::RunResult done =
        ptx::run(program_, setup->arguments, setup->memory, options, cancellation);
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "interrupted");
    if (!samples_ && done.fault.kind == ptx::FaultKind::instruction_budget) {
      samples_ = true;
      continue;
    }
    if (!done.ok())
      return fail(ErrorCode::unsupported, "run at small sizes it fails: " + done.fault.message);
    return touched_by(*setup, reads, writes);
  }
}

Result<std::int64_t> TrialLaunch::shared_bytes(const Symbols& symbols, std::uint32_t threads,
                                               const Cancellation& cancellation) const {
  const auto enough = [&](std::int64_t bytes) -> Result<bool> {
    auto setup = set_up(symbols, {});
    if (!setup.ok()) return setup.error();
    setup->arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(bytes);
    setup->arguments.block.x = threads;
    ptx::RunOptions options;
    options.count = false;
    options.instruction_budget = kInstructionsOfSomeBlocks;
    options.blocks = {0, setup->arguments.grid.count() - 1};
    if (options.blocks[1] == 0) options.blocks.pop_back();
    options.threads = 1;
    options.shared_fill = 0;
    const auto done = ptx::run(program_, setup->arguments, setup->memory, options, cancellation);
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "interrupted");
    const bool outside = done.fault.kind == ptx::FaultKind::out_of_bounds &&
                         done.fault.message.find("shared address") != std::string::npos;
    if (!done.ok() && !outside)
      return fail(ErrorCode::unsupported, "run at small sizes it fails: " + done.fault.message);
    return done.ok();
  };
  std::int64_t least = 0;
  std::int64_t most = most_shared_bytes();
  const auto possible = enough(most);
  if (!possible.ok()) return possible.error();
  if (!*possible) return fail(ErrorCode::unsupported, "it uses more shared memory than there is");
  while (least < most) {
    const std::int64_t middle = (least + most) / 2;
    const auto fits = enough(middle);
    if (!fits.ok()) return fits.error();
    (*fits ? most : least) = *fits ? middle : middle + 1;
  }
  return least;
}

// A size, what the draft says, or a number that does no harm.
void TrialLaunch::write_scalar(const Parameter& parameter, const Symbols& symbols, std::byte* place,
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

Trial TrialLaunch::touched_by(const Setup& setup, const ptx::AddressLog& reads,
                              const ptx::AddressLog& writes) const {
  Trial trial(setup.addresses.size());
  for (std::size_t i = 0; i < setup.addresses.size(); ++i) {
    const std::uint64_t address = setup.addresses[i];
    if (address == 0) continue;
    const Parameter& parameter = signature_.parameters[i];
    const auto element = static_cast<std::uint64_t>(parameter.components) *
                         static_cast<std::uint64_t>(size_in_bytes(parameter.type));
    const auto look = [&](const ptx::AddressLog& log, bool& any) {
      const auto place = std::ranges::find(log.buffers, address, &ptx::AddressLog::Range::begin);
      const auto& range = log.within[static_cast<std::size_t>(place - log.buffers.begin())];
      if (range.begin == range.end) return;
      any = true;
      trial[i].length =
          std::max(trial[i].length,
                   static_cast<std::int64_t>((range.end - address + element - 1) / element));
    };
    look(reads, trial[i].is_read);
    look(writes, trial[i].is_written);
  }
  return trial;
}

}  // namespace regraph
