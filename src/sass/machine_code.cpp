#include "sass/machine_code.h"

#include "sass/elf_image.h"
#include "sass/line_table.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace regraph::sass {
namespace {

constexpr std::size_t kMostInstructions = std::size_t{1} << 18;
constexpr std::size_t kMostLoops = 1024;
constexpr std::string_view kCodePrefix = ".text.";
constexpr std::string_view kInternalPrefix = "$__internal_";

// The low byte of e_flags, or from CUDA 13 on the second one, holds the architecture's number.
int architecture_of(const ElfImage& image) {
  for (const unsigned shift : {8U, 0U}) {
    const int number = static_cast<int>((image.flags() >> shift) & 0xffU);
    if (number >= 75 && number < 130) return number;
  }
  return 0;
}

using CodePlace = std::pair<std::uint32_t, std::uint64_t>;  // code section, offset

class Reader {
 public:
  Reader(const ElfImage& image, std::string_view entry) : image_(image), entry_(entry) {}

  Result<MachineCode> read() {
    code_.architecture = architecture_of(image_);
    if (code_.architecture == 0) return fail(ErrorCode::parse, "machine code of no known device");
    rows_ = read_line_table(image_);
    if (rows_.empty()) return fail(ErrorCode::parse, "the machine code has no line table");
    const auto& sections = image_.sections();
    const auto is_code = [&](std::size_t i) {
      return image_.name(sections[i]).starts_with(kCodePrefix);
    };
    const auto function = [&](std::size_t i) {
      return image_.name(sections[i]).substr(kCodePrefix.size());
    };
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (is_code(i) && function(i) == entry_) add_section(static_cast<std::uint32_t>(i));
    }
    if (code_.instructions.empty())
      return fail(ErrorCode::parse, "the machine code lacks the kernel");
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (is_code(i) && function(i) != entry_ && !is_kernel(function(i)))
        add_section(static_cast<std::uint32_t>(i));
    }
    resolve_targets();
    find_blocks();
    if (code_.flow.loops.size() > kMostLoops)
      return fail(ErrorCode::parse, "machine code with more loops than can be followed");
    return std::move(code_);
  }

 private:
  bool is_kernel(std::string_view name) const {
    return std::any_of(image_.symbols().begin(), image_.symbols().end(),
                       [&](const Elf64_Sym& symbol) {
                         return (symbol.st_other & kKernelFlag) != 0 && image_.name(symbol) == name;
                       });
  }

  void add_section(std::uint32_t index) {
    const std::string_view bytes = image_.content(image_.sections()[index]);
    const std::size_t count = bytes.size() / kInstructionBytes;
    if (count == 0 || code_.instructions.size() + count > kMostInstructions) return;
    const auto base = static_cast<std::uint32_t>(code_.instructions.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t address = i * kInstructionBytes;
      std::uint64_t words[2];
      std::memcpy(words, bytes.data() + address, sizeof(words));
      CodeInstruction one;
      one.what = decode(words[0], words[1], code_.architecture, address);
      one.ptx_line = line_at(rows_, index, address);
      places_.emplace(CodePlace{index, address}, base + static_cast<std::uint32_t>(i));
      code_.instructions.push_back(one);
    }
    add_functions(index, base);
  }

  // Splits a section at the functions that its symbols name.
  void add_functions(std::uint32_t index, std::uint32_t base) {
    const std::string_view own = image_.name(image_.sections()[index]).substr(kCodePrefix.size());
    std::map<std::uint64_t, std::string_view> starts = {{0, own}};
    for (const Elf64_Sym& symbol : image_.symbols()) {
      if (symbol.st_shndx != index || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      if (symbol.st_value % kInstructionBytes == 0 && places_.contains({index, symbol.st_value}))
        starts.try_emplace(symbol.st_value, image_.name(symbol));
    }
    const auto end = static_cast<std::uint32_t>(code_.instructions.size());
    for (auto start = starts.begin(); start != starts.end(); ++start) {
      CodeFunction function;
      function.name = start->second;
      function.first = base + static_cast<std::uint32_t>(start->first / kInstructionBytes);
      function.last =
          std::next(start) == starts.end()
              ? end
              : base + static_cast<std::uint32_t>(std::next(start)->first / kInstructionBytes);
      function.internal = start->second.starts_with(kInternalPrefix);
      function.slow_path =
          function.internal && start->second.find("slowpath") != std::string_view::npos;
      if (function.internal) {
        // The table's last row of the kernel reaches over them.
        for (std::uint32_t i = function.first; i < function.last; ++i)
          code_.instructions[i].ptx_line = 0;
      }
      code_.functions.push_back(std::move(function));
    }
  }

  // Direct calls that the linker fills in: the place of the instruction -> that of the function.
  std::map<CodePlace, CodePlace> relocated_calls() const {
    std::map<CodePlace, CodePlace> calls;
    for (const Elf64_Shdr& section : image_.sections()) {
      if (section.sh_type != SHT_RELA || !image_.name(section).starts_with(".rela.text.")) continue;
      for (const auto& one : image_.table<Elf64_Rela>(section)) {
        const std::size_t index = ELF64_R_SYM(one.r_info);
        if (index >= image_.symbols().size()) continue;
        const Elf64_Sym& symbol = image_.symbols()[index];
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        const std::uint64_t address = one.r_offset / kInstructionBytes * kInstructionBytes;
        calls[{section.sh_info, address}] = {symbol.st_shndx, symbol.st_value};
      }
    }
    return calls;
  }

  void resolve_targets() {
    const std::map<CodePlace, CodePlace> calls = relocated_calls();
    for (const auto& [place, index] : places_) {
      CodeInstruction& one = code_.instructions[index];
      if (!one.what.has_target) continue;
      CodePlace wanted{place.first, static_cast<std::uint64_t>(one.what.target)};
      if (one.what.operation == kCallRelative) {
        if (const auto call = calls.find(place); call != calls.end()) wanted = call->second;
      }
      if (const auto found = places_.find(wanted); found != places_.end())
        one.target = found->second;
    }
  }

  void find_blocks() {
    std::vector<ptx::FlowEffect> effects(code_.instructions.size());
    std::vector<std::uint32_t> entries;
    for (const CodeFunction& function : code_.functions)
      entries.push_back(function.first);
    // Every function ends a block, whatever its last instruction is.
    for (const CodeFunction& function : code_.functions) {
      effects[function.last - 1] = {ptx::FlowEffect::Kind::exit, false, {}};
    }
    for (std::size_t i = 0; i < effects.size(); ++i) {
      const CodeInstruction& one = code_.instructions[i];
      const bool call = one.what.operation == kCallRelative || one.what.operation == kCallAbsolute;
      if (call && effects[i].kind == ptx::FlowEffect::Kind::none) {
        // A block of its own end, so that slow paths stand out; control comes back.
        effects[i] = {ptx::FlowEffect::Kind::branch, true, {}};
      } else if (one.what.operation == kBranch) {
        const bool inside = one.target != kNoInstruction;
        effects[i] = {ptx::FlowEffect::Kind::branch, one.what.falls_through, {}};
        if (inside) effects[i].targets.push_back(one.target);
      } else if (!one.what.falls_through || one.what.operation_class == OperationClass::exit ||
                 one.what.operation == kReturn) {
        effects[i] = {ptx::FlowEffect::Kind::exit, one.what.falls_through, {}};
      }
    }
    code_.flow = ptx::analyse_control_flow(effects, entries);
  }

  const ElfImage& image_;
  std::string_view entry_;
  std::vector<LineRow> rows_;
  std::map<CodePlace, std::uint32_t> places_;
  MachineCode code_;
};

}  // namespace

const CodeFunction& MachineCode::function_of(std::uint32_t instruction) const {
  const auto after = std::upper_bound(
      functions.begin(), functions.end(), instruction,
      [](std::uint32_t wanted, const CodeFunction& function) { return wanted < function.first; });
  return *std::prev(after);
}

Result<MachineCode> read_machine_code(std::span<const std::byte> cubin, std::string_view entry) {
  const auto image = ElfImage::open(cubin);
  if (!image) return fail(ErrorCode::parse, "not a cubin");
  return Reader(*image, entry).read();
}

}  // namespace regraph::sass
