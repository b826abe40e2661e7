// Who answers what is loaded into a captured program.
#pragma once

#include "base/cancellation.h"
#include "capture/runtime/protocol.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::capture {

// What comes back for a request.
struct DeviceAnswer {
  int status = 0;  // a cudaError_t
  std::string payload;
  int descriptor = -1;  // to be sent along; not the receiver's to close
};

// Called by one thread at a time.
class ProgramListener {
 public:
  virtual ~ProgramListener() = default;
  // Answers one request: the struct of its kind and what follows, as the program sent it.
  [[nodiscard]] virtual DeviceAnswer answer(RequestKind kind, std::string_view request,
                                            const Cancellation& cancellation) = 0;
  // How many processes ask at the moment.
  virtual void set_clients(int /*clients*/) {}
  // A process has ended that had allocated this.
  virtual void release_left(const std::vector<std::uint64_t>& /*addresses*/,
                            const Cancellation& /*cancellation*/) {}
};

}  // namespace regraph::capture
