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
    if (request_.options.size() != 1 || !write(request_.file_name, request_.source) ||
        !write(kJobName, request_.options.front())) {
      response_.log = "the folder for Triton cannot be written to";
      return response_;
    }
    enter();
    if (compile() && (!request_.want_cubin || assemble()))
      response_.status = WorkerResponse::Status::compiled;
    return response_;
  }

 private:
  bool compile() {
    // It keeps files of its own in its home and its cache.
    const bool done = run_program(
        tools_.program, {"-I", "-B", tools_.script, kJobName, request_.file_name, kPtxName},
        {"HOME=" + tools_.folder, "TRITON_HOME=" + tools_.folder,
         "TRITON_CACHE_DIR=" + tools_.folder + "/cache", "TRITON_DISABLE_LINE_INFO=1"});
    if (!done) return false;
    response_.ptx = read(kPtxName);
    response_.entry = request_.kernel;
    if (response_.ptx.find(".entry " + response_.entry + "(") == std::string::npos)
      return reject("error: Triton made no kernel of '" + request_.kernel + "'");
    return true;
  }
};

}  // namespace

WorkerResponse compile_with_triton(const WorkerRequest& request) {
  return TritonSession(request).run();
}

}  // namespace regraph::compile_internal
