// Kernels from elsewhere, by hand: REGRAPH_PTX_FOLDER names a folder whose *.ptx must load,
// REGRAPH_PTX_LAUNCHES a file of launches to run. One launch is a line of words:
//
//   PTX ENTRY GRID_X GRID_Y BLOCK SHARED_BYTES ARGUMENT...
//
// An argument is b:FILE (a buffer with the bytes of the file, written back to FILE.out), z:BYTES (a
// buffer of zeros), i:32-BIT-INTEGER, l:64-BIT-INTEGER, f:FLOAT, d:DOUBLE. All launches run with
// REGRAPH_PTX_RACES=1 under the race detector as well.
#include "ptx/ptx_test_support.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

namespace regraph::ptx::launch_file_test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> entries_of(const std::string& text) {
  std::vector<std::string> names;
  static const std::regex kEntry(R"(\.entry\s+([A-Za-z_$%][A-Za-z0-9_$]*))");
  for (std::sregex_iterator it(text.begin(), text.end(), kEntry), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

TEST(LaunchFileTest, LoadsAFolder) {
  const char* folder = std::getenv("REGRAPH_PTX_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "REGRAPH_PTX_FOLDER is not set";
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder)) {
    if (item.path().extension() != ".ptx") continue;
    const std::string text = text_of(item.path());
    for (const std::string& entry : entries_of(text)) {
      const auto program = Program::load(text, entry);
      EXPECT_TRUE(program.ok()) << item.path() << ": " << program.error().message;
    }
  }
}

struct Launch {
  std::string line;
  std::string ptx;
  std::string entry;
  LaunchArguments arguments;
  std::vector<std::string> values;
};

std::vector<Launch> launches_of(const std::string& path) {
  std::vector<Launch> launches;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Launch launch;
    launch.line = line;
    LaunchArguments& to = launch.arguments;
    words >> launch.ptx >> launch.entry >> to.grid.x >> to.grid.y >> to.block.x >>
        to.dynamic_shared_bytes;
    to.grid.z = to.block.y = to.block.z = 1;
    for (std::string word; words >> word;)
      launch.values.push_back(word);
    launches.push_back(std::move(launch));
  }
  return launches;
}

void run_launch(const Launch& launch, bool races) {
  SCOPED_TRACE(launch.line);
  const auto program = Program::load(text_of(launch.ptx), launch.entry);
  ASSERT_TRUE(program.ok()) << program.error().message;
  DeviceMemory memory;
  Parameters parameters;
  std::vector<std::pair<std::string, std::uint64_t>> buffers;
  for (const std::string& word : launch.values) {
    const std::string value = word.substr(2);
    if (word[0] == 'i') parameters.add(static_cast<std::int32_t>(std::stoll(value)));
    if (word[0] == 'l') parameters.add(static_cast<std::int64_t>(std::stoll(value)));
    if (word[0] == 'f') parameters.add(std::stof(value));
    if (word[0] == 'd') parameters.add(std::stod(value));
    if (word[0] == 'z') {
      const std::vector<char> zeros(std::stoul(value) + 16);
      parameters.add(make_buffer(memory, "zeros", zeros));
    }
    if (word[0] == 'b') {
      const std::string bytes = text_of(value);
      const std::uint64_t address =
          make_buffer(memory, value, std::vector<char>(bytes.begin(), bytes.end()));
      parameters.add(address);
      buffers.emplace_back(value, address);
    }
  }
  LaunchArguments arguments = launch.arguments;
  arguments.parameters = parameters.bytes();
  RunOptions options;
  options.detect_races = races;
  const auto start = std::chrono::steady_clock::now();
  const RunResult result = run(*program, arguments, memory, options, Cancellation());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(result.ok()) << name(result.fault.kind) << ", PTX line " << result.fault.ptx_line
                           << ": " << result.fault.message;
  if (result.uninitialised_read.has_value())
    std::printf("%s: %s\n", launch.ptx.c_str(), result.uninitialised_read->message.c_str());
  std::printf("%s: %.3f s\n", launch.ptx.c_str(), seconds.count());
  for (const auto& [file, address] : buffers) {
    const auto bytes = read_buffer<char>(memory, address);
    std::ofstream(file + ".out", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

TEST(LaunchFileTest, RunsTheLaunchesOfAFile) {
  const char* path = std::getenv("REGRAPH_PTX_LAUNCHES");
  if (path == nullptr) GTEST_SKIP() << "REGRAPH_PTX_LAUNCHES is not set";
  for (const Launch& launch : launches_of(path))
    run_launch(launch, std::getenv("REGRAPH_PTX_RACES") != nullptr);
}

}  // namespace
}  // namespace regraph::ptx::launch_file_test
