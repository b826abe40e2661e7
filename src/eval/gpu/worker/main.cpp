// regraph-eval: the process that has the GPU. Messages come on standard input, answers go to
// standard output (eval/gpu/messages.h); descriptor 3 is the shared memory. It ends when nobody
// talks to it any more, or when a kernel has cost it its context.
//
//   regraph-eval --probe              prints what it finds of a driver and a GPU as JSON, and ends
//   regraph-eval --keep PROGRAM ...   runs a program that runs a worker, and leaves nothing of it
//   regraph-eval --shared FILE        the worker below such a program: FILE is the shared memory,
//                                     whatever became of the descriptor
#include "base/frame_stream.h"
#include "base/shared_memory.h"
#include "eval/gpu/driver/driver_api.h"
#include "eval/gpu/worker/keeper.h"
#include "eval/gpu/worker/service.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <unistd.h>

namespace {

using namespace regraph;

constexpr int kSharedDescriptor = 3;

int probe() {
  const Result<gpu::Driver> driver = gpu::Driver::load();
  if (!driver.ok()) {
    std::fprintf(stderr, "regraph-eval: %s\n", driver.error().message.c_str());
    return 5;
  }
  try {
    const gpu::worker::Device device(*driver);
    std::printf("%s\n", gpu::readable(device.properties(0)).c_str());
  } catch (const gpu::Failure& failure) {
    std::fprintf(stderr, "regraph-eval: %s\n", failure.message.c_str());
    return 5;
  }
  return 0;
}

// Nothing is torn down: a context that is lost only gives it up to the end of the process. A
// program that watches this one wants to see its end, though.
[[noreturn]] void end(bool watched) {
  if (watched) std::exit(0);
  ::_exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--probe") == 0) return probe();
  if (count > 2 && std::strcmp(arguments[1], "--keep") == 0) {
    return gpu::worker::keep(arguments + 2);
  }
  const bool watched = count == 3 && std::strcmp(arguments[1], "--shared") == 0;
  if (count != 1 && !watched) {
    std::fprintf(stderr,
                 "usage: regraph-eval --probe\nOtherwise regraph-search starts and feeds it.\n");
    return 2;
  }
  // Device code prints to standard output: answers get a descriptor of their own.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  const int memory = watched ? ::open(arguments[2], O_RDWR | O_CLOEXEC) : kSharedDescriptor;
  Result<SharedMemory> shared = SharedMemory::attach(FileDescriptor(memory));
  if (!shared.ok()) {
    std::fprintf(stderr, "regraph-eval: %s\n", shared.error().message.c_str());
    return 2;
  }
  const Result<gpu::Driver> driver = gpu::Driver::load();
  std::optional<gpu::worker::Service> service;
  if (driver.ok()) service.emplace(*driver, std::move(*shared));
  while (const std::optional<std::string> request = read_frame(STDIN_FILENO)) {
    gpu::worker::Service::Answer answer;
    if (service) {
      answer = service->answer(*request);
    } else {
      answer = {gpu::encode("failure", gpu::Failure{0, true, false, driver.error().message}), true};
    }
    if (!write_frame(answers, answer.message)) return 1;
    if (answer.last) end(watched);
  }
  end(watched);
}
