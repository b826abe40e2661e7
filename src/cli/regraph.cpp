// regraph: all programs in one file, as they are installed. It is the program by whose name it was
// started (bin/regraph-search is a link to it), or that its first argument names: `regraph search`.
#include "cli/program_mains.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace {

struct Entry {
  const char* name;  // without "regraph-"
  int (*main)(int, char**);
};

constexpr Entry kPrograms[] = {
    {"search", regraph::cli::search_main},
    {"score", regraph::cli::score_main},
    {"run", regraph::cli::run_main},
    {"train", regraph::cli::train_main},
    {"dataset", regraph::cli::dataset_main},
    {"calibrate", regraph::cli::calibrate_main},
    {"capture", regraph::cli::capture_main},
    {"reward-server", regraph::cli::reward_server_main},
    {"score-worker", regraph::cli::score_worker_main},
    {"worker", regraph::cli::worker_main},
    {"judge", regraph::cli::judge_main},
    {"mcp", regraph::cli::mcp_main},
};

constexpr std::string_view kPrefix = "regraph-";
constexpr int kUsage = 2;

const Entry* find_program(std::string_view name) {
  for (const Entry& entry : kPrograms) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with(kPrefix)) {
    if (const Entry* program = find_program(name.substr(kPrefix.size())))
      return program->main(argc, argv);
  }
  if (argc > 1) {
    if (const Entry* program = find_program(argv[1])) return program->main(argc - 1, argv + 1);
  }
  std::string names;
  for (const Entry& entry : kPrograms)
    names += std::string(names.empty() ? "" : ", ") + entry.name;
  std::fprintf(stderr,
               "regraph: name a program first, e.g. 'regraph search --help'; there are: %s\n",
               names.c_str());
  return kUsage;
}
