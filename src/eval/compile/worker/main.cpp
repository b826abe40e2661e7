// regraph-compile-worker: compiles one CUDA or Triton source and ends. A request comes on standard
// input, the answer goes to standard output (worker_protocol.h). It is started by Compiler with an
// empty environment and resource limits; the source may crash it, hang it or try to read files. For
// nvcc and Triton it is two processes: one that compiles, and one outside the sandbox that sees to
// the folder.
#include "eval/compile/worker/folder_keeper.h"
#include "eval/compile/worker/nvcc_session.h"
#include "eval/compile/worker/nvrtc_session.h"
#include "eval/compile/worker/sandbox.h"
#include "eval/compile/worker/triton_session.h"
#include "eval/compile/worker_protocol.h"

#include <cerrno>
#include <optional>
#include <string>
#include <unistd.h>

namespace {

using namespace regraph::compile_internal;

std::string read_all(int descriptor) {
  std::string content;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
    if (count > 0) {
      content.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return content;
    }
  }
}

bool write_all(int descriptor, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = ::write(descriptor, content.data() + done, content.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

WorkerResponse compile_with_nvrtc(const WorkerRequest& request) {
  NvrtcLibrary nvrtc;
  WorkerResponse response;
  response.log = nvrtc.load(request.nvrtc_library);
  if (!response.log.empty()) return response;
  const std::string sandbox = enter_sandbox({request.include_directories, {}, {}});
  response = nvrtc.compile(request);
  response.sandbox = sandbox;
  return response;
}

// Returns in the process that compiles only.
void leave_keeper(const std::string& folder, int answer) {
  expect_orphanage();
  const pid_t child = ::fork();
  if (child < 0) ::_exit(2);
  if (child > 0) {
    ::close(answer);
    keep_folder(folder, child);
  }
  stop_expecting_orphanage();
}

}  // namespace

int main() {
  // The answer gets a descriptor of its own: what libraries print must not mix with it.
  const int answer = ::dup(STDOUT_FILENO);
  if (answer < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 2;
  const std::optional<WorkerRequest> request = decode_request(read_all(STDIN_FILENO));
  WorkerResponse response;
  if (!request) {
    response.log = "malformed request";
  } else if (request->tools.program.empty()) {
    response = compile_with_nvrtc(*request);
  } else {
    leave_keeper(request->tools.folder, answer);
    response =
        request->tools.script.empty() ? compile_with_nvcc(*request) : compile_with_triton(*request);
  }
  return write_all(answer, encode(response)) ? 0 : 3;
}
