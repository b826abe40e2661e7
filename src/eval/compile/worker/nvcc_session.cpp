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
    response_.log = prepare();
    if (!response_.log.empty()) return response_;
    enter();
    if (compile() && (!request_.want_cubin || assemble()))
      response_.status = WorkerResponse::Status::compiled;
    return response_;
  }

 private:
  // Returns what is wrong, empty on success.
  [[nodiscard]] std::string prepare() const {
    bool written = write(request_.file_name, with_entry_marker(request_.source, request_.kernel));
    for (const auto& [name, text] : request_.headers)
      written = written && write(name, text);
    return written ? "" : "the folder for nvcc cannot be written to";
  }

  bool compile() {
    std::vector<std::string> arguments = request_.options;
    arguments.insert(arguments.end(), {"-ptx", "-o", kPtxName, request_.file_name});
    if (!run_program(tools_.program, std::move(arguments))) return false;
    std::optional<MarkedPtx> marked = read_marked_ptx(read(kPtxName), tools_.folder);
    if (!marked) {
      return reject("error: the source uses names that are the compiler's own");
    }
    if (!request_.kernel.empty() &&
        marked->ptx.find(".entry " + marked->entry + "(") == std::string::npos) {
      return reject("error: '" + request_.kernel + "' is not a __global__ function of this source");
    }
    response_.ptx = std::move(marked->ptx);
    response_.entry = std::move(marked->entry);
    return true;
  }
};

}  // namespace

WorkerResponse compile_with_nvcc(const WorkerRequest& request) {
  return NvccSession(request).run();
}

}  // namespace regraph::compile_internal
