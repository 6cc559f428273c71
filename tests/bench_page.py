"""How a page is measured: rows of a bench, and the time from an input to what is painted."""

from collections.abc import Sequence

from playwright.sync_api import Page

PAINTED = """async ([name, values]) => {
  const range = document.getElementById(name).closest("slider-field").querySelector("input[type=range]");
  const times = [];
  for (const value of values) {
    const swapped = new Promise((done) => document.addEventListener("htmx:afterSwap", done, { once: true }));
    const began = performance.now();
    range.value = value;
    range.dispatchEvent(new Event("input", { bubbles: true }));
    await swapped;
    await new Promise((done) => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel();
      port1.onmessage = done; port2.postMessage(0); }));
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 40));
  }
  return times;
}"""


def say(what: str, value: float, unit: str, goal: str) -> None:
    print(f"{what:<58} {value:>9,.1f} {unit:<3} (goal {goal})", flush=True)


def paint(page: Page, name: str, values: Sequence[float]) -> list[float]:
    """From a move of a slider to what it changed being painted, a time for each value.   [ms]"""
    return page.evaluate(PAINTED, [name, list(values)])


def p95(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]
