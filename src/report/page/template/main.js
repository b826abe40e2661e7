// Draws the page once, from top to bottom, and again where colors change.
function drawContents() {
  const contents = document.getElementById("contents");
  for (const section of document.querySelectorAll("main > section")) {
    if (section.hidden) continue;
    contents.append(element("li", {}, element("a", {href: `#${section.id}`}, section.querySelector("h2").textContent)));
  }
}

function repaint() {
  readPalette();
  tree.draw();
  timeline.draw();
}

function setUpTheme() {
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Switch to light colors" : "Switch to dark colors");
    repaint();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();
}

const kernelName = result?.kernel ?? run.kernel;
document.title = `${kernelName} - ReGraph run`;
document.getElementById("title").textContent = `${kernelName} on ${result?.device ?? run.device}`;
document.getElementById("made").textContent = `Written by regraph-search${run.version ? ` ${run.version}` : ""}. This page asks nothing of the network.`;
// Of a run that has no result these would say nothing.
if (!result) for (const id of ["ladder", "times", "roofline", "counters", "launch"]) document.getElementById(id).hidden = true;
readPalette();
for (const draw of [drawSummary, drawLadder, drawTimes, drawRoofline, drawCounters, drawLaunch, drawChecked, drawYours, drawTimeline, drawTree,
  drawStateList, drawDifference, drawModel, drawSearch, drawContents, setUpTheme]) draw();
choose(bestState ?? original);
document.documentElement.dataset.ready = String(Math.round(performance.now()));
