// The chosen state: told in a panel beside the graph and marked in every drawing and in the list of states.
const selection = {state: null, listeners: []};

function choose(state) {
  if (!state || state === selection.state) return;
  selection.state = state;
  tree.show(state);
  tree.mark();
  timeline.mark();
  showState(state);
  for (const listener of selection.listeners) listener();
}

// Verdicts have a word and a color; the word is enough.
const verdictClass = {correct: "good", best: "good", refused: "held", wrong: "bad", broken: "odd"};
const verdictText = (state) => element("span", {class: verdictClass[kindOf(state)]}, words(state.verdict));

function stepButton(text, state) {
  return element("button", {type: "button", onclick: () => choose(state)}, text);
}

function showState(state) {
  const panel = document.getElementById("state");
  if (!panel) return;
  const path = pathTo(state);
  const gain = state.seconds && original.seconds ? `${factor(original.seconds / state.seconds)} against the original` : null;
  panel.replaceChildren(
    element("h3", {}, state === original ? "State 0, the original" : `State ${state.id}${state === bestState ? ", the best" : ""}`),
    pairs([
      ["step", state.step], ["verdict", verdictText(state)], ["why", state.message],
      ["time", timeText(state)], ["gain", gain], ["limited by", state.bottleneck], ["launch", state.launch],
      ["relies on", state.assumptions], ["registers", state.registers ? `${state.registers} a thread` : null],
      ["spills", state.spill ? `${state.spill} bytes a thread` : null], ["static shared", state.shared ? `${state.shared} bytes` : null],
      ["evaluated", state.order === 0 ? "first" : `as number ${state.order}`],
    ]),
    element("h3", {}, `Path, ${path.length - 1} steps`),
    element("ol", {class: "plain", start: "0"}, ...path.map((one) => element("li", {},
      one === state ? `${one.step || "original"}` : stepButton(one.step || "original", one),
      one.seconds ? ` ${duration(one.seconds)} ${one.method}` : ""))),
    ...lists(state),
    element("details", {ontoggle: (event) => {
      if (!event.target.open || event.target.children.length > 1) return;
      event.target.append(element("pre", {tabindex: "0", "aria-label": "Source of the state"}, sourceOf(state).join("\n")));
    }}, element("summary", {}, "Source")));
  document.getElementById("spoken").textContent =
    `State ${state.id}, ${state.step || "the original"}: ${words(state.verdict)}, ${timeText(state)}`;
  markChosenRow();
}

// What was tried from there, each list no longer than a person reads.
function lists(state) {
  const most = 40;
  const parts = [
    ["Steps that made a state", state.children.map((child) => element("span", {}, stepButton(child.step, child),
      ` ${words(child.verdict)}${child.seconds ? `, ${duration(child.seconds)} ${child.method}` : ""}`))],
    ["Steps to a state that was known", state.known.map((one) => stepButton(`${one.step}: state ${one.state.id}`, one.state))],
    ["Steps refused", state.refused.map((one) => `${one.step}: ${words(one.reason)}`)],
  ];
  return parts.filter(([, items]) => items.length).map(([title, items]) => element("details", {},
    element("summary", {}, `${title}: ${items.length}`), list(items.slice(0, most)),
    items.length > most ? note(`and ${items.length - most} more`) : null));
}

// The list of states, a page of it at a time: as long as it may be, the page holds few of its rows.
const stateList = {page: 0, order: "order", falling: false, filter: "", verdict: "", rows: []};
const kRowsOfPage = 25;

function drawStateList() {
  if (!original) return;
  const verdicts = [...new Set(states.map((state) => state.verdict))].sort();
  const verdict = element("select", {id: "verdict"}, element("option", {value: ""}, "all"),
    ...verdicts.map((one) => element("option", {value: one}, words(one))));
  verdict.addEventListener("change", () => {
    stateList.verdict = verdict.value;
    refreshList(0);
  });
  const filter = element("input", {id: "filter", type: "search"});
  filter.addEventListener("input", () => {
    stateList.filter = filter.value.toLowerCase();
    refreshList(0);
  });
  const turn = (text, by) =>
    element("button", {type: "button", id: `turn-${text}`, onclick: () => refreshList(stateList.page + by)}, text);
  const head = [["id", "state"], ["step", "step"], ["depth", "steps"], ["verdict", "verdict"], ["seconds", "time"], ["order", "evaluation"]];
  const heads = head.map(([key, name]) => element("th", {scope: "col", id: `sort-${key}`, class: key === "depth" || key === "order" ? "wide" : ""},
    element("button", {type: "button", onclick: () => {
      stateList.falling = stateList.order === key && !stateList.falling;
      stateList.order = key;
      refreshList(0);
    }}, name)));
  body("graph").append(element("h3", {}, "All states"),
    element("div", {class: "controls"}, element("label", {for: "verdict"}, "Verdict"), verdict,
      element("label", {for: "filter"}, "Step contains"), filter, turn("Previous", -1), turn("Next", 1), element("span", {id: "list-place", role: "status"})),
    element("div", {class: "scroll"}, element("table", {id: "list"}, element("caption", {}, "Choose a state by its number; up and down go from row to row, headings sort"),
      element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}))));
  // Up and down from row to row, over the ends of a page.
  document.querySelector("#list tbody").addEventListener("keydown", (event) => {
    const by = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    const buttons = () => [...document.querySelectorAll("#list tbody button")];
    const next = buttons().indexOf(document.activeElement) + by;
    if (buttons()[next]) {
      buttons()[next].focus();
      return;
    }
    const page = stateList.page;
    refreshList(page + by);
    if (stateList.page !== page) buttons().at(by < 0 ? -1 : 0).focus();
    else buttons().at(by < 0 ? 0 : -1).focus();
  });
  refreshList(0);
}

function refreshList(page) {
  const {order, falling, filter, verdict} = stateList;
  const key = (state) => (order === "seconds" ? state.seconds ?? Infinity : state[order]);
  const rows = states.filter((state) => (!verdict || state.verdict === verdict) && (!filter || state.step.toLowerCase().includes(filter)));
  rows.sort((one, other) => (falling ? -1 : 1) * d3.ascending(key(one), key(other)) || one.order - other.order);
  const pages = Math.max(1, Math.ceil(rows.length / kRowsOfPage));
  stateList.page = Math.min(pages - 1, Math.max(0, page));
  const first = stateList.page * kRowsOfPage;
  stateList.rows = rows.slice(first, first + kRowsOfPage);
  document.getElementById("list-place").textContent = rows.length ? `${first + 1} to ${first + stateList.rows.length} of ${rows.length}` : "none";
  document.getElementById("turn-Previous").disabled = stateList.page === 0;
  document.getElementById("turn-Next").disabled = stateList.page === pages - 1;
  for (const head of document.querySelectorAll("#list th")) {
    const mine = head.id === `sort-${order}`;
    if (mine) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  document.querySelector("#list tbody").replaceChildren(...stateList.rows.map((state) => element("tr", {},
    element("td", {}, stepButton(String(state.id), state)),
    element("td", {class: "step"}, state.step || "original"),
    element("td", {class: "wide"}, String(state.depth)),
    element("td", {}, verdictText(state)),
    element("td", {}, state.seconds ? timeText(state) : "-"),
    element("td", {class: "wide"}, String(state.order)))));
  markChosenRow();
}

function markChosenRow() {
  document.querySelectorAll("#list tbody tr").forEach((row, at) => row.setAttribute("aria-selected", String(stateList.rows[at] === selection.state)));
}
