#include "eval/compile/worker/nvcc_session.h"

#include "eval/compile/nvcc_text.h"
#include "eval/compile/worker/tool_session.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::compile_internal {

namespace {

constexpr const char* kPtxName = "kernel.ptx";

class NvccSession : private ToolSession {
 public:
  explicit NvccSession(const WorkerRequest& request) : ToolSession(request) {}

  WorkerResponse run() {
    response.log = prepare();
    if (!response.log.empty()) return response;
    enter();
    if (compile() && (!request.want_cubin || assemble()))
      response.status = WorkerResponse::Status::compiled;
    return response;
  }

 private:
  // Returns what is wrong, empty on success.
  [[nodiscard]] std::string prepare() const {
    bool written = write(request.file_name, with_entry_marker(request.source, request.kernel));
    for (const auto& [name, text] : request.headers)
      written = written && write(name, text);
    return written ? "" : "the folder for nvcc cannot be written to";
  }

  bool compile() {
    std::vector<std::string> arguments = request.options;
    arguments.insert(arguments.end(), {"-ptx", "-o", kPtxName, request.file_name});
    if (!run_program(tools.program, std::move(arguments))) return false;
    std::optional<MarkedPtx> marked = read_marked_ptx(read(kPtxName), tools.folder);
    if (!marked) {
      return reject("error: the source uses names that are the compiler's own");
    }
    if (!request.kernel.empty() &&
        marked->ptx.find(".entry " + marked->entry + "(") == std::string::npos) {
      return reject("error: '" + request.kernel + "' is not a __global__ function of this source");
    }
    response.ptx = std::move(marked->ptx);
    response.entry = std::move(marked->entry);
    return true;
  }
};

}  // namespace

WorkerResponse compile_with_nvcc(const WorkerRequest& request) {
  return NvccSession(request).run();
}

}  // namespace regraph::compile_internal
