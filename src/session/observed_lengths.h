// What is seen of a kernel's buffers when it runs, where its source does not say how long they are.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

struct ObservedBuffer {
  IntegerExpression length = 1;  // in elements, over sizes
  // What its accesses were: `out` where nothing of it is read, and no atomic is in the kernel.
  Direction direction = Direction::inout;
};

// Sizes that were chosen together with lengths that are numbers.
struct ObservedSizes {
  Symbols bench;
  std::vector<Symbols> tests;
};

struct ObservedLengths {
  std::map<std::string, ObservedBuffer> buffers;             // by argument
  std::vector<std::string> sizes;                            // that lengths depend on
  std::vector<std::pair<std::string, std::string>> unknown;  // by argument: why not
  // Of arrays that choose which elements of others are touched: what they may hold.
  std::map<std::string, BufferInit> contents;
  Symbols own_sizes;               // sizes that these made necessary, with values of our own
  std::vector<std::string> notes;  // what was decided so
  // Dynamic shared memory, where the draft has none and the kernel needs some.
  std::optional<IntegerExpression> shared_bytes;
  std::optional<ObservedSizes> chosen;  // of measured lengths
};

// What is known beside the draft.
struct ObservationHints {
  std::vector<std::string> fixed;   // parameters whose value is the user's
  std::vector<std::string> wanted;  // buffers whose length is asked
  // Sizes that are divided by others, so that they are multiples of them: C by NH.
  std::vector<std::pair<std::string, std::string>> quotients;
  bool shared_bytes_wanted = false;
  // Lengths as numbers at sizes that are chosen for them (measure_lengths), instead of expressions.
  bool measured = false;
  std::vector<std::string> said_sizes;  // which stay as they are
};

// Runs the kernel on the interpreter at a few small sizes, in buffers that are long enough, and
// puts the places that it touches in terms of sizes. `draft` has the launch, and lengths of none or
// some of the buffers; those that are wanted are found. Integer parameters that the draft gives no
// value of the user's are tried as sizes. Where the places depend on what an array of integers
// holds, they follow the numbers that it may hold, and these are part of the answer. Errors:
// unsupported (no launch, a launch that fails), and what keeps a kernel from being loaded.
[[nodiscard]] Result<ObservedLengths> observe_lengths(const CompiledKernel& compiled,
                                                      const KernelSignature& signature,
                                                      const Manifest& draft,
                                                      const ObservationHints& hints,
                                                      const Cancellation& cancellation);

}  // namespace regraph
