// A piece of work that another machine may do.
#pragma once

#include "base/hash.h"

#include <string>

namespace regraph::fleet {

struct Job {
  // Who can do it, e.g. "predict-0.1.0-3f2a9c": letters, digits, '-' and '.', at most 100 of them.
  std::string lane;
  // Of everything that decides the result: jobs with one id have one result, which is written once.
  Hash128 id;
  std::string payload;
};

}  // namespace regraph::fleet
