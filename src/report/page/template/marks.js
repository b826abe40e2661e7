// How verdicts look: a shape and a color each, so that neither has to be told apart alone.
const kinds = {
  best: {label: "on the winner's path", color: "--best", shape: d3.symbolStar},
  correct: {label: "correct", color: "--good", shape: d3.symbolCircle},
  refused: {label: "not compiled, launched or supported", color: "--held", shape: d3.symbolSquare},
  wrong: {label: "wrong or not shown to be right", color: "--bad", shape: d3.symbolCross},
  broken: {label: "faults, deadlock or crash", color: "--odd", shape: d3.symbolTriangle},
};
const kindOfVerdict = {
  correct: "correct", compile_error: "refused", launch_error: "refused", unsupported: "refused",
  wrong_result: "wrong", data_race: "wrong", nondeterministic: "wrong", suspicious: "wrong", unverified: "wrong",
};
const verdictKind = (verdict) => kindOfVerdict[verdict] ?? "broken";
const kindOf = (state) => (onBestPath.has(state) && state.verdict === "correct" ? "best" : verdictKind(state.verdict));

// What a canvas paints with, as the page's colors are now.
let palette = {};
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  palette = Object.fromEntries(["--paper", "--raised", "--ink", "--faint", "--line", "--accent", "--focus", "--good", "--bad",
    "--held", "--odd", "--best", "--base"].map((name) => [name, style.getPropertyValue(name).trim()]));
}

const symbolPaths = new Map();
function paintMark(context, kind, x, y, area) {
  const key = `${kind} ${area}`;
  if (!symbolPaths.has(key)) symbolPaths.set(key, new Path2D(d3.symbol().type(kinds[kind].shape).size(area)()));
  context.save();
  context.translate(x, y);
  context.fillStyle = palette[kinds[kind].color];
  context.fill(symbolPaths.get(key));
  context.restore();
}

function legend() {
  const counts = new Map();
  for (const state of states) counts.set(kindOf(state), (counts.get(kindOf(state)) ?? 0) + 1);
  const items = Object.entries(kinds).filter(([name]) => counts.has(name)).map(([name, kind]) => {
    const item = element("li", {});
    d3.select(item).append("svg").attr("viewBox", "-8 -8 16 16").attr("aria-hidden", "true")
      .append("path").attr("d", d3.symbol().type(kind.shape).size(90)()).style("fill", `var(${kind.color})`);
    item.append(`${kind.label}: ${counts.get(name)}`);
    return item;
  });
  return element("ul", {class: "legend"}, ...items);
}

// What a drawing shows whatever is chosen, painted once and laid under what is painted on top.
function paintedOnce(width, height, paint) {
  const layer = document.createElement("canvas");
  paint(sharpCanvas(layer, width, height));
  return (context) => {
    context.clearRect(0, 0, width, height);
    context.drawImage(layer, 0, 0, width, height);
  };
}

// A canvas in the page's own pixels.
function sharpCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}
