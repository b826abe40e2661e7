// Which scalars can be declared where they get a value. Used by webs.
#pragma once

#include "source/ir.h"

#include <map>
#include <string>

namespace regraph::rewrite {

// The variable that the statement gives a value that does not depend on its old one, by declaring
// or assigning it; null for all others. Valid as long as the statement.
[[nodiscard]] const std::string* defined_by(const source::Stmt& stmt);
// The counter that the loop's header assigns first; null where it declares one or has none.
[[nodiscard]] const std::string* counter_of(const source::Stmt& stmt);

// Scalars of the block that are declared without a value or assigned anew, by name: only they can
// hold several values that have nothing to do with each other. With them what a loop advances whose
// header has no first value. Not those whose address is taken.
[[nodiscard]] std::map<std::string, source::Variable> web_candidates(const source::Block& body);

// Whether a value that nobody reads need not be computed.
[[nodiscard]] bool is_droppable(const source::ExprPtr& value);

}  // namespace regraph::rewrite
