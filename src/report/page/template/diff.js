// Two sources side by side; one below the other where there is no room.
function lineDifference(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) ++start;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) ++end;
  const rows = before.slice(0, start).map((_, at) => [at, at]);
  const [n, m] = [before.length - start - end, after.length - start - end];
  // The longest common subsequence of what is left; beyond a few thousand lines all of it counts as replaced.
  if (n * m <= 4e6) {
    const longest = Array.from({length: n + 1}, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; --i) {
      for (let j = m - 1; j >= 0; --j) {
        longest[i][j] = before[start + i] === after[start + j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < n || j < m) {
      if (i < n && j < m && before[start + i] === after[start + j]) rows.push([start + i++, start + j++]);
      else if (i < n && (j === m || longest[i + 1][j] >= longest[i][j + 1])) rows.push([start + i++, null]);
      else rows.push([null, start + j++]);
    }
  } else {
    for (let i = 0; i < n; ++i) rows.push([start + i, null]);
    for (let j = 0; j < m; ++j) rows.push([null, start + j]);
  }
  for (let at = end; at > 0; --at) rows.push([before.length - at, after.length - at]);
  return rows;
}

// Removals and the insertions after them in the same rows.
function besideEachOther(rows) {
  const result = [];
  for (let at = 0; at < rows.length;) {
    if (rows[at][0] !== null && rows[at][1] !== null) {
      result.push(rows[at++]);
      continue;
    }
    const [gone, come] = [[], []];
    for (; at < rows.length && (rows[at][0] === null || rows[at][1] === null); ++at) {
      if (rows[at][0] !== null) gone.push(rows[at][0]);
      else come.push(rows[at][1]);
    }
    for (let one = 0; one < Math.max(gone.length, come.length); ++one) result.push([gone[one] ?? null, come[one] ?? null]);
  }
  return result;
}

function differenceTable(caption, before, after, narrow) {
  const context = 3;
  const plain = lineDifference(before, after);
  const rows = narrow ? plain : besideEachOther(plain);
  const same = ([old, now]) => old !== null && now !== null && before[old] === after[now];
  const side = (line, text, sign, kind) => [
    element("td", {class: `line ${kind}`}, line === null ? "" : String(line + 1)),
    element("td", {class: `sign ${kind}`}, sign),
    element("td", {class: kind}, text),
  ];
  const draw = (row) => {
    const [old, now] = row;
    if (narrow) {
      const kind = same(row) ? "" : old === null ? "added" : "removed";
      return element("tr", {}, ...side(now ?? old, old === null ? after[now] : before[old], same(row) ? "" : old === null ? "+" : "-", kind));
    }
    const [gone, come] = [same(row) || old === null ? "" : "removed", same(row) || now === null ? "" : "added"];
    return element("tr", {},
      ...side(old, old === null ? "" : before[old], gone ? "-" : "", gone),
      ...side(now, now === null ? "" : after[now], come ? "+" : "", come));
  };
  const keep = rows.map(() => false);
  rows.forEach((row, at) => {
    if (!same(row)) for (let one = Math.max(0, at - context); one <= Math.min(rows.length - 1, at + context); ++one) keep[one] = true;
  });
  const lines = element("tbody", {});
  for (let at = 0; at < rows.length;) {
    if (keep[at]) {
      lines.append(draw(rows[at++]));
      continue;
    }
    const first = at;
    while (at < rows.length && !keep[at]) ++at;
    const hidden = rows.slice(first, at);
    const gap = element("tr", {class: "gap"}, element("td", {colspan: narrow ? "3" : "6"},
      element("button", {type: "button", onclick: () => gap.replaceWith(...hidden.map(draw))}, `${hidden.length} lines that are the same`)));
    lines.append(gap);
  }
  // The first row may be one wide cell, so that widths cannot come from it.
  const widths = ["line", "sign", ""].map((kind) => element("col", {class: kind}));
  const columns = narrow ? widths : [...widths, ...widths.map((one) => one.cloneNode())];
  return element("div", {}, element("table", {class: "diff"}, element("caption", {}, caption),
    element("colgroup", {}, ...columns), lines));
}

function drawDifference() {
  const target = body("difference");
  const best = payload.best ? payload.best.replace(/\n$/, "").split("\n") : null;
  const choices = {
    best: ["original and best", () => original && best && [sourceOf(original), best]],
    selected: ["original and the chosen state", () => original && selection.state && [sourceOf(original), sourceOf(selection.state)]],
    step: ["the chosen state and its parent",
      () => selection.state?.parent && [sourceOf(selection.state.parent), sourceOf(selection.state)]],
  };
  if (!original) {
    target.append(note("The run's database is not in its folder; best.diff there has the difference."));
    return;
  }
  const choice = element("select", {id: "difference-of"}, ...Object.entries(choices).map(([name, [label]]) => element("option", {value: name}, label)));
  const place = element("div", {id: "difference-table"});
  const narrow = window.matchMedia("(max-width: 50rem)");
  const draw = () => {
    const [label, texts] = choices[choice.value];
    const pair = texts();
    const which = choice.value === "best" ? "" : ` (state ${selection.state?.id})`;
    place.replaceChildren(!pair ? note("Nothing to compare.")
      : pair[0].join("\n") === pair[1].join("\n") ? note("No line differs.")
        : differenceTable(`${label}${which}; - removed, + added`, ...pair, narrow.matches));
  };
  choice.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  selection.listeners.push(() => { if (choice.value !== "best") draw(); });
  target.append(element("div", {class: "controls"}, element("label", {for: "difference-of"}, "Compare"), choice), place);
  draw();
}
