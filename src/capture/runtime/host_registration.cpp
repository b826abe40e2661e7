// Memory of the program's own that kernels are to see (cudaHostRegister). Its pages are replaced by
// pages that the process that captures has, too, with the same contents at the same addresses.
//
// Whatever else lies on those pages goes along, so nobody may write there meanwhile: a program of
// one thread alone can do it. A child that fork() makes gets pages of its own again.
#include "capture/runtime/runtime_state.h"
#include "capture/runtime/server_connection.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace regraph::capture;  // NOLINT: these are the library's own functions

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kEndOfAddresses = std::uint64_t{1} << 47;  // of a process

struct Pages {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// All that are shared: they stay so when other threads forbid to change them back.
std::vector<Pages>& shared_pages() {
  static auto& pages = *new std::vector<Pages>;
  return pages;
}

bool is_only_thread() {
  DIR* tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return false;
  int count = 0;
  while (const dirent* task = ::readdir(tasks))
    count += task->d_name[0] != '.' ? 1 : 0;
  ::closedir(tasks);
  return count == 1;
}

// Whether all of the pages are private memory that can be written, and none is this stack's.
bool are_private(const Pages& pages) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  const auto here = reinterpret_cast<std::uint64_t>(&pages);
  std::uint64_t reached = pages.begin;
  const std::uint64_t end = pages.begin + pages.bytes;
  char line[512];
  bool good = true;
  while (good && reached < end && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0;
    unsigned long to = 0;
    char access[5] = {};
    // The rest of a longer line begins with no range.
    if (std::sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || to <= reached) continue;
    good = from <= reached && std::strcmp(access, "rw-p") == 0 && (here < from || here >= to);
    reached = to;
  }
  (void)std::fclose(maps);
  return good && reached >= end;
}

// Puts pages with the same contents in the place of those: of the file, or of nobody else's.
bool replace(const Pages& pages, int file) {
  const int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* fresh = ::mmap(nullptr, pages.bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (fresh == MAP_FAILED) return false;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // Nothing else is written from here on, be it on the heap.
  auto* place = reinterpret_cast<void*>(pages.begin);
  std::memcpy(fresh, place, pages.bytes);
  const bool moved =
      ::mremap(fresh, pages.bytes, pages.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!moved) ::munmap(fresh, pages.bytes);
  return moved;
}

// The parent waits in fork() until its child has pages of its own.
int fork_pipe[2] = {-1, -1};

void before_fork() {
  runtime().mutex.lock();
  if (shared_pages().empty() || ::pipe2(fork_pipe, O_CLOEXEC) != 0)
    fork_pipe[0] = fork_pipe[1] = -1;
}

void close_pipe() {
  for (int& end : fork_pipe) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

void after_fork_in_parent() {
  if (fork_pipe[1] >= 0) {
    ::close(fork_pipe[1]);
    fork_pipe[1] = -1;
    char nothing = 0;
    while (::read(fork_pipe[0], &nothing, 1) < 0 && errno == EINTR) {
    }
  }
  close_pipe();
  runtime().mutex.unlock();
}

void after_fork_in_child() {
  for (const Pages& pages : shared_pages())
    (void)replace(pages, -1);
  shared_pages().clear();
  std::erase_if(runtime().allocations, [](const auto& one) { return one.second.registered; });
  close_pipe();
  runtime().mutex.unlock();
}

bool overlaps_known(const RuntimeState& state, std::uint64_t address, std::uint64_t bytes) {
  for (const auto& [begin, memory] : state.allocations) {
    if (address < begin + memory.bytes && begin < address + bytes) return true;
  }
  return false;
}

}  // namespace

extern "C" {

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (pointer == nullptr || bytes == 0 || address > kEndOfAddresses ||
      bytes > kEndOfAddresses - address) {
    return state.note(cudaErrorInvalidValue);
  }
  if (overlaps_known(state, address, bytes))
    return state.note(cudaErrorHostMemoryAlreadyRegistered);
  Pages pages{address / kPage * kPage, 0};
  pages.bytes = (address + bytes + kPage - 1) / kPage * kPage - pages.begin;
  if (!is_only_thread() || !are_private(pages))
    return not_there("cudaHostRegister (of a program with threads, or of memory not its own)");
  const HostMemory request{address, bytes, pages.begin, pages.bytes};
  const Answer answer = ask(RequestKind::host_memory, {&request, sizeof request});
  if (answer.status != cudaSuccess) return state.note_answer(answer.status);
  static const int once = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  (void)once;
  const bool shared = answer.descriptor >= 0 && replace(pages, answer.descriptor);
  if (answer.descriptor >= 0) ::close(answer.descriptor);
  if (!shared) {
    const Address unused{address};
    (void)ask(RequestKind::release, {&unused, sizeof unused});
    return state.note(cudaErrorMemoryAllocation);
  }
  shared_pages().push_back(pages);
  state.allocations[address] = {address, bytes, pages.bytes, MemoryKind::pinned, true};
  return state.note(cudaSuccess);
}

cudaError_t cudaHostUnregister(void* pointer) {
  RuntimeState& state = runtime();
  const std::lock_guard lock(state.mutex);
  const auto place = state.allocations.find(reinterpret_cast<std::uint64_t>(pointer));
  if (place == state.allocations.end() || !place->second.registered)
    return state.note(cudaErrorHostMemoryNotRegistered);
  const Address request{place->first};
  (void)ask(RequestKind::release, {&request, sizeof request});
  const Pages pages{place->first / kPage * kPage, place->second.mapped_bytes};
  state.allocations.erase(place);
  if (is_only_thread() && replace(pages, -1)) {
    std::erase_if(shared_pages(), [&](const Pages& one) { return one.begin == pages.begin; });
  }
  return state.note(cudaSuccess);
}

}  // extern "C"
