#include "session/toolchain.h"

#include <utility>

namespace regraph {

Result<Toolchain, SessionError> find_toolchain(const Installation& installation,
                                               const std::string& architecture) {
  auto toolkit = find_cuda_toolkit();
  if (!toolkit) return SessionError{FailureCause::no_device, toolkit.error().message};
  auto front_end = source::default_front_end(toolkit->root, architecture);
  if (!front_end) return SessionError{FailureCause::no_device, front_end.error().message};
  CompilerConfiguration configuration;
  configuration.toolkit = *toolkit;
  configuration.worker = installation.compile_worker();
  configuration.cache_directory = installation.cache_directory;
  return Toolchain{std::make_unique<Compiler>(std::move(configuration)), std::move(*front_end),
                   toolkit->root, installation.python_script("regraph_triton"), std::nullopt};
}

}  // namespace regraph
