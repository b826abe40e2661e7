#include "loops/sequential_function.h"

#include "loops/distinct_names.h"
#include "rewrite/forms/counted_loops.h"
#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/forms/moved_parameters.h"
#include "rewrite/forms/webs.h"
#include "source/analysis.h"
#include "source/extract.h"

#include <utility>

namespace regraph::loops {
namespace {

// Said in one way, but with every access where the user wrote it: refusals name it.
Result<source::Kernel> in_plain_form(source::Kernel kernel) {
  kernel.body = rewrite::without_moved_parameters(kernel);
  kernel = rewrite::without_buffer_names(kernel);
  kernel.body = rewrite::without_continues(kernel.body);
  kernel.body = rewrite::with_counted_loops(kernel.body);
  kernel = rewrite::with_webs_declared(kernel);
  kernel = rewrite::without_local_pointers(kernel);
  auto body = rewrite::without_early_returns(kernel.body);
  if (!body) return std::move(body).error();
  kernel.body = std::move(*body);
  kernel.body = with_distinct_names(kernel);
  return kernel;
}

}  // namespace

Result<SequentialFunction> read_function(const std::string& device_text, const std::string& name,
                                         const std::string& file_name,
                                         const source::FrontEndConfiguration& front_end) {
  auto parsed = source::parse_kernel(device_text, file_name, name, front_end);
  if (!parsed) return std::move(parsed).error();
  if (!parsed->unit) return fail(ErrorCode::unsupported, parsed->opaque_reason);
  SequentialFunction result{std::move(*parsed->unit), std::move(parsed->signature)};
  source::Unit& unit = result.unit;
  unit.before = source::without_line_directives(unit.before);
  unit.after = source::without_line_directives(unit.after);
  source::Kernel opened = unit.opened_kernel();
  if (const auto opaque = source::Analysis(opened).opaque())
    return fail(ErrorCode::unsupported, *opaque + ": there is no form for this code");
  auto plain = in_plain_form(std::move(opened));
  if (!plain) return fail(ErrorCode::unsupported, plain.error().message);
  unit.kernel = std::move(*plain);
  unit.opened = nullptr;
  return result;
}

}  // namespace regraph::loops
