// What was achieved against what the device can do, from facts that are there.
function drawRoofline() {
  const target = body("roofline");
  let {bytes, flops} = result?.work ?? {};
  const bandwidth = result?.ceilings?.bytes_per_second;
  const peak = result?.ceilings?.flops_per_second;
  const kernels = [["original", "base", result?.baseline], ["best", "winner", result?.status === "improved" ? result.best : null]]
    .filter(([, , time]) => time?.interval);
  const limit = result?.best?.roofline_seconds;
  if (limit > 0) {
    // Beyond what a time leaves open, a kernel cannot be faster than the device: the counters are no bound then.
    const beyond = kernels.filter(([, , time]) => limit > time.interval[1]).map(([name]) => name);
    const reached = kernels.filter(([, , time]) => limit <= time.interval[1])
      .map(([name, , time]) => `${name} reaches ${percent(Math.min(1, limit / time.seconds))} of it`);
    target.append(note(`At the roofline the kernel would take ${duration(limit)}, computed from the device's ceilings over all `
      + `bench sizes${reached.length ? `: ${reached.join(", ")}` : ""}.`));
    if (beyond.length) {
      target.append(note(`Faster than that: ${beyond.join(" and ")}. So the counters are no bound: data that stays in the caches `
        + "need not move, else 'counters' in the manifest say too much."));
    }
  }
  if (!kernels.length || !bandwidth || (!bytes && !flops)) {
    target.append(note(!bytes && !flops
      ? "No plot: the manifest says neither how many bytes the problem must move nor how many operations it needs (counters)."
      : "No plot: this run does not say what its device can do."));
    return;
  }
  // Amounts are of the last bench size, times and roofline the geometric mean over all: amounts that belong to it.
  const last = Math.max((bytes ?? 0) / bandwidth, (flops ?? 0) / peak);
  const share = limit > 0 && last > 0 ? limit / last : 1;
  bytes = bytes ? bytes * share : null;
  flops = flops ? flops * share : null;
  const chart = element("div", {});
  target.append(chart);
  if (Math.abs(share - 1) > 0.01) {
    target.append(note("Several bench sizes: bytes and operations are scaled to the mean of their rooflines, as times are means."));
  }
  if (bytes && flops) {
    drawLogLog(chart, kernels, flops, bytes, bandwidth, peak);
    target.append(note(`Intensity: operations over the bytes that must move. Intervals are those of the ${result.method} times.`));
  } else if (bytes) {
    drawRates(chart, kernels, bytes, bandwidth, "bytes that must move per second", (value) => `${number(value / 1e9)} GB/s`);
    target.append(note("Bandwidth alone: the manifest does not say how many operations the problem needs."));
  } else {
    drawRates(chart, kernels, flops, peak, "operations per second", (value) => `${number(value / 1e12)} TFLOP/s`);
    target.append(note("Arithmetic alone: the manifest does not say how many bytes must move."));
  }
}

function drawLogLog(chart, kernels, flops, bytes, bandwidth, peak) {
  const points = kernels.map(([name, kind, time]) => ({
    name, kind, x: flops / bytes, y: flops / time.seconds, low: flops / time.interval[1], high: flops / time.interval[0],
  }));
  const said = points.map((point) => `${point.name} ${number(point.y / 1e12)} TFLOP/s at ${number(point.x)} operations a byte`);
  drawing(chart, `Roofline: ${said.join(", ")}`, (svg, width) => {
    const height = Math.min(420, Math.max(260, width * 0.5));
    const ridge = peak / bandwidth;
    const xs = [Math.min(points[0].x, ridge) / 8, Math.max(points[0].x, ridge) * 8];
    const x = d3.scaleLog().domain(xs).range([58, width - 16]);
    const y = d3.scaleLog().domain([Math.min(bandwidth * xs[0], d3.min(points, (point) => point.low)) / 2, peak * 2]).range([height - 44, 10]);
    const line = d3.line().x(([at]) => x(at)).y(([, rate]) => y(rate));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 44})`).call(d3.axisBottom(x).ticks(5, "~g"));
    svg.append("g").attr("class", "axis").attr("transform", "translate(58,0)").call(d3.axisLeft(y).ticks(5, "~s"));
    svg.append("text").attr("x", width - 16).attr("y", height - 8).attr("text-anchor", "end").text("operations a byte");
    svg.append("text").attr("x", 64).attr("y", 18).text("operations a second");
    svg.append("path").attr("class", "ceiling").attr("d", line([[xs[0], bandwidth * xs[0]], [ridge, peak], [xs[1], peak]]));
    svg.append("text").attr("x", x(ridge) + 4).attr("y", y(peak) - 6).text(`${number(peak / 1e12)} TFLOP/s`);
    svg.append("text").attr("x", x(xs[0] * 1.3)).attr("y", y(bandwidth * xs[0] * 1.3) + 26).text(`${number(bandwidth / 1e12)} TB/s`);
    for (const point of points) {
      const group = svg.append("g").attr("class", point.kind);
      const [left, low, high] = [x(point.x) - 6, y(point.low), y(point.high)];
      group.append("path").attr("class", "whisker").attr("d", `M${left},${low}h12M${left + 6},${low}V${high}M${left},${high}h12`);
      group.append("path").attr("transform", `translate(${x(point.x)},${y(point.y)})`)
        .attr("d", d3.symbol().type(point.kind === "base" ? d3.symbolSquare : d3.symbolCircle).size(80)());
      svg.append("text").attr("x", x(point.x) + 10).attr("y", y(point.y) + 4).text(`${point.name}: ${number(point.y / 1e12)} TFLOP/s`);
    }
    return height;
  });
}

// Rates against one ceiling, as bars with the interval of the time they come from.
function drawRates(chart, kernels, amount, ceiling, what, text) {
  const said = kernels.map(([name, , time]) => `${name} ${text(amount / time.seconds)}`).join(", ");
  drawing(chart, `${what}: ${said}, ceiling ${text(ceiling)}`, (svg, width) => {
    const top = Math.max(ceiling, ...kernels.map(([, , time]) => amount / time.interval[0]));
    const x = d3.scaleLinear().domain([0, top * 1.04]).range([8, width - 16]);
    kernels.forEach(([name, kind, time], at) => {
      const y = 24 + at * 48;
      const group = svg.append("g").attr("class", kind);
      const rate = amount / time.seconds;
      svg.append("text").attr("x", 8).attr("y", y - 6)
        .text(`${name}: ${text(rate)} (${percent(rate / ceiling)} of the ceiling), ${result.method}`);
      group.append("rect").attr("x", x(0)).attr("y", y).attr("height", 12).attr("width", x(rate) - x(0)).style("opacity", 0.55);
      const [low, high] = [amount / time.interval[1], amount / time.interval[0]];
      group.append("path").attr("class", "whisker")
        .attr("d", `M${x(low)},${y + 1}v10M${x(low)},${y + 6}H${x(high)}M${x(high)},${y + 1}v10`);
    });
    const bottom = 24 + kernels.length * 48 - 14;
    svg.append("path").attr("class", "ceiling").attr("d", `M${x(ceiling)},8V${bottom}`);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`)
      .call(d3.axisBottom(x).ticks(Math.max(2, Math.floor(width / 130))).tickFormat((value) => (value === 0 ? "0" : text(value))));
    return bottom + 24;
  });
}
