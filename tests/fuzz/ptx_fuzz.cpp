// Mutates PTX for a number of seconds and puts it through parser, decoder, address slice and, with
// small limits, the interpreter. Meant for an AddressSanitizer build: a crash ends the program with
// an error.
//
//   ptx_fuzz SECONDS SEED FILE...
#include "base/random.h"
#include "ptx/caches/cache_simulation.h"
#include "ptx/interpreter.h"
#include "ptx/memory/module_memory.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace regraph;

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    return bound == 0 ? 0 : random_bits(seed_, ++draw_) % bound;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t draw_ = 0;
};

// Words of PTX that a random byte would never make.
constexpr std::string_view kWords[] = {".reg",
                                       ".param",
                                       ".shared",
                                       ".local",
                                       ".global",
                                       ".const",
                                       ".func",
                                       ".entry",
                                       ".align",
                                       ".b8",
                                       ".b64",
                                       ".f16x2",
                                       ".v4",
                                       ".extern",
                                       "{",
                                       "}",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       ",",
                                       ";",
                                       "@!%p1 ",
                                       "bra",
                                       "call",
                                       "ret;",
                                       "%r1",
                                       "%rd1",
                                       "%p1",
                                       "0x7fffffffffffffff",
                                       "-1",
                                       "4294967295",
                                       "0f7FC00000",
                                       "0dFFF0000000000000",
                                       ".loc 1 1 1\n",
                                       "generic(",
                                       "<1048576>",
                                       "%r<9>",
                                       "bar.sync 0;",
                                       "atom.global.add.u32",
                                       "ld.global.v4.f32",
                                       "cp.async.ca.shared.global",
                                       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                                       "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
                                       "wgmma.wait_group.sync.aligned 0;",
                                       "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                                       "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16",
                                       "mbarrier.init.shared.b64",
                                       "mbarrier.arrive.expect_tx.shared.b64 _,",
                                       "mbarrier.try_wait.parity.shared.b64 %p1,",
                                       "cp.async.bulk.commit_group;",
                                       ".reqnctapercluster 2",
                                       "add.cc.u64",
                                       "set.lt.f16x2.f16x2",
                                       "brx.idx",
                                       ".branchtargets",
                                       "shfl.sync.idx.b32",
                                       "lop3.b32"};

std::string mutate(const std::vector<std::string>& corpus, Random& random) {
  std::string text = corpus[random.below(corpus.size())];
  const std::uint64_t count = 1 + random.below(6);
  for (std::uint64_t i = 0; i < count && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(random.below(60), text.size() - at);
    switch (random.below(8)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), length));
        break;
      case 3:
        text.insert(at, kWords[random.below(std::size(kWords))]);
        break;
      case 4:
        text.resize(at);
        break;
      case 5: {  // a line elsewhere
        const std::size_t begin = text.rfind('\n', at);
        const std::size_t from = begin == std::string::npos ? 0 : begin;
        const std::size_t end = std::min(text.find('\n', at), text.size());
        text.insert(random.below(text.size()), text.substr(from, end - from));
        break;
      }
      case 6: {  // part of another file
        const std::string& other = corpus[random.below(corpus.size())];
        if (!other.empty()) text.insert(at, other.substr(random.below(other.size()), 4 * length));
        break;
      }
      default: {  // a number
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random.below(10));
      }
    }
  }
  return text;
}

std::string entry_of(const std::string& text) {
  const std::size_t at = text.find(".entry ");
  if (at == std::string::npos) return "k";
  const std::size_t begin = at + 7;
  return text.substr(begin, text.find_first_of("( \n\t", begin) - begin);
}

// Returns whether the text was a program.
bool run_one(const std::string& text, std::uint64_t seed) {
  const Result<ptx::Program> program = ptx::Program::load(text, entry_of(text));
  if (!program.ok()) return false;
  // Text may declare more memory than a fuzzer should touch.
  std::size_t bytes = program->static_shared_bytes();
  for (const ptx::Program::Symbol& symbol : program->symbols())
    bytes += symbol.bytes;
  if (bytes > (64U << 20)) return true;
  ptx::DeviceMemory memory;
  ptx::LaunchArguments arguments;
  arguments.grid = Dim3{2, 1, 1};
  arguments.block = Dim3{48, 1, 1};
  for (const ptx::Program::ParameterLayout& parameter : program->parameters()) {
    if (parameter.offset + parameter.bytes > (1U << 16)) return true;
    arguments.parameters.resize(parameter.offset + parameter.bytes);
    std::uint64_t value = 40;
    if (parameter.is_pointer_sized) {
      const Result<std::uint64_t> buffer =
          memory.allocate("buffer", 65536, ptx::BufferAccess::read_write);
      if (!buffer.ok()) return true;
      value = *buffer;
    }
    std::copy_n(reinterpret_cast<const std::byte*>(&value),
                std::min<std::size_t>(parameter.bytes, 8),
                arguments.parameters.begin() + static_cast<std::ptrdiff_t>(parameter.offset));
  }
  ptx::RunOptions options;
  options.instruction_budget = 20000;
  options.threads = 1;
  options.detect_races = seed % 3 == 0;
  options.handlers = static_cast<ptx::HandlerSet>(seed % 4);
  static_cast<void>(ptx::run(*program, arguments, memory, options, Cancellation()));
  ptx::CacheGeometry geometry;
  geometry.sm_count = 1;
  geometry.l1_bytes = 16384;
  geometry.l2_bytes = 65536;
  ptx::CacheSimulationLimits limits;
  limits.instructions_per_wave = 20000;
  limits.requests_per_wave = 1000;
  if (seed % 5 == 0) {
    static_cast<void>(
        ptx::simulate_caches(*program, arguments, memory, geometry, limits, Cancellation()));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: ptx_fuzz SECONDS SEED FILE...\n");
    return 2;
  }
  const double seconds = std::atof(argv[1]);
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  std::vector<std::string> corpus;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i]);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (corpus.back().empty()) {
      std::fprintf(stderr, "ptx_fuzz: cannot read %s\n", argv[i]);
      return 2;
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t iterations = 0;
  std::uint64_t programs = 0;
  const char* keep = std::getenv("PTX_FUZZ_KEEP");
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         seconds) {
    Random random(seed * 1000003 + iterations);
    const std::string text = mutate(corpus, random);
    if (keep != nullptr)
      std::ofstream(keep, std::ios::trunc) << text;  // the last one is the culprit
    if (run_one(text, iterations)) ++programs;
    ++iterations;
  }
  std::printf("%llu iterations, %llu of them programs, seed %llu\n",
              static_cast<unsigned long long>(iterations),
              static_cast<unsigned long long>(programs), static_cast<unsigned long long>(seed));
  return programs == 0 ? 1 : 0;  // a fuzzer that makes no program tests nothing
}
