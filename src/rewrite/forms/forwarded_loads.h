// Values from memory with a name, written where they are used. Used by normal_form.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <functional>

namespace regraph::rewrite {

// float t = x[i]; sum += t * w;   ->   sum += x[i] * w;
//
// for scalars declared in the block (not below it) that get one value, which calls nothing and of
// which `is_wanted`, and are used once: by the next statement that is no declaration, an
// assignment, or by a declaration on the way, so that nothing changes in between.
[[nodiscard]] source::Block with_loads_forwarded(
    const source::Block& block, const source::Analysis& analysis,
    const std::function<bool(const source::ExprPtr&)>& is_wanted);

}  // namespace regraph::rewrite
