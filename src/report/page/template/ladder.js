// Gains step by step, and the two times that the result compares.
function drawLadder() {
  const target = body("ladder");
  const steps = result?.best?.steps ?? [];
  if (!steps.length) {
    target.append(note(result ? "No step: nothing was shown to be faster than the original." : "The run has not come to its end."));
    return;
  }
  let product = 1;
  const rungs = steps.map((step, at) => {
    const before = product;
    product *= step.gain;
    return {text: stepText(step), gain: step.gain, before, after: product, state: bestPath[at + 1]};
  });
  const ends = rungs.flatMap((rung) => [rung.before, rung.after]);
  const scale = d3.scaleLog().domain([Math.min(1, ...ends) * 0.97, Math.max(...ends) * 1.03]).range([0, 100]);
  const rows = rungs.map((rung, at) => {
    const cell = element("div", {class: "rung"});
    const svg = d3.select(cell).append("svg").attr("viewBox", "0 0 100 14").attr("preserveAspectRatio", "none")
      .attr("height", 14).attr("aria-hidden", "true");
    svg.append("rect").attr("class", "track").attr("x", 0).attr("width", 100).attr("height", 14);
    const left = scale(Math.min(rung.before, rung.after));
    svg.append("rect").attr("class", rung.gain < 1 ? "bar loss" : "bar").attr("x", left).attr("y", 2).attr("height", 10)
      .attr("width", Math.max(0.8, scale(Math.max(rung.before, rung.after)) - left));
    const time = rung.state ? timeText(rung.state) : "-";
    return [String(at + 1), element("span", {class: "step"}, rung.text), factor(rung.gain), factor(rung.after), time, cell];
  });
  const caption = `From the original, ${factor(product)} in ${steps.length} steps as the search saw them (${result.method}); `
    + "bars have a logarithmic scale";
  target.append(table(caption,
    [{name: "#"}, {name: "step"}, {name: "gain", number: true}, {name: "together", number: true}, {name: "time after it", wide: true},
      {name: "bar", wide: true}], rows));
}

// Rows of {name, kind, seconds, low, high} as points with their intervals over one axis from zero.
function drawIntervals(target, label, rows) {
  drawing(target, label, (svg, width) => {
    const left = 8;
    const x = d3.scaleLinear().domain([0, d3.max(rows, (row) => row.high)]).nice().range([left, width - 24]);
    rows.forEach((row, at) => {
      const y = 34 + at * 48;
      const group = svg.append("g").attr("class", row.kind);
      svg.append("text").attr("x", left).attr("y", y - 14)
        .text(`${row.name}: ${duration(row.seconds)} ${interval(row.low, row.high)} ${row.method}`);
      group.append("path").attr("class", "whisker")
        .attr("d", `M${x(row.low)},${y - 6}v12M${x(row.low)},${y}H${x(row.high)}M${x(row.high)},${y - 6}v12`);
      group.append("path").attr("transform", `translate(${x(row.seconds)},${y})`)
        .attr("d", d3.symbol().type(row.kind === "base" ? d3.symbolSquare : d3.symbolCircle).size(70)());
    });
    const bottom = 34 + rows.length * 48 - 22;
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
      .call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 110))).tickFormat((value) => (value === 0 ? "0" : duration(value))));
    return bottom + 24;
  });
}

const timeRow = (name, kind, time, method) =>
  ({name, kind, seconds: time.seconds, low: time.interval[0], high: time.interval[1], method});

function drawTimes() {
  const target = body("times");
  if (!result?.baseline?.interval) {
    target.append(note("The run has not come to its end."));
    return;
  }
  const chart = element("div", {});
  target.append(chart);
  const rows = [timeRow("original", "base", result.baseline, result.method)];
  if (result.status === "improved") rows.push(timeRow("best", "winner", result.best, result.method));
  drawIntervals(chart, "Times of the original and the best kernel with their intervals", rows);
  target.append(note(result.method === "predicted"
    ? "Predicted by the timing model; no GPU was used. The interval says how far a prediction may be off, and is wider "
      + "with caveats."
    : "Measured on a GPU."));
  const final = result.measurement?.final;
  if (!final) return;
  const rowsOf = final.benches.flatMap((bench) => ["cold", "hot"].map((cache) => {
    const times = bench[cache];
    const sizes = Object.entries(bench.sizes).map(([name, value]) => `${name}=${value}`).join(", ");
    return [sizes, cache, duration(times.original_seconds), duration(times.best_seconds), String(times.samples),
      `${factor(times.speedup)} [${factor(times.interval[0])}, ${factor(times.interval[1])}]`];
  }));
  target.append(table(`Measured once more in ${final.processes} fresh processes; caches cold and hot`,
    [{name: "sizes"}, {name: "caches"}, {name: "original", number: true}, {name: "best", number: true}, {name: "samples", number: true},
      {name: "speedup, 95 %", number: true}], rowsOf));
}
