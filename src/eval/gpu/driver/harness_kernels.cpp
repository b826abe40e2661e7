#include "eval/gpu/driver/harness_kernels.h"

namespace regraph::gpu {

Result<std::vector<std::uint8_t>> compile_harness(Compiler& compiler,
                                                  const std::string& architecture,
                                                  const Cancellation& cancellation) {
  CompileRequest request;
  request.source = kHarnessSource;
  request.kernel = kStampKernel;
  request.architecture = architecture;
  const Result<CompiledKernel> compiled = compiler.compile(request, cancellation);
  if (!compiled.ok()) return compiled.error();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(compiled->cubin.data());
  return std::vector<std::uint8_t>(bytes, bytes + compiled->cubin.size());
}

}  // namespace regraph::gpu
