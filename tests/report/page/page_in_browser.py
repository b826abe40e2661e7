#!/usr/bin/env python3
"""Opens pages of runs in headless Chromium: are they whole, quiet, usable by keyboard, readable at two widths, dark and
light, safe against hostile texts, and do they hold ten thousand states?

    page_in_browser.py --program build/release/bin/regraph-search [--keep FOLDER] [RUN ...]

RUN: directories of runs to look at besides those that are made up. --keep: screenshots and pages stay there. Exit code
77 where there is no Chromium (tools/setup --browser).
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser as chromium
import sample_runs

WIDTHS = (400, 1400)
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def quiet(browser, name):
    expect(not browser.complaints, f"{name}: the page complains: {browser.complaints}")
    asked = [url for url in browser.requests if not (url.startswith("file:") and url.endswith("/report.html"))]
    expect(not asked, f"{name}: the page asks for {asked}")


def look_at(browser, name, page, keep):
    """Both widths, dark and light."""
    papers = set()
    for width in WIDTHS:
        for dark in (False, True):
            browser.look(width, dark)
            browser.open(page)
            shown = f"{name}, {width} pixels, {'dark' if dark else 'light'}"
            empty = browser.evaluate("[...document.querySelectorAll('main > section:not([hidden])')].filter(one => "
                                     "one.querySelector('.body').textContent.trim().length < 10).map(one => one.id).join()")
            expect(empty == "", f"{shown}: empty sections: {empty}")
            wide = browser.evaluate("document.documentElement.scrollWidth")
            expect(wide <= width, f"{shown}: the page is {wide} pixels wide")
            papers.add((dark, browser.evaluate("getComputedStyle(document.body).backgroundColor")))
            quiet(browser, shown)
            if keep:
                browser.screenshot(keep / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    expect(len(papers) == 2, f"{name}: dark and light have the papers {papers}")
    before = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.evaluate("document.getElementById('theme').click()")
    expect(before != browser.evaluate("getComputedStyle(document.body).backgroundColor"), f"{name}: the button changes no color")


def heading(browser):
    return browser.evaluate("document.querySelector('#state h3').textContent")


def use_keyboard(browser, name, page):
    """The graph, the timeline and the list, without a mouse."""
    browser.look(1400, False)
    browser.open(page)
    reached = set()
    for _ in range(400):
        browser.press("Tab")
        here = browser.evaluate("(({id, tagName}) => id || tagName)(document.activeElement)")
        reached.add(here)
        if here == "BODY":
            break
        outline = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        expect(outline not in ("none", ""), f"{name}: the focus is not to be seen on {here}")
    for wanted in ("theme", "tree", "verdict", "filter", "difference-of", "CANVAS"):
        expect(wanted in reached, f"{name}: Tab never reaches {wanted}: {sorted(reached)}")
    browser.evaluate("document.getElementById('tree').focus()")
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "n", "p"):
        browser.press(key)
        seen.append(heading(browser))
    expect(seen[0].endswith("the original"), f"{name}: Home shows '{seen[0]}'")
    expect(len(set(seen[:3])) == 3 and seen[3] == seen[1], f"{name}: arrow keys show {seen}")
    expect(seen[4].endswith("the best") or browser.evaluate("bestState === null"), f"{name}: End shows '{seen[4]}'")
    expect(seen[5] != seen[4] or seen[6] != seen[4], f"{name}: N and P show {seen}")
    browser.evaluate("document.querySelector('#timeline canvas').focus()")
    before = heading(browser)
    browser.press("ArrowLeft")
    expect(heading(browser) != before, f"{name}: the timeline's arrow keys show nothing else")
    browser.evaluate("document.querySelector('#list tbody button').focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    chosen = browser.evaluate("document.activeElement.textContent")
    expect(chosen != "0" and heading(browser).startswith(f"State {chosen}"), f"{name}: state {chosen} of the list shows '{heading(browser)}'")
    expect(browser.evaluate("document.querySelector('#list tr[aria-selected=true]') !== null"), f"{name}: the list marks nothing")
    widths = browser.evaluate("[...document.querySelectorAll('.diff tr:not(.gap)')].slice(0, 1).flatMap(row => [...row.cells].map(one => one.offsetWidth))")
    expect(not widths or widths[0] < 100 < widths[2], f"{name}: the columns of the difference are {widths} pixels wide")
    durations = browser.evaluate("[999.7e-6, 1e-3, 0.9994e-3, 2.5e-9, 3e-12].map(duration).join()")
    expect(durations == "1.00 ms,1.00 ms,999 us,2.50 ns,0.00300 ns", f"{name}: durations are {durations}")
    browser.evaluate("(select => { select.value = 'step'; select.dispatchEvent(new Event('change')); })(document.getElementById('difference-of'))")
    quiet(browser, f"{name}, by keyboard")


def stay_clean(browser, page):
    """Of hostile texts all is text."""
    browser.look(1400, False)
    browser.open(page)
    for key in ("Home", "ArrowRight"):
        browser.evaluate("document.getElementById('tree').focus()")
        browser.press(key)
    browser.evaluate("document.querySelectorAll('#state details').forEach(one => { one.open = true; })")
    expect(browser.evaluate("window.taken === undefined"), "hostile: a script ran")
    expect(browser.evaluate("document.querySelectorAll('img, script:not([id])').length") == 2, "hostile: elements were made")
    shown = browser.evaluate("document.querySelector('#state').textContent")
    expect(sample_runs.HOSTILE in shown, "hostile: the text is not shown as it is")
    quiet(browser, "hostile")


def hold_many(browser, page):
    browser.look(1400, False)
    seconds = browser.open(page)
    drawn = browser.evaluate("Number(document.documentElement.dataset.ready)")
    key = browser.evaluate("(() => { const tree = document.getElementById('tree'); tree.focus(); const start = performance.now();"
                           "for (let i = 0; i < 20; ++i) tree.dispatchEvent(new KeyboardEvent('keydown', {key: 'n'}));"
                           "return (performance.now() - start) / 20; })()")
    count = browser.evaluate("states.length")
    expect(count == 10_000, f"large: the page has {count} states")
    print(f"10000 states: {page.stat().st_size / 1e6:.2f} MB, open after {seconds:.2f} s ({drawn / 1e3:.2f} s of the page's own clock), "
          f"{key:.1f} ms from one state to the next")
    quiet(browser, "large")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="regraph-search")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("runs", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    program = chromium.find_browser()
    if program is None:
        print("skipped: no Chromium here; tools/setup --browser installs it")
        sys.exit(77)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="regraph-pages-") as temporary:
        folder = pathlib.Path(temporary)
        pages = {}
        for name, make in (("measured", sample_runs.measured), ("hostile", sample_runs.hostile), ("large", sample_runs.large)):
            make(folder / name)
            subprocess.run([options.program, "--report", folder / name], check=True, stdout=subprocess.DEVNULL)
            pages[name] = folder / name / "report.html"
        # A search that was killed leaves its database alone; another has lost it.
        for name, lost in (("killed", "result.json"), ("lost", "run.db")):
            sample_runs.measured(folder / name)
            (folder / name / lost).unlink()
            subprocess.run([options.program, "--report", folder / name], check=True, stdout=subprocess.DEVNULL)
            pages[name] = folder / name / "report.html"
        for run in options.runs:
            pages[run.name] = run / "report.html"
        browser = chromium.Browser(program)
        try:
            for name, page in pages.items():
                if name in ("killed", "lost"):
                    look_at(browser, name, page, options.keep)
                elif name not in ("large", "hostile"):
                    look_at(browser, name, page, options.keep)
                    use_keyboard(browser, name, page)
                    print(f"{name}: {page.stat().st_size / 1e6:.2f} MB")
            stay_clean(browser, pages["hostile"])
            hold_many(browser, pages["large"])
            if options.keep:
                browser.screenshot(options.keep / "large-1400-light.png")
        finally:
            browser.close()
    print("page in browser:", f"{len(failures)} failures" if failures else "all is well")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
