// regraph-compile-worker: compiles one CUDA source and ends. A request comes on standard input, the
// answer goes to standard output (worker_protocol.h). It is started by Compiler with an empty
// environment and resource limits; the source may crash it, hang it or try to read files.
#include "eval/compile/worker/nvrtc_session.h"
#include "eval/compile/worker/sandbox.h"
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

WorkerResponse serve(const std::string& bytes) {
  WorkerResponse response;
  const std::optional<WorkerRequest> request = decode_request(bytes);
  if (!request) {
    response.log = "malformed request";
    return response;
  }
  NvrtcLibrary nvrtc;
  response.log = nvrtc.load(request->nvrtc_library);
  if (!response.log.empty()) return response;
  const std::string sandbox = enter_sandbox(request->include_directories);
  response = nvrtc.compile(*request);
  response.sandbox = sandbox;
  return response;
}

}  // namespace

int main() {
  // The answer gets a descriptor of its own: what libraries print must not mix with it.
  const int answer = ::dup(STDOUT_FILENO);
  if (answer < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 2;
  return write_all(answer, encode(serve(read_all(STDIN_FILENO)))) ? 0 : 3;
}
