// Opens a kernel, judges it as it stands, searches for a faster one, prints what was found.
#include <cstdio>
#include <session/session.h>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: consumer KERNEL.cu DEVICE\n"), 2;
  const regraph::Cancellation never;
  regraph::SessionOptions options;
  options.problem.kernel_file = argv[1];
  options.device = argv[2];
  options.evaluator = "model";
  const auto session =
      regraph::Session::open(options, regraph::Installation::at(REGRAPH_PREFIX), never);
  if (!session) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 1;

  const regraph::Evaluation original =
      (*session)->evaluate((*session)->original(), {.seed = 1}, never);
  std::printf("original: %s, %.3g ms\n", name(original.verdict),
              1e3 * original.time.median_seconds);

  regraph::SearchConfig config = (*session)->configuration();
  config.budget.evaluations = 4;
  const auto expander = (*session)->expander({}, config);
  if (!expander) return std::fprintf(stderr, "%s\n", expander.error().message.c_str()), 1;
  const auto found = (*session)->search({config, **expander});
  if (!found) return std::fprintf(stderr, "%s\n", found.error().message.c_str()), 1;
  std::puts((*session)->text(*found, config).c_str());
  return found->outcome.verdict == regraph::SpeedVerdict::fast ? 0 : 3;
}
