#include "eval/verify/reference.h"

#include "base/random.h"
#include "eval/verify/element.h"
#include "eval/verify/float_work.h"
#include "eval/verify/random_streams.h"
#include "eval/verify/sprinkle.h"
#include "ptx/decode/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

namespace regraph::verify {

namespace {

// Inputs beyond this are generated again for every run instead of being kept.
constexpr std::size_t kKeptInputBytes = std::size_t{256} << 20;
// Warp instructions of the original on inputs that its program never gave it: exchanged indices may
// make loops endless.
constexpr std::uint64_t kOptionalBudget = std::uint64_t{1} << 26;

// Races are looked for where the original takes at most this many warp instructions, which then
// cost about 0.2 microseconds each instead of 0.006: a twentieth of a second in all.
constexpr std::uint64_t kRaceCheckedInstructions = std::uint64_t{1} << 18;
// And where the first case, the smallest as a rule, takes that many: nobody goes unchecked then.
constexpr std::uint64_t kRaceCheckedOfFirst = std::uint64_t{1} << 21;
// On other values than integers, too, where it takes so much less.
constexpr std::uint64_t kSecondRaceCheck = 16;

std::string describe(const ptx::Fault& fault) {
  std::string text = fault.message.empty() ? std::string(ptx::name(fault.kind)) : fault.message;
  if (fault.source_line > 0) text += fmt::format(" (line {} of the source)", fault.source_line);
  return text;
}

// Values that an output element may come from, so that it counts as made of them alone.
constexpr std::uint64_t kFewLoads = 8;
// And how many elements one value may be part of.
constexpr std::uint64_t kFewResults = 4;
// Products for an element that do not overflow, of the large numbers beside denormals (inputs.cpp).
constexpr std::uint64_t kFewProducts = 2;

// Relative errors of results before they are rounded to a small type once.
double noise_of(const Case& one) {
  Arithmetic arithmetic = one.arithmetic;
  arithmetic.accumulates_in_half = false;
  return tolerance(ScalarType::f32, arithmetic, one.problem->check, one.problem->assume);
}

// Whether what PTX leaves to the hardware may show in a result.
bool uses_hardware(const LoadedPlan& plan) {
  return std::ranges::any_of(plan, [](const LoadedLaunch& launch) {
    const ptx::Program::Code& code = launch.program.code();
    return code.local_bytes > 0 ||
           std::ranges::any_of(code.specials, [](const ptx::SpecialSlot& slot) {
             return slot.which == ptx::SpecialRegister::warpid;
           });
  });
}

}  // namespace

std::string symbols_text(const Symbols& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  }
  return "{" + text + "}";
}

Arithmetic arithmetic_of(const ptx::Profile& profile, std::uint64_t written_elements) {
  std::uint64_t floating = 0;
  std::uint64_t half = 0;
  Arithmetic arithmetic;
  for (const ptx::InstructionProfile& instruction : profile.instructions) {
    using Class = ptx::InstructionClass;
    switch (instruction.instruction_class) {
      case Class::fp32_fma:
      case Class::fp32_other:
      case Class::fp64:
        floating += instruction.thread_executions;
        break;
      case Class::fp16:
        half += instruction.thread_executions;
        break;
      case Class::atomic_global:
      case Class::atomic_shared:
        if (!instruction.atomic_floating || !instruction.atomic_halves) break;
        half += instruction.thread_executions *
                static_cast<std::uint64_t>(std::max(instruction.access_bytes / 2, 1));
        arithmetic.adds_halves_atomically |= instruction.thread_executions > 0;
        break;
      case Class::special_function:
        arithmetic.special_functions |= instruction.thread_executions > 0;
        break;
      default:
        break;
    }
  }
  const auto elements = static_cast<double>(std::max<std::uint64_t>(written_elements, 1));
  arithmetic.reduction_length =
      std::max(1.0, static_cast<double>(std::max(floating, half)) / elements);
  arithmetic.accumulates_in_half = half > floating;
  return arithmetic;
}

std::string Case::text() const {
  std::string text = fmt::format("{}, {}", symbols_text(plan.symbols), name(plan.distribution));
  if (!plan.variation.empty()) text += ", " + plan.variation;
  return text;
}

const std::string* Case::first_ill_conditioned() const {
  const auto found =
      std::ranges::find_if(ill_conditioned, [](const std::string& one) { return !one.empty(); });
  return found == ill_conditioned.end() ? nullptr : &*found;
}

bool Case::compares_some() const {
  for (std::size_t i = 0; i < problem->arguments.size(); ++i)
    if (problem->arguments[i].is_output() &&
        (i >= ill_conditioned.size() || ill_conditioned[i].empty()))
      return true;
  return false;
}

Reference::Reference(const Problem& problem, const LoadedPlan& original, ReferenceSettings settings,
                     std::uint64_t seed)
    : Reference(problem, original, std::move(settings), seed, planned_cases(problem, seed)) {}

Reference::Reference(const Problem& problem, const LoadedPlan& original, ReferenceSettings settings,
                     std::uint64_t seed, std::vector<TestCase> cases)
    : problem_(problem), original_(original), settings_(std::move(settings)), seed_(seed) {
  std::size_t first = 0;
  for (TestCase& planned : cases) {
    auto slot = std::make_unique<Slot>();
    if (planned.is_first) first = slots_.size();
    slot->first = planned.is_beyond ? slots_.size() : first;
    slot->content.plan = std::move(planned);
    slot->content.problem = slot->content.plan.varied ? slot->content.plan.varied.get() : &problem;
    slot->content.index = slots_.size();
    slots_.push_back(std::move(slot));
  }
}

Result<const Case*> Reference::at(std::size_t index, const Cancellation& cancellation) {
  Slot& slot = *slots_[index];
  const std::lock_guard lock(slot.mutex);
  if (!slot.ready) {
    Buffers inputs = generate(slot.content);
    std::size_t bytes = 0;
    for (const std::vector<std::byte>& buffer : inputs)
      bytes += buffer.size();
    auto shared = std::make_shared<const Buffers>(std::move(inputs));
    slot.inputs = shared;
    slot.status = first_has_a_result(slot, cancellation);
    const bool dropped = !slot.status.ok();
    if (slot.status.ok()) slot.status = work_out(slot.content, cancellation);
    if (slot.status.ok()) slot.status = look_at_conditioning(slot.content, cancellation);
    if (slot.status.ok() && !slot.content.plan.must_run && !slot.content.race.empty())
      slot.status = fail(ErrorCode::invalid_argument, slot.content.race);
    const Case& one = slot.content;
    const bool may_lack = !one.plan.must_run || dropped ||
                          (one.plan.may_drop_size && one.plan.is_first && slot.faulted);
    if (!slot.status.ok() && may_lack && slot.status.error().code != ErrorCode::cancelled) {
      slot.content.left_out = slot.status.error().message;
      slot.status = {};
    }
    {
      const std::lock_guard budget(budget_mutex_);
      if (kept_bytes_ + bytes > kKeptInputBytes) {
        slot.inputs = nullptr;
      } else {
        kept_bytes_ += bytes;
      }
    }
    // A cancelled attempt says nothing about the original.
    slot.ready = slot.status.ok() || slot.status.error().code != ErrorCode::cancelled;
  }
  if (!slot.status.ok()) return slot.status.error();
  return &slot.content;
}

// Sizes that no program ever had are left out as a whole.
Status Reference::first_has_a_result(const Slot& slot, const Cancellation& cancellation) {
  const Case& one = slot.content;
  const bool optional = !one.plan.must_run || one.plan.may_drop_size;
  if (one.plan.is_first || one.plan.is_beyond || !optional ||
      problem_.captured_at(one.symbols()) != nullptr) {
    return {};
  }
  const Result<const Case*> first = at(slot.first, cancellation);
  if (!first.ok()) return first.error();
  if ((*first)->left_out.empty()) return {};
  return fail(ErrorCode::invalid_argument, (*first)->left_out);
}

void Reference::work_out_all(ThreadBudget& budget, const Cancellation& cancellation) {
  std::atomic<bool> failed{false};
  budget.for_each_index(slots_.size(), [&](std::size_t index) {
    if (!failed && !at(index, cancellation).ok()) failed = true;
  });
}

std::shared_ptr<const Buffers> Reference::inputs(const Case& one) {
  // Written before the case was handed out, and not since.
  if (slots_[one.index]->inputs) return slots_[one.index]->inputs;
  return std::make_shared<const Buffers>(generate(one));
}

const ExactOutput* Reference::exact_output(const Case& one, std::size_t argument,
                                           const Cancellation& cancellation) {
  const bool overlaps = std::ranges::any_of(
      one.problem->arguments, [](const Argument& argument) { return !argument.overlaps.empty(); });
  if (!settings_.double_shadow || overlaps) return nullptr;
  Slot& slot = *slots_[one.index];
  const std::lock_guard lock(slot.exact_mutex);
  if (!slot.exact_ready) {
    const auto shadow = settings_.double_shadow(cancellation);
    if (shadow) {
      auto exact = exact_outputs(*shadow, *one.problem, one.symbols(), *inputs(one), one.expected,
                                 one.untouched, one.arithmetic.reduction_length,
                                 settings_.instruction_budget, cancellation);
      if (!exact.ok()) return nullptr;
      slot.exact = std::move(*exact);
    }
    slot.exact_ready = !cancellation.requested();
  }
  if (argument >= slot.exact.size() || slot.exact[argument].values.empty()) return nullptr;
  return &slot.exact[argument];
}

std::uint64_t Reference::poison_seed(const Case& one, std::uint64_t run) const {
  return random_bits(seed_, kPoisonStream, one.index, run);
}

Buffers Reference::generate(const Case& one) const {
  Buffers inputs(one.problem->arguments.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Argument& argument = one.problem->arguments[i];
    if (!argument.is_input()) continue;
    const Result<std::int64_t> count = argument.element_count(one.symbols());
    if (!count.ok()) continue;  // run_kernel reports it
    inputs[i].resize(static_cast<std::size_t>(*count) * size_in_bytes(argument.type));
    fill_input(*one.problem, argument, one.symbols(), one.distribution(),
               random_bits(seed_, kInputStream, one.index), i, inputs[i]);
    sprinkle(argument, one.symbols(), one.plan.sprinkled, one.plan.sprinkling,
             random_bits(seed_, kInputStream, one.index, i), inputs[i]);
  }
  return inputs;
}

Status Reference::work_out(Case& one, const Cancellation& cancellation) {
  const Buffers& inputs = *slots_[one.index]->inputs;
  const auto run = [&](bool inverted, bool reversed) -> Result<KernelRun> {
    RunSettings settings;
    settings.poison_seed = poison_seed(one, 0);
    settings.invert_poison = inverted;
    settings.instruction_budget = one.plan.must_run && !one.plan.may_drop_size
                                      ? settings_.instruction_budget
                                      : kOptionalBudget;
    settings.threads = settings_.threads;
    settings.reverse_order = reversed;
    Result<KernelRun> result =
        run_kernel(*one.problem, original_, one.symbols(), inputs, settings, cancellation);
    if (!result.ok() || result->fault.kind == ptx::FaultKind::none) return result;
    if (result->fault.kind == ptx::FaultKind::cancelled) {
      return fail(ErrorCode::cancelled, "cancelled");
    }
    const bool unsupported = result->fault.kind == ptx::FaultKind::unsupported;
    slots_[one.index]->faulted = !unsupported;
    return fail(
        unsupported ? ErrorCode::unsupported : ErrorCode::invalid_argument,
        fmt::format(
            "the original kernel fails with {}: {}{}", one.text(), describe(result->fault),
            unsupported ? "" : "; correct the kernel, or shapes and launch in the manifest"));
  };
  Result<KernelRun> first = run(false, false);
  if (!first.ok()) return first.error();
  const Result<KernelRun> second = run(true, false);
  if (!second.ok()) return second.error();

  const std::uint64_t written = find_untouched(*first, *second, one);
  one.arithmetic = arithmetic_of(first->profile, written);
  if (settings_.reduction_length) one.arithmetic.reduction_length = *settings_.reduction_length;
  one.warp_instructions = first->warp_instructions();
  one.exact.assign(one.problem->arguments.size(), false);

  // Races depend on sizes more than on values.
  const bool once_more = one.distribution() == Distribution::manifest && !one.plan.is_beyond &&
                         one.warp_instructions <= kRaceCheckedInstructions / kSecondRaceCheck;
  const std::uint64_t most = one.index == 0 ? kRaceCheckedOfFirst : kRaceCheckedInstructions;
  if ((one.plan.is_first || once_more) && one.warp_instructions <= most) {
    if (const Status status = look_for_races(one, inputs, cancellation); !status.ok()) {
      return status.error();
    }
    // What the first inputs did not show is no reason to refuse the original.
    if (!one.plan.is_first) one.race.clear();
  }

  const FloatWork work = float_work(original_, first->profile);
  if (Status status = look_at_computation(*first, work, written, one); !status.ok()) return status;
  look_at_rounding(*first, work, one);

  // One distribution tells whether the order of blocks and warps matters to the original.
  const bool reverses =
      one.plan.is_first || one.plan.may_not_race || !one.problem->check.benign_races.empty();
  const Result<KernelRun> reversed = reverses ? run(false, true) : *second;
  if (!reversed.ok()) return reversed.error();
  const KernelRun* other_order = reverses ? &*reversed : nullptr;
  if (Status status = agree(*first, *second, other_order, one); !status.ok()) return status;
  if (one.plan.may_not_race && one.order_matters)
    return fail(ErrorCode::invalid_argument, "the original's threads race there");
  one.expected = std::move(first->after);
  one.other_order.assign(one.problem->arguments.size(), {});
  for (std::size_t i = 0; i < one.problem->arguments.size(); ++i) {
    if (one.problem->check.allows_races(one.problem->arguments[i].name))
      one.other_order[i] = reversed->after[i];
  }
  return {};
}

// What the original computes decides what special values tell, and how closely.
Status Reference::look_at_computation(const KernelRun& run, const FloatWork& work,
                                      std::uint64_t written, Case& one) const {
  const Distribution distribution = one.distribution();
  if (!one.plan.is_beyond) return {};
  const auto leave_out = [](const char* why) { return fail(ErrorCode::invalid_argument, why); };
  if (one.plan.equates_integers && work.sums_halves_in_any_order)
    return leave_out("long sums of halves lose other terms in each order");
  const bool of_numbers_alone =
      distribution == Distribution::not_finite || distribution == Distribution::infinite;
  const bool small = distribution == Distribution::denormals ||
                     distribution == Distribution::denormals_and_large ||
                     distribution == Distribution::small_or_large ||
                     distribution == Distribution::signed_zeros;
  const bool largest = distribution == Distribution::largest;
  const bool single = std::ranges::any_of(one.problem->arguments, [](const Argument& argument) {
    return argument.is_output() && judged_type(argument) != ScalarType::f64;
  });
  if ((small || of_numbers_alone || largest || distribution == Distribution::lowest) &&
      work.in_double && single) {
    return leave_out("the original computes in double precision what need not be");
  }
  if (of_numbers_alone) {
    // What many values make of one that is no number depends on the order.
    const std::uint64_t given = not_finite(*one.problem, *slots_[one.index]->inputs);
    const bool spreads = not_finite(*one.problem, run.after) > kFewResults * given;
    if (work.loads > kFewLoads * written || spreads || work.chooses_between)
      return leave_out("the original combines many values");
    return {};
  }
  if (distribution == Distribution::lowest && (work.adds || work.multiplies))
    return leave_out("the original computes with its inputs, and results would not be finite");
  if (largest && (work.adds || work.products > written || one.arithmetic.special_functions)) {
    return leave_out("what overflows depends on the order of the terms");
  }
  const bool large =
      distribution == Distribution::magnitudes || distribution == Distribution::far_below;
  if (large && one.arithmetic.special_functions && work.adds)
    return leave_out("exponentials of such numbers overflow on the way, where the order decides");
  const bool many_products =
      work.products > kFewProducts * written || (work.multiplies && work.exchanges);
  const bool with_large = distribution == Distribution::denormals_and_large ||
                          distribution == Distribution::small_or_large;
  if (with_large && many_products)
    return leave_out("the original multiplies many values, and an order decides what overflows");
  if (!largest && (work.adds || work.multiplies) &&
      is_near_overflow(*one.problem, run.after, one.untouched))
    return leave_out("results come near the end of their type, where the order decides");
  // One sum of two halves has no order.
  const bool one_sum = work.additions <= written && !work.adds_constants && work.roundings > 0;
  if (distribution == Distribution::signed_zeros && work.adds && !one_sum)
    return leave_out("the original adds, and the sign of a zero depends on the order");
  one.by_element = !work.adds;
  one.zero_signs = distribution == Distribution::signed_zeros && !work.chooses;
  for (const Argument& argument : one.problem->arguments) {
    if (!(small || largest) || !argument.is_output() || !is_floating(judged_type(argument)))
      continue;
    one.slack = std::max(one.slack, (one.arithmetic.reduction_length + 1.0) *
                                        smallest_denormal(judged_type(argument)));
  }
  return {};
}

// Where each element is rounded to a small type once, and to one output alone, rounding tells.
void Reference::look_at_rounding(const KernelRun& run, const FloatWork& work, Case& one) const {
  const Assumptions& assume = one.problem->assume;
  one.rounds_once.assign(one.problem->arguments.size(), false);
  one.in_double = work.in_double;
  std::size_t small = one.rounds_once.size();
  for (std::size_t i = 0; i < one.rounds_once.size(); ++i) {
    const Argument& argument = one.problem->arguments[i];
    if (!argument.overlaps.empty()) return;
    if (!argument.is_output() ||
        unit_roundoff(judged_type(argument)) <= unit_roundoff(ScalarType::f32))
      continue;
    if (small < one.rounds_once.size() || !argument.fields.empty()) return;
    small = i;
  }
  if (small == one.rounds_once.size() || work.in_half || work.roundings == 0 ||
      one.problem->check.relative_tolerance || assume.fast_math || assume.lets_precision_go() ||
      one.problem->check.allows_races(one.problem->arguments[small].name)) {
    return;
  }
  const std::vector<std::uint8_t>& untouched = one.untouched[small];
  const std::size_t written =
      run.after[small].size() / size_in_bytes(one.problem->arguments[small].type) -
      static_cast<std::size_t>(std::ranges::count(untouched, 1));
  if (work.roundings > written) return;
  one.only_converts =
      !work.adds && !work.multiplies && work.products == 0 && !one.arithmetic.special_functions;
  switch (one.distribution()) {
    case Distribution::manifest:
    case Distribution::normal:
    case Distribution::uniform:
    case Distribution::large:
    case Distribution::captured:
    case Distribution::perturbed:
      one.rounds_once[small] = one.plan.sprinkled.empty();
      break;
    default:  // many elements may lie between two numbers of the type, or there are few different
      break;
  }
}

// Marks what neither run wrote; returns how many elements are left.
std::uint64_t Reference::find_untouched(const KernelRun& first, const KernelRun& second,
                                        Case& one) const {
  std::uint64_t written = 0;
  one.untouched.assign(one.problem->arguments.size(), {});
  for (std::size_t i = 0; i < one.problem->arguments.size(); ++i) {
    const Argument& argument = one.problem->arguments[i];
    if (!argument.is_output()) continue;
    const std::size_t size = size_in_bytes(argument.type);
    const std::size_t count = first.after[i].size() / size;
    std::size_t left_alone = 0;
    // Every bit of the two poisons differs, so an element that kept both was not written. An inout
    // buffer holds inputs: its elements are all compared.
    if (argument.direction == Direction::out) {
      one.untouched[i].assign(count, 0);
      for (std::size_t e = 0; e < count; ++e) {
        const auto kept = [&](const KernelRun& r) {
          return std::memcmp(r.after[i].data() + e * size, r.before[i].data() + e * size, size) ==
                 0;
        };
        if (kept(first) && kept(second)) one.untouched[i][e] = 1;
        left_alone += one.untouched[i][e];
      }
      if (left_alone == 0) one.untouched[i].clear();
    }
    written += count - left_alone;
  }
  return written;
}

// Whether two runs on different poison, and perhaps one in another order, gave the same.
Status Reference::agree(const KernelRun& first, const KernelRun& second, const KernelRun* reversed,
                        Case& one) const {
  for (std::size_t i = 0; i < one.problem->arguments.size(); ++i) {
    const Argument& argument = one.problem->arguments[i];
    if (first.after[i].empty()) continue;
    const std::vector<std::int64_t> flat = {static_cast<std::int64_t>(first.after[i].size())};
    const double tau =
        tolerance(judged_type(argument), one.arithmetic, one.problem->check, one.problem->assume);
    const auto agrees = [&](const KernelRun& other) {
      return compare({argument, flat, first.after[i], other.after[i], other.before[i],
                      one.untouched[i]},
                     tau, false)
          .equal;
    };
    if (!agrees(second)) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("what the original kernel leaves in '{0}' depends on what the buffer held "
                      "before, with {1}; declare args: {{{0}: {{dir: inout}}}}{2}",
                      argument.name, one.text(),
                      uses_hardware(original_)
                          ? " (or it depends on local memory that nothing wrote, or on %warpid)"
                          : ""));
    }
    if (reversed != nullptr && !one.problem->check.allows_races(argument.name) &&
        !agrees(*reversed))
      one.order_matters = true;
    // Sums and products of small integers are exact; quotients and roots are not, even where they
    // happen to come out whole.
    one.exact[i] = (one.only_converts && is_floating(judged_type(argument))) ||
                   (one.problem->captured_at(one.symbols()) == nullptr &&
                    one.distribution() == Distribution::small_integers &&
                    !settings_.divides_floats && !one.arithmetic.special_functions &&
                    exactly_representable(argument, first.after[i], one.untouched[i]));
  }
  return {};
}

Status Reference::look_for_races(Case& one, const Buffers& inputs,
                                 const Cancellation& cancellation) const {
  RunSettings settings;
  settings.poison_seed = poison_seed(one, 0);
  settings.instruction_budget = settings_.instruction_budget;
  settings.detect_races = true;
  const Result<KernelRun> run =
      run_kernel(*one.problem, original_, one.symbols(), inputs, settings, cancellation);
  if (!run.ok()) return run.error();
  if (run->fault.kind == ptx::FaultKind::cancelled) return fail(ErrorCode::cancelled, "cancelled");
  if (run->fault.kind != ptx::FaultKind::none) one.race = describe(run->fault);
  if (run->uninitialised_read && run->fault.kind == ptx::FaultKind::none) {
    const Result<bool> depends = depends_on_shared_fill(*one.problem, original_, one.symbols(),
                                                        inputs, settings, *run, cancellation);
    if (!depends.ok()) return depends.error();
    if (*depends) one.uninitialised_read = describe(*run->uninitialised_read);
  }
  one.checks_races = one.race.empty();
  one.checks_uninitialised_reads = one.race.empty() && one.uninitialised_read.empty();
  return {};
}

Reference::Yardstick Reference::yardstick(const Case& one, std::size_t i,
                                          const std::vector<std::byte>& after,
                                          const Cancellation& cancellation) {
  const Argument& argument = one.problem->arguments[i];
  Yardstick yardstick{&one.expected[i], tolerance(judged_type(argument), one.arithmetic,
                                                  one.problem->check, one.problem->assume)};
  if (argument.type != ScalarType::f32 || one.exact[i] || one.problem->check.relative_tolerance ||
      after == one.expected[i]) {
    return yardstick;
  }
  const ExactOutput* exact = exact_output(one, i, cancellation);
  if (exact == nullptr) return yardstick;
  if (exact->original_is_far) {
    yardstick.or_expected = yardstick.expected;
    yardstick.or_tau = yardstick.tau;
  }
  yardstick.expected = &exact->values;
  // Special functions differ between the interpreter and hardware, and a licence is a licence.
  const bool at_least = one.arithmetic.special_functions || one.problem->assume.fast_math ||
                        one.problem->assume.lets_precision_go();
  yardstick.tau = at_least ? std::max(yardstick.tau, exact->tau) : exact->tau;
  return yardstick;
}

OtherRoundings Reference::other_roundings_of(const Case& one, std::size_t i,
                                             const std::vector<std::byte>& after) const {
  return other_roundings(
      {one.problem->arguments[i], {}, one.expected[i], after, {}, one.untouched[i]}, noise_of(one));
}

const Buffers* Reference::toward_zero(const Case& one, const Cancellation& cancellation) {
  Slot& slot = *slots_[one.index];
  const std::lock_guard lock(slot.toward_zero_mutex);
  if (slot.toward_zero) return &*slot.toward_zero;
  const auto plan = settings_.toward_zero ? settings_.toward_zero(cancellation) : nullptr;
  if (plan == nullptr) return nullptr;
  RunSettings settings;
  settings.poison_seed = poison_seed(one, 0);
  settings.instruction_budget = settings_.instruction_budget;
  settings.threads = settings_.threads;
  Result<KernelRun> run =
      run_kernel(*one.problem, *plan, one.symbols(), *inputs(one), settings, cancellation);
  if (cancellation.requested() || !run.ok() || run->fault.kind != ptx::FaultKind::none)
    return nullptr;
  slot.toward_zero = std::move(run->after);
  return &*slot.toward_zero;
}

std::string Reference::imprecision(const Case& one, std::size_t i,
                                   const std::vector<std::byte>& after,
                                   const Cancellation& cancellation) {
  // An error of fp32 decides as often as it is a part of the type's unit. Beside double precision
  // fp32 may look like more.
  constexpr double kUsual = 2.0;
  constexpr double kBesideDouble = 0.25;
  constexpr double kFew = 2.0;  // chance
  if (!one.rounds_once[i] || after == one.expected[i]) return {};
  const OtherRoundings found = other_roundings_of(one, i, after);
  const auto values = static_cast<double>(found.values);
  const double usual =
      kUsual * noise_of(one) / unit_roundoff(judged_type(one.problem->arguments[i]));
  const double most = kFew + std::max(usual, one.in_double ? kBesideDouble : 0.0) * values;
  if (found.otherwise <= most) return {};
  // Where terms cancel or are many, fp32 itself is that far off.
  const Buffers* const cut = toward_zero(one, cancellation);
  if (cut == nullptr ||
      found.otherwise <= most + 2.0 * other_roundings_of(one, i, (*cut)[i]).otherwise)
    return {};
  return fmt::format(
      "'{}': {:.0f} of {} values are rounded otherwise: the arithmetic is less precise than the "
      "original's, which rounds once, at the end",
      one.problem->arguments[i].name, found.otherwise, found.values);
}

// Inputs moved by at most one unit in the last place, every second number or so.
Buffers Reference::moved_inputs(const Case& one) {
  Buffers moved = *inputs(one);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Argument& argument = one.problem->arguments[i];
    if (!argument.fields.empty() || !is_floating(argument.type) ||
        argument.init.kind == BufferInit::Kind::constant) {
      continue;
    }
    const std::size_t size = size_in_bytes(argument.type);
    for (std::size_t at = 0; at + size <= moved[i].size(); at += size) {
      const std::uint64_t draw = random_bits(seed_, kMovedInputs, i, at) % 4;
      const double value = load_element(argument.type, moved[i].data() + at);
      if (draw > 1 || !std::isnormal(value)) continue;
      const double by = 2.0 * unit_roundoff(argument.type) * value;
      store_element(argument.type, draw == 0 ? value + by : value - by, moved[i].data() + at);
    }
  }
  return moved;
}

// Where inputs nobody promised make results that rounding decides, nothing can be compared.
Status Reference::look_at_conditioning(Case& one, const Cancellation& cancellation) {
  one.ill_conditioned.assign(one.problem->arguments.size(), {});
  // Of integers results are exact, and numbers of some hundreds are no more sensitive than those of
  // the usual cases, which are not moved either.
  const bool as_usual = one.distribution() == Distribution::small_integers ||
                        one.distribution() == Distribution::below_exponent;
  if (one.plan.is_beyond && !as_usual) {
    Status moved = compare_conditioning(one, original_, moved_inputs(one), true, cancellation);
    if (!moved.ok() || !one.compares_some()) return moved;
  }
  const auto plan = settings_.uncontracted ? settings_.uncontracted(cancellation) : nullptr;
  if (plan == nullptr) return {};
  return compare_conditioning(one, *plan, *inputs(one), false, cancellation);
}

Status Reference::compare_conditioning(Case& one, const LoadedPlan& plan, const Buffers& inputs,
                                       bool moved, const Cancellation& cancellation) {
  RunSettings settings;
  settings.poison_seed = poison_seed(one, 0);
  settings.instruction_budget = settings_.instruction_budget;
  settings.threads = settings_.threads;
  const Result<KernelRun> run =
      run_kernel(*one.problem, plan, one.symbols(), inputs, settings, cancellation);
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  if (!run.ok() || run->fault.kind != ptx::FaultKind::none) return {};
  const auto look_at = [&](bool floating) {
    for (std::size_t i = 0; i < one.problem->arguments.size(); ++i) {
      const Argument& argument = one.problem->arguments[i];
      if (argument.is_output() && is_floating(judged_type(argument)) == floating &&
          one.ill_conditioned[i].empty())
        one.ill_conditioned[i] = conditioning_of(one, *run, i, cancellation);
    }
  };
  look_at(true);
  if (!moved || one.first_ill_conditioned() != nullptr) look_at(false);
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  return {};
}

std::string Reference::conditioning_of(const Case& one, const KernelRun& run, std::size_t output,
                                       const Cancellation& cancellation) {
  const Argument& argument = one.problem->arguments[output];
  if (run.after[output] == one.expected[output] || one.problem->check.allows_races(argument.name)) {
    return {};
  }
  const std::vector<std::int64_t> flat = {static_cast<std::int64_t>(run.after[output].size())};
  const auto differs = [&](const std::vector<std::byte>& expected, double tau) {
    const BufferComparison comparison = compare({argument,
                                                 flat,
                                                 expected,
                                                 run.after[output],
                                                 run.before[output],
                                                 one.untouched[output],
                                                 {},
                                                 one.problem->has_given_data(one.symbols()),
                                                 one.by_element,
                                                 one.zero_signs,
                                                 one.slack},
                                                tau, one.exact[output] && !one.only_converts);
    return comparison.equal ? std::string() : comparison.message;
  };
  const double tau =
      tolerance(judged_type(argument), one.arithmetic, one.problem->check, one.problem->assume);
  std::string difference = differs(one.expected[output], tau);
  // Double precision is asked where the table alone would refuse: that takes longer.
  if (!difference.empty()) {
    const Yardstick closer = yardstick(one, output, run.after[output], cancellation);
    difference = differs(*closer.expected, closer.tau);
  }
  return difference;
}

}  // namespace regraph::verify
