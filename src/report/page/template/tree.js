// The states as a tree by the step that made each first: depth to the right, laid out by D3, painted on a canvas. Arrow keys
// walk it; it is as quick with ten thousand states as with ten.
const tree = {draw: () => {}, mark: () => {}, show: () => {}};

function drawTree() {
  const target = body("graph");
  if (!original) {
    target.append(note("The run's database (run.db) is not in its folder, so that its states are not known."));
    return;
  }
  const height = 460;
  const canvas = element("canvas", {tabindex: "0", role: "application", "aria-label": `Search graph of ${states.length} states`,
    "aria-describedby": "tree-help", id: "tree"});
  const holder = element("div", {class: "drawing"}, canvas);
  const zoomBy = (text, label, act) => element("button", {type: "button", "aria-label": label, onclick: act}, text);
  const controls = element("div", {class: "controls"},
    zoomBy("+", "Zoom in", () => scaleBy(1.6)), zoomBy("-", "Zoom out", () => scaleBy(1 / 1.6)),
    zoomBy("All", "Show all states", () => d3.select(canvas).call(zoom.transform, d3.zoomIdentity)),
    bestState ? zoomBy("Best", "Choose the best state", () => choose(bestState)) : null,
    zoomBy("Original", "Choose the original", () => choose(original)));
  const left = element("div", {}, controls, holder, legend(), element("p", {class: "note", id: "tree-help"},
    "A state is a kernel; a line is the step that made it. Keys, with the graph in focus: left to the parent, right to the "
    + "first child, up and down to the states beside it, N and P to the next and previous evaluation, Home to the original, "
    + "End to the best, + and - zoom, 0 shows all. Drag moves; Ctrl and the wheel zoom."));
  const panel = element("div", {class: "panel", id: "state", role: "region", "aria-label": "The chosen state"});
  const columns = element("div", {class: "columns"}, left, panel);
  target.append(columns, element("p", {class: "spoken", id: "spoken", role: "status"}));
  if (run.left_out) target.append(note(`${run.left_out} states more are in run.db than this page can show.`));

  const root = d3.tree().size([1, 1])(d3.hierarchy(original, (state) => state.children));
  const levels = [];
  root.each((node) => {
    node.data.place = [node.y, node.x];
    (levels[node.depth] = levels[node.depth] ?? []).push(node.data);
  });
  for (const level of levels) {
    level.sort((one, other) => one.place[1] - other.place[1]);
    level.forEach((state, at) => { state.beside = [level[at - 1], level[at + 1]]; });
  }
  let width = 0;
  let transform = d3.zoomIdentity;
  const margin = 24;
  const at = (state) => transform.apply([margin + state.place[0] * (width - 2 * margin), margin + state.place[1] * (height - 2 * margin)]);
  const inside = ([x, y]) => x > -20 && y > -20 && x < width + 20 && y < height + 20;

  let seen = [];
  const paintStates = (context) => {
    context.lineWidth = 1;
    context.strokeStyle = palette["--line"];
    context.beginPath();
    for (const state of states) {
      if (!state.parent) continue;
      const [[px, py], [x, y]] = [state.parent.at, state.at];
      const hidden = Math.max(x, px) < 0 || Math.min(x, px) > width || Math.max(y, py) < 0 || Math.min(y, py) > height;
      if (hidden) continue;
      context.moveTo(px, py);
      context.bezierCurveTo((px + x) / 2, py, (px + x) / 2, y, x, y);
    }
    context.stroke();
    paintPath(context, onBestPath, palette["--best"], 3);
    const small = states.length > 1000 && transform.k < 4;
    for (const state of seen) paintMark(context, kindOf(state), ...state.at, small ? 18 : 64);
    labels = [];
    if (seen.length <= 30) for (const state of seen) paintLabel(context, state);
  };
  tree.draw = () => {
    width = holder.clientWidth;
    if (!width) return;
    const context = sharpCanvas(canvas, width, height);
    for (const state of states) state.at = at(state);
    seen = states.filter((state) => inside(state.at));
    const lay = paintedOnce(width, height, paintStates);
    tree.mark = () => {
      lay(context);
      if (!selection.state) return;
      paintPath(context, new Set(pathTo(selection.state)), palette["--focus"], 2);
      paintMark(context, kindOf(selection.state), ...selection.state.at, 64);
      ring(context, ...selection.state.at);
      paintLabel(context, selection.state, true);
    };
    tree.mark();
  };
  const paintPath = (context, path, color, size) => {
    context.strokeStyle = color;
    context.lineWidth = size;
    context.beginPath();
    for (const state of path) {
      if (!state.parent || !path.has(state.parent)) continue;
      const [[px, py], [x, y]] = [state.parent.at, state.at];
      context.moveTo(px, py);
      context.bezierCurveTo((px + x) / 2, py, (px + x) / 2, y, x, y);
    }
    context.stroke();
  };
  // Labels that would cover another are left out, but for the chosen state's.
  let labels = [];
  const paintLabel = (context, state, always = false) => {
    const text = state === original ? "original" : state.step.length > 42 ? `${state.step.slice(0, 40)}...` : state.step;
    context.font = "12px system-ui, sans-serif";
    const size = context.measureText(text).width;
    const x = Math.max(2, Math.min(state.at[0] + 12, width - size - 4));
    const y = state.at[1];
    const covers = labels.some((one) => x < one.right + 4 && one.x < x + size + 4 && Math.abs(one.y - y) < 14);
    if (covers && !always) return;
    if (!always) labels.push({x, right: x + size, y});
    context.fillStyle = palette["--paper"];
    context.globalAlpha = 0.8;
    context.fillRect(x - 2, state.at[1] - 22, size + 4, 15);
    context.globalAlpha = 1;
    context.fillStyle = palette["--ink"];
    context.fillText(text, x, state.at[1] - 10);
  };

  const zoom = d3.zoom().scaleExtent([1, 400])
    .filter(() => (d3.event.type === "wheel" ? d3.event.ctrlKey
      : d3.event.type.startsWith("touch") ? d3.event.touches.length > 1 : !d3.event.button))
    .on("zoom", () => { transform = d3.event.transform; tree.draw(); });
  const scaleBy = (by) => {
    const center = selection.state?.at && inside(selection.state.at) ? selection.state.at : [width / 2, height / 2];
    d3.select(canvas).call(zoom.scaleBy, by, center);
  };
  d3.select(canvas).call(zoom).on("dblclick.zoom", null);
  tree.show = (state) => {
    if (!width) return;
    const [x, y] = at(state);
    if (x > 10 && y > 10 && x < width - 10 && y < height - 10) return;
    d3.select(canvas).call(zoom.translateBy, (width / 2 - x) / transform.k, (height / 2 - y) / transform.k);
  };
  new ResizeObserver(() => tree.draw()).observe(holder);
  canvas.addEventListener("click", (event) => {
    const near = d3.quadtree().x((state) => state.at[0]).y((state) => state.at[1]).addAll(states).find(event.offsetX, event.offsetY, 24);
    if (near) choose(near);
  });
  const walk = {
    ArrowLeft: (state) => state.parent, ArrowRight: (state) => state.children[0], ArrowUp: (state) => state.beside[0],
    ArrowDown: (state) => state.beside[1], Home: () => original, End: () => bestState,
    n: (state) => states[state.order + 1], p: (state) => states[state.order - 1],
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = () => d3.select(canvas).call(zoom.transform, d3.zoomIdentity);
    const act = {"+": () => scaleBy(1.6), "-": () => scaleBy(1 / 1.6), 0: all}[event.key];
    const to = walk[event.key] ?? walk[event.key.toLowerCase()];
    if (!act && !to) return;
    event.preventDefault();
    if (act) act();
    else choose(to(selection.state ?? original) ?? selection.state);
  });
}
