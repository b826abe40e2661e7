// What compiling with programs has in common, whichever they are: the folder, the sandbox, ptxas.
#pragma once

#include "eval/compile/worker_protocol.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::compile_internal {

class ToolSession {
 protected:
  explicit ToolSession(const WorkerRequest& asked)
      : request(asked), tools(asked.tools), folder(asked.tools.folder) {}

  // Puts a file of this name into the folder; false where that failed.
  [[nodiscard]] bool write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  // Lets what follows start few processes and see few files.
  void enter();
  // Runs a program in the folder with further `environment`; returns whether it found nothing
  // wrong. Otherwise the source is rejected with what it said. Ends as the program did where a
  // signal ended that.
  bool run_program(const std::string& program, std::vector<std::string> arguments,
                   std::vector<std::string> environment = {});
  // PTX of the answer to its machine code.
  bool assemble();
  // False, with the source rejected.
  bool reject(const std::string& why);

  const WorkerRequest& request;
  const ToolRequest& tools;
  const std::filesystem::path folder;
  WorkerResponse response;
};

}  // namespace regraph::compile_internal
