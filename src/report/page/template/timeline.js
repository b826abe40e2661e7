// Every candidate's time by the order of evaluation, and the best so far. A canvas, as there may be thousands.
const timeline = {draw: () => {}, mark: () => {}};

function drawTimeline() {
  const target = body("timeline");
  const timed = states.filter((state) => state.seconds);
  if (!timed.length) {
    target.append(note("No state has a time, or the run's database is not in its folder."));
    return;
  }
  const holder = element("div", {class: "drawing"});
  const canvas = element("canvas", {tabindex: "0", role: "img", "aria-describedby": "timeline-help",
    "aria-label": `Times of ${states.length} states by order of evaluation`});
  holder.append(canvas);
  target.append(holder, element("p", {class: "note", id: "timeline-help"},
    "Line: best so far. Candidates without a time lie on the lower edge. Left and right arrow keys choose the evaluation "
    + "before or after; it is shown beside the search graph."));
  const height = 280;
  const axes = d3.select(holder).append("svg").style("position", "absolute").style("inset", "0").style("pointer-events", "none")
    .attr("aria-hidden", "true");
  let near = null;
  timeline.draw = () => {
    const width = holder.clientWidth;
    if (!width) return;
    const context = sharpCanvas(canvas, width, height);
    const x = d3.scaleLinear().domain([0, Math.max(1, states.length - 1)]).range([58, width - 14]);
    const y = d3.scaleLog().domain([d3.min(timed, (state) => state.seconds) / 1.15, d3.max(timed, (state) => state.seconds) * 1.15])
      .range([height - 52, 12]);
    const place = (state) => [x(state.order), state.seconds ? y(state.seconds) : height - 40];
    const lay = paintedOnce(width, height, (under) => paintTimes(under, x, y, place));
    timeline.mark = () => {
      lay(context);
      if (selection.state) ring(context, ...place(selection.state));
    };
    timeline.mark();
    axes.selectAll("*").remove();
    axes.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    axes.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 28})`)
      .call(d3.axisBottom(x).ticks(Math.min(states.length, Math.floor(width / 80))).tickFormat(d3.format("d")));
    const [low, high] = y.domain();
    axes.append("g").attr("class", "axis").attr("transform", "translate(58,0)")
      .call(d3.axisLeft(y).tickValues(ticksBetween(low, high)).tickFormat(duration));
    near = d3.quadtree().x((state) => place(state)[0]).y((state) => place(state)[1]).addAll(states);
  };
  new ResizeObserver(() => timeline.draw()).observe(holder);
  canvas.addEventListener("click", (event) => {
    const state = near?.find(event.offsetX, event.offsetY, 30);
    if (state) choose(state);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    choose(states[Math.min(states.length - 1, Math.max(0, (selection.state?.order ?? 0) + step))]);
  });
}

function paintTimes(context, x, y, place) {
  for (const state of states) paintMark(context, kindOf(state), ...place(state), states.length > 1000 ? 14 : 40);
  context.strokeStyle = palette["--accent"];
  context.lineWidth = 2;
  context.beginPath();
  let best = Infinity;
  for (const state of states) {
    if (state.seconds && state.seconds < best) {
      if (best < Infinity) context.lineTo(x(state.order), y(best));
      best = state.seconds;
    }
    if (best < Infinity) context.lineTo(x(state.order), y(best));
  }
  context.stroke();
}

// 1, 2 and 5 times powers of ten; ends of the range where there are none.
function ticksBetween(low, high) {
  const all = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const digit of [1, 2, 5]) all.push(digit * 10 ** power);
  }
  const inside = all.filter((value) => value >= low && value <= high);
  return inside.length > 1 ? inside : [low * 1.02, high / 1.02];
}

function ring(context, x, y) {
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.strokeStyle = palette["--focus"];
  context.lineWidth = 3;
  context.stroke();
}
