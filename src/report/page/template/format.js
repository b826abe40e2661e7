// Numbers as text, and elements of the page. Text becomes text nodes only, never markup.
const number = (value, digits = 3) =>
  value === null || value === undefined || !Number.isFinite(value) ? "-"
    : Math.abs(value) >= 1000 && Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, " ")
      : String(Number(value.toPrecision(digits)));

function duration(seconds) {
  if (!Number.isFinite(seconds) || seconds <= 0) return "-";
  // What would be rounded to 1000 of a unit is one of the next.
  const units = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]];
  const [unit, scale] = units.find(([, size]) => seconds >= 0.9995 * size) ?? units[3];
  const value = seconds / scale;
  return `${value >= 1000 ? Math.round(value) : value.toPrecision(3)} ${unit}`;
}
const interval = (low, high) =>
  Number.isFinite(low) && Number.isFinite(high) ? `[${duration(low)}, ${duration(high)}]` : "";
const factor = (value) => (Number.isFinite(value) ? `${value.toFixed(2)}x` : "-");
const percent = (value) => `${(100 * value).toPrecision(3)} %`;
const words = (name) => name.replace(/_/g, " ");

// "44.7 us [29.7 us, 59.7 us] predicted"
function timeText(state) {
  return state.seconds ? `${duration(state.seconds)} ${interval(state.low, state.high)} ${state.method}` : "no time";
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
const body = (section) => document.querySelector(`#${section} .body`);
const list = (items) => element("ul", {class: "plain"}, ...items.map((item) => element("li", {}, item)));
const note = (text) => element("p", {class: "note"}, text);

// Pairs of a word and what it is; those without a value are left out.
function pairs(entries) {
  const there = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return element("dl", {class: "pairs"}, ...there.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

// Columns: {name, number, wide}. Cells are text or elements.
function table(caption, columns, rows) {
  const kind = (column) => [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim();
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    element("table", {}, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...columns.map((column) => element("th", {scope: "col", class: kind(column)}, column.name)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, at) => element("td", {class: kind(columns[at])}, cell)))))));
}

// A drawing as wide as the page lets it be, drawn again when that changes. `draw` is given the selection of an empty svg
// and its width, and returns the height.
function drawing(parent, label, draw) {
  const svg = d3.select(parent).append("svg").attr("role", "img").attr("aria-label", label);
  let last = 0;
  const again = () => {
    const width = Math.floor(parent.clientWidth);
    if (width === last || width === 0) return;
    last = width;
    svg.selectAll("*").remove();
    const height = draw(svg, width);
    svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
  };
  again();
  new ResizeObserver(again).observe(parent);
}
