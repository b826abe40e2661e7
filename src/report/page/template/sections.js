// What was asked, found, assumed and checked, as text and tables.
function drawSummary() {
  const target = body("summary");
  if (!result) {
    target.append(element("p", {}, element("span", {class: "status none"}, "not finished")),
      note("The run has not come to its end, or its result is not in its folder: what follows is what its database holds."),
      pairs([["kernel", run.kernel], ["source", run.source], ["device", run.device]]));
    return;
  }
  const improved = result.status === "improved";
  const withdrawn = result.check?.same === false && result.check.ran || result.program?.same === false && result.program.ran;
  const speedup = result.speedup_interval ?? [];
  const figure = (name, value, more) => element("div", {}, element("dt", {}, name), element("dd", {}, value, element("small", {}, more)));
  target.append(
    element("p", {}, element("span", {class: `status ${improved ? "good" : withdrawn ? "bad" : "none"}`},
      improved ? "improved" : "no improvement"), ` ${
      improved && result.verified ? "The best kernel passed verification again with fresh inputs."
        : improved ? "There was no time to confirm the best kernel with fresh inputs."
          : withdrawn ? "What was faster is withdrawn: your program or check fails with it."
            : "Nothing was faster beyond the uncertainty of its time."}`),
    element("dl", {class: "figures"},
      figure("speedup", improved ? factor(result.speedup) : "1.00x",
        improved ? `${result.method}, [${factor(speedup[0])}, ${factor(speedup[1])}]` : result.method),
      figure("original", duration(result.baseline.seconds), `${result.method}, ${interval(...result.baseline.interval)}`),
      improved ? figure("best", duration(result.best.seconds), `${result.method}, ${interval(...result.best.interval)}`) : null,
      figure("times are", result.method,
        result.method === "predicted" ? "by the timing model, no GPU was used" : result.measurement?.gpu ?? "on a GPU")),
    pairs([
      ["kernel", result.kernel], ["source", result.source], ["device", `${result.device}, ${result.architecture}`],
      ["limited by", improved ? `${result.best.bottleneck}; the original: ${result.baseline.bottleneck}` : result.baseline.bottleneck],
      ["asked", `${result.search}, ${number(result.evaluations)} evaluations, stopped: ${words(result.stopped)}; seed ${result.seed}`]]));
}

function factText(name, value) {
  if (value === undefined) return "-";
  return payload.facts[name]?.[0] === "fraction" ? percent(value) : number(value);
}

function drawCounters() {
  const target = body("counters");
  const [before, after] = [result?.baseline?.facts, result?.status === "improved" ? result.best.facts : null];
  if (!before) {
    target.append(note("The run has not come to its end."));
    return;
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after ?? {})])].filter((name) => !name.startsWith("caveat_"));
  const known = Object.keys(payload.facts);
  names.sort((one, other) => known.indexOf(one) - known.indexOf(other));
  const rowOf = (name) => {
    const [unit, meaning] = payload.facts[name] ?? ["", ""];
    return [element("span", {}, words(name), element("small", {class: "note wide"}, ` ${meaning}`)),
      factText(name, before[name]), after ? factText(name, after[name]) : "-", unit];
  };
  const columns = [{name: "counter"}, {name: "original", number: true}, {name: "best", number: true}, {name: "unit", wide: true}];
  const differs = (name) => !after || factText(name, before[name]) !== factText(name, after[name]);
  const measured = result.measurement?.profiled > 0;
  const from = measured ? "Hardware counters and facts of the compiled code"
    : result.method === "measured" ? "Facts of the compiled code and the model"
      : "Facts of the compiled code and the timing model, predicted";
  const changed = names.filter(differs);
  if (changed.length) target.append(table(`${from}; what is not known is absent`, columns, changed.map(rowOf)));
  const same = names.filter((name) => !differs(name));
  if (same.length) {
    target.append(element("details", {}, element("summary", {}, `${same.length} that are the same`),
      table("The same before and after", columns, same.map(rowOf))));
  }
  if (result.measurement?.no_counters) target.append(note(`No hardware counters: ${result.measurement.no_counters}`));
}

function drawLaunch() {
  const {original: before, best: after} = result?.best?.launch ?? {};
  if (!before) {
    body("launch").append(note("Not known."));
    return;
  }
  const texts = (launch) => (launch ? [
    launch.block.join(" x "), launch.grid.join(" x "), launch.bench ? launch.bench.grid.join(" x ") : "-",
    launch.dynamic_shared_bytes, String(launch.launches),
  ] : ["-", "-", "-", "-", "-"]);
  const [old, now] = [texts(before), texts(after)];
  const resources = result.best.resources ?? {};
  body("launch").append(table("How the kernel is launched", [{name: ""}, {name: "original"}, {name: "best"}],
    ["block", "grid", "grid at the bench size", "dynamic shared memory, bytes", "launches"].map((name, at) => [name, old[at], now[at]])),
  pairs([["best, after ptxas", Object.entries(resources).map(([name, value]) => `${words(name)} ${value}`).join(", ")]]));
}

function drawChecked() {
  const target = body("checked");
  if (!result) {
    target.append(note("The run has not come to its end: nothing is claimed."));
    return;
  }
  const part = (title, items, none) => [element("h3", {}, title), items.length ? list(items) : note(none)];
  const improved = result.status === "improved";
  const caveats = (kernel, name) => (kernel?.caveats ?? []).map((text) => `time of the ${name}: ${text}`);
  const sanitized = result.measurement?.sanitizer?.tools ?? [];
  const open = [
    result.method === "predicted" ? "No GPU was used: all times are predicted." : null,
    "Inputs and sizes other than those of the verification were not run.",
    improved && !result.verified ? "The best kernel was not confirmed with fresh inputs." : null,
    ...caveats(result.baseline, "original"), ...(improved ? caveats(result.best, "best kernel") : []),
    improved && !result.check ? "Your own program was not built and tested with the patch (--check)." : null,
    improved && result.check && !result.check.ran ? `--check gave no verdict: ${result.check.trouble}` : null,
    improved && result.program && !result.program.ran
      ? `The program it was captured from did not run with the winner: ${result.program.trouble}` : null,
    result.method === "measured" && improved && !result.measurement?.sanitizer ? "compute-sanitizer did not look at the best kernel." : null,
    ...(result.measurement?.sanitizer?.notes ?? []),
    ...(result.measurement?.disturbances ?? []).map((text) => `may disturb times: ${text}`),
    result.opaque ? `The built-in steps cannot work on this kernel: ${result.opaque}` : null,
    run.captured ? "Messages about values of outputs are left out: the problem holds captured data." : null,
  ].filter(Boolean);
  target.append(
    ...part("Assumed of the problem", result.notes ?? [], "Nothing: the manifest says all."),
    ...part("The best kernel relies on", improved ? result.best.assumptions ?? [] : [],
      improved ? "Nothing beyond what the original does." : "There is no winner."),
    ...part("Verified", [result.verification, ...sanitized.map((tool) => `by compute-sanitizer, ${tool}`)].filter(Boolean), "Nothing."),
    ...part("Not checked, or uncertain", open, "Nothing is known."));
}

function drawYours() {
  const {patch, check, program} = result ?? {};
  const target = body("yours");
  if (patch) {
    const folder = patch.folder ? `-d ${patch.folder} ` : "";
    target.append(element("h3", {}, "Patch"), patch.path
      ? pairs([["file", patch.path], ["apply", `patch ${folder}-p1 < ${patch.path}`], ["changes", patch.files.join(", ")]])
      : note(`None: ${patch.why_not}`));
    if (patch.launches.length) {
      target.append(table("Launches that it changes", [{name: "where"}, {name: "before"}, {name: "after"}],
        patch.launches.map((one) => [`${one.file}:${one.line}`, one.before, one.after])));
    }
    if (patch.notes.length) target.append(list(patch.notes));
  }
  const verdict = (one, what) => (!one.ran ? `no verdict: ${one.trouble}` : one.same ? `${what} as without it` : `differs: ${one.trouble}`);
  if (check) {
    target.append(element("h3", {}, "Your check"), pairs([
      ["command", element("code", {}, check.command)], ["verdict", verdict(check, "ended and wrote")],
      ["where", check.on_gpu ? "on a GPU" : "on the interpreter"], ["launches", check.launches === null ? null : `${check.launches} of the kernel`]]));
    if (check.notes.length) target.append(list(check.notes));
  }
  if (program) {
    target.append(element("h3", {}, "The program it was captured from"), pairs([
      ["verdict", verdict(program, "exit code and output")],
      ["launches", `${program.launches_replaced} were the winner's, ${program.launches_kept} of another block or grid`]]));
  }
  document.getElementById("yours").hidden = !patch && !check && !program;
}

function counted(object) {
  return Object.entries(object ?? {}).map(([name, count]) => `${words(name)} ${count}`).join(", ");
}

function drawModel() {
  const model = result?.language_model;
  document.getElementById("model").hidden = !model;
  if (!model) return;
  const share = (part, whole) => `${number(part)} of ${number(whole)}`;
  body("model").append(pairs([
    ["model", `${model.model}, expander ${model.expander}, from ${model.from}`],
    ["requests", `${share(model.answered, model.requests)} answered; ${number(model.from_store)} known before, ${number(model.sent)} sent`],
    ["failures", model.first_failure ? `${counted(model.failures)}; the first: ${model.first_failure}` : counted(model.failures)],
    ["tokens", `prompt ${number(model.prompt_tokens)} (cached ${number(model.cached_tokens)}), completion ${
      number(model.completion_tokens)} (reasoning ${number(model.reasoning_tokens)})`],
    ["tokens estimated", model.estimated_answers ? `for ${model.estimated_answers} answers` : null],
    ["cost", Number.isFinite(model.dollars) ? `${model.dollars.toFixed(4)} dollars` : "not known, as the model's price is not"],
    ["budget", model.budget_spent ? "used up: something was not asked" : null],
    ["steps asked for", `${share(model.candidates, model.applications)} became candidates; ${number(model.no_answer)} had no answer`],
    ["rejected", counted(model.rejected)], ["verdicts", counted(model.verdicts)],
    ["repairs", `${number(model.repairs)} sent back, ${number(model.repaired)} right then`],
    ["steps named", counted(model.named_steps)], ["waited", `${number(model.waiting_seconds)} s, all threads together`]]));
  if (model.new_steps?.length) {
    body("model").append(table("Steps that the ReGraph does not know", [{name: "step"}, {name: "named", number: true}, {name: "why"}],
      model.new_steps.map((one) => [one.step, String(one.named), one.why])));
  }
}

function drawSearch() {
  if (!result) {
    body("search").append(pairs([["states", String(states.length)], ["stopped", words(run.stopped)]]));
    return;
  }
  const measurement = result.measurement;
  body("search").append(pairs([
    ["method", result.search], ["evaluator", result.evaluator], ["policy", result.policy ?? "none"], ["learns", result.learns ? "yes" : "no"],
    ["evaluations", `${number(result.evaluations)}: ${counted(result.verdicts)}`],
    ["steps applied", `${number(result.expansions)}; ${number(result.transpositions)} led to known states`],
    ["same machine code", `${number(result.machine_code_merges)} candidates`], ["stopped", words(result.stopped)],
    ["took", `${number(result.search_seconds)} s with ${result.workers?.jobs} workers, ${number(result.workers?.busy)} busy on average`],
    ["seed", String(result.seed)],
    ["GPU", measurement ? `${measurement.devices} x ${measurement.gpu}, driver ${measurement.driver_version}, ${
      number(measurement.clock_hertz / 1e6)} MHz, noise ${percent(measurement.noise)}` : null],
    ["timed", measurement
      ? `${measurement.timed}; ${measurement.pruned} left at their prediction, ${measurement.faults} went wrong on the GPU` : null],
    ["version", run.version]]));
}
