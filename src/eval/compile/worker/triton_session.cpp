#include "eval/compile/worker/triton_session.h"

#include "eval/compile/worker/tool_session.h"

#include <string>

namespace regraph::compile_internal {

namespace {

constexpr const char* kJobName = "job.json";
constexpr const char* kPtxName = "triton.ptx";

class TritonSession : private ToolSession {
 public:
  explicit TritonSession(const WorkerRequest& request) : ToolSession(request) {}

  WorkerResponse run() {
    if (request.options.size() != 1 || !write(request.file_name, request.source) ||
        !write(kJobName, request.options.front())) {
      response.log = "the folder for Triton cannot be written to";
      return response;
    }
    enter();
    if (compile() && (!request.want_cubin || assemble()))
      response.status = WorkerResponse::Status::compiled;
    return response;
  }

 private:
  bool compile() {
    // It keeps files of its own in its home and its cache.
    const bool done = run_program(
        tools.program, {"-I", "-B", tools.script, kJobName, request.file_name, kPtxName},
        {"HOME=" + tools.folder, "TRITON_HOME=" + tools.folder,
         "TRITON_CACHE_DIR=" + tools.folder + "/cache", "TRITON_DISABLE_LINE_INFO=1"});
    if (!done) return false;
    response.ptx = read(kPtxName);
    response.entry = request.kernel;
    if (response.ptx.find(".entry " + response.entry + "(") == std::string::npos)
      return reject("error: Triton made no kernel of '" + request.kernel + "'");
    return true;
  }
};

}  // namespace

WorkerResponse compile_with_triton(const WorkerRequest& request) {
  return TritonSession(request).run();
}

}  // namespace regraph::compile_internal
