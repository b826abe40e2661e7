// Why a candidate goes no further: what a stage of its evaluation says instead of a result.
#pragma once

#include "kernel/evaluation.h"

#include <string>
#include <utility>

namespace regraph {

// As the E of Result<T, Rejection>. The verdict is any but `correct`.
struct Rejection {
  Verdict verdict = Verdict::unsupported;
  std::string message;  // in words a person or a language model can act on
};

// Makes the rejection the verdict of `evaluation`; what earlier stages found out stays.
inline void reject(Evaluation& evaluation, Rejection rejection) {
  evaluation.verdict = rejection.verdict;
  evaluation.message = std::move(rejection.message);
}

}  // namespace regraph
