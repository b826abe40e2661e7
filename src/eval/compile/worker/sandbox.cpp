#include "eval/compile/worker/sandbox.h"

#include <cstdint>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace regraph::compile_internal {

namespace {

// Landlock rights by ABI version. The numbers are the kernel's, spelt out because the build
// machine's headers may be older than the running kernel.
constexpr std::uint64_t kExecute = std::uint64_t{1} << 0;
constexpr std::uint64_t kWriteFile = std::uint64_t{1} << 1;
constexpr std::uint64_t kReadFile = std::uint64_t{1} << 2;
constexpr std::uint64_t kReadDirectory = std::uint64_t{1} << 3;
constexpr std::uint64_t kRemoveDirectory = std::uint64_t{1} << 4;
constexpr std::uint64_t kRemoveFile = std::uint64_t{1} << 5;
constexpr std::uint64_t kMakeDirectory = std::uint64_t{1} << 7;
constexpr std::uint64_t kMakeFile = std::uint64_t{1} << 8;
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;

constexpr std::uint64_t kRead = kReadFile | kReadDirectory;
constexpr std::uint64_t kWrite =
    kRead | kWriteFile | kRemoveDirectory | kRemoveFile | kMakeDirectory | kMakeFile | kTruncate;

// All file-system rights that this ABI knows; handled means denied unless a rule allows it.
std::uint64_t file_rights(long abi) {
  if (abi >= 5) return (std::uint64_t{1} << 16) - 1;  // + ioctl on devices
  if (abi >= 3) return (std::uint64_t{1} << 15) - 1;  // + truncate
  if (abi == 2) return (std::uint64_t{1} << 14) - 1;  // + refer
  return (std::uint64_t{1} << 13) - 1;
}

struct RulesetAttributes {
  std::uint64_t handled_files;
  std::uint64_t handled_network;  // from ABI 4: TCP bind and connect
};

void allow(int ruleset, const std::vector<std::string>& folders, std::uint64_t rights) {
  for (const std::string& path : folders) {
    const int directory = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) continue;  // what is not there needs no permission
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights;
    rule.parent_fd = directory;
    ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    ::close(directory);
  }
}

}  // namespace

std::string enter_sandbox(const SandboxRules& rules) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no_new_privs could not be set";
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return "this Linux kernel has no Landlock, so includes can read any file";

  RulesetAttributes attributes{file_rights(abi), abi >= 4 ? std::uint64_t{3} : 0};
  const std::size_t size = abi >= 4 ? sizeof(attributes) : sizeof(attributes.handled_files);
  const int ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) return "the Landlock rules could not be made, so includes can read any file";
  // A right that this kernel does not know would void the rule.
  const std::uint64_t known = attributes.handled_files;
  allow(ruleset, rules.readable, kRead);
  allow(ruleset, rules.runnable, kRead | kExecute);
  allow(ruleset, rules.writable, kWrite & known);
  const long entered = ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  ::close(ruleset);
  return entered == 0 ? "" : "Landlock could not be entered, so includes can read any file";
}

}  // namespace regraph::compile_internal
