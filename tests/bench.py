"""What the product promises about speed and weight, measured: make bench. Nothing here is a test: machines differ."""

import json
import statistics
import sys
import time
import urllib.request
from collections.abc import Callable

from playwright.sync_api import Browser, sync_playwright

from app.board.scenes import SCENES
from app.plan.figures import pipeline_figure
from app.runner.fake.request import fake_request
from app.runner.fake.run import run
from app.runner.recordings import can_run
from engine import estimate
from engine.answer import answer
from engine.catalog.scenarios import preset_document
from engine.compute import work as compute
from engine.pipeline.orders import orders_of
from engine.scenario import scenario_from
from engine.step.step import drawn_timeline
from tests.bench_films import all_films
from tests.bench_page import p95, paint, say
from tests.board.films.reading import FILMS
from tests.browser.chromium import launch_options
from tests.server import running

CARD = preset_document()
MOVES = 80


def fresh(work: Callable[[], object], rounds: int = 60) -> list[float]:
    """Times of work with every cache of the engine emptied before.   [ms]"""
    times = []
    for _ in range(rounds):
        for cached in (estimate.estimate, compute.layer_work, compute.head_work, compute.embedding_work):
            cached.cache_clear()
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1e3)
    return times


def engine() -> None:
    scenario = scenario_from(CARD)

    def every_part() -> None:
        found = estimate.estimate(scenario)
        _ = found.stages, found.step, found.alone, found.mfu, found.training

    every_part()
    say("one exact estimate, median", statistics.median(fresh(every_part)), "ms", "< 5")
    whole = fresh(lambda: json.dumps(answer(estimate.estimate(scenario_from(CARD)))))
    say("the same from document to document, every term explained", statistics.median(whole), "ms", "no goal")


LONG = {
    "llama-3-405b, pp 64, zb-v, batch 4,096": {"pp": 64, "schedule": "zb-v", "micro_batches": 4_096},
    "llama-3-405b, pp 128, zb-v, batch 99,968": {"pp": 128, "schedule": "zb-v", "micro_batches": 99_968},
}


def long_pipelines() -> None:
    """What the longest plans take, with every cache empty, and what they leave behind."""
    for words, layout in LONG.items():
        document = {"model": "llama-3-405b", "cluster": "hgx-h100", "gpus": 8 * layout["pp"]}
        scenario = scenario_from(document | {"layout": {"tp": 8, "dp": 1} | layout})
        for cached in (estimate.estimate, orders_of, drawn_timeline):
            cached.cache_clear()
        began = time.process_time()
        found = estimate.estimate(scenario)
        answer(found)
        pipeline_figure(found)
        say(f"{words}: CPU", (time.process_time() - began) * 1e3, "ms", "< 1000")
        held = sum(cached.held_bytes for cached in (estimate.estimate, orders_of, drawn_timeline))
        say(f"{words}: kept", held / 1e6, "MB", "< 5")


def weight(browser: Browser, base: str, path: str) -> tuple[float, list[str]]:
    """What a first visit loads, compressed and with fonts.   [kB, addresses]"""
    context = browser.new_context(viewport={"width": 1920, "height": 1080})
    page = context.new_page()
    sizes: list[float] = []
    urls: list[str] = []
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("request", lambda request: urls.append(request.url))
    page.goto(base + path)
    page.wait_for_load_state("networkidle")
    context.close()
    return sum(sizes) / 1e3, urls


def browser_side(browser: Browser, base: str) -> None:
    home, home_urls = weight(browser, base, "/")
    plan, plan_urls = weight(browser, base, "/plan")
    say("first load of /", home, "kB", "< 200")
    say("first load of /plan, Plotly not asked for", plan, "kB", "< 280")
    asked = [url for url in (*home_urls, *plan_urls) if "plotly" in url]
    print(f"{'Plotly loaded by either':<58} {'yes' if asked else 'no':>9}     (goal no)")
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    page.goto(base + "/plan")
    page.wait_for_load_state("networkidle")
    for name, low, high in (("micro_batch", 0, 3), ("sequence", 11, 14), ("batch", 8, 11), ("tokens", 1, 30)):
        times = paint(page, name, [low + move % (high - low + 1) for move in range(MOVES)])
        say(f"slider {name}: input to painted, median", statistics.median(times), "ms", "no goal")
        say(f"slider {name}: input to painted, p95", p95(times), "ms", "< 50")


POINTED = """async (rounds) => {
  const floor = document.querySelector("topology-floor");
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    floor.light(((round * 37) % floor.data.gpus));
    await new Promise((done) => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel();
      port1.onmessage = done; port2.postMessage(0); }));
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 20));
  }
  floor.light(null);
  return times;
}"""
PLAYED = """async () => {
  const { clock } = document.querySelector("topology-floor");
  const frames = [];
  let last = performance.now();
  clock.toggle();
  await new Promise((done) => {
    const tick = (now) => { frames.push(now - last); last = now; frames.length < 240 ? requestAnimationFrame(tick) : done(); };
    requestAnimationFrame(tick);
  });
  clock.pause();
  return frames.slice(2);
}"""
FLOORS = (
    ("1,024 GPUs", "", "< 80"),
    ("16,384 GPUs", "?model=llama-3-405b&gpus=16384&pp=16&cp=2&batch=2048", "< 200"),
    ("131,072 GPUs", "?model=llama-3-405b&gpus=131072&pp=16&cp=2&batch=8192", "no goal"),
)


def topology(browser: Browser, base: str) -> None:
    """Sliders of the floor, lighting the groups of a GPU, and a step that plays."""
    for words, query, goal in FLOORS:
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(f"{base}/topology{query}")
        page.wait_for_load_state("networkidle")
        for name, low, high in (("nic", 25, 400), ("spine", 1, 7)):
            steps = (
                [low + move * 25 % (high - low + 1) for move in range(40)]
                if name == "nic"
                else [1 + move % 7 for move in range(40)]
            )
            times = paint(page, name, [float(step) for step in steps])
            say(f"floor of {words}, slider {name}: input to painted, median", statistics.median(times), "ms", "no goal")
            say(f"floor of {words}, slider {name}: input to painted, p95", p95(times), "ms", goal)
        say(f"floor of {words}: lighting a GPU's groups, p95", p95(page.evaluate(POINTED, 60)), "ms", "< 50")
        frames = page.evaluate(PLAYED)
        say(f"floor of {words}: a step played, frames a second", 1000 / statistics.median(frames), "", "60")
        page.close()


SMOOTH = """async () => {
  const player = document.querySelector("scene-player");
  const long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" });
  const frames = [];
  let last = performance.now();
  let on = true;
  const tick = (now) => { frames.push(now - last); last = now; if (on) requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  for (let at = 0; at < player.frames.all.length; at++) {
    player.go(at);
    await new Promise((done) => setTimeout(done, 600));
  }
  on = false;
  return { frames: frames.slice(2), long };
}"""


def scenes(browser: Browser, base: str) -> None:
    """Frames a second while each scene of frames moves from one to the next, and tasks over 50 ms."""
    for name in [name for name in SCENES if name not in FILMS]:
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        page.goto(f"{base}/scenes/{name}")
        page.wait_for_load_state("networkidle")
        seen = page.evaluate(SMOOTH)
        say(f"scene {name}: frames a second, median", 1000 / statistics.median(seen["frames"]), "", "60")
        say(f"scene {name}: tasks over 50 ms after the first", max(0, len(seen["long"]) - 1), "", "0")
        page.close()


def one_run(base: str, name: str, knobs: str) -> tuple[float, float]:
    """From the press to the first live step event, and to the end.   [ms]"""
    began, first, request = (
        time.perf_counter(),
        0.0,
        urllib.request.Request(f"{base}/demos/{name}/runs", data=knobs.encode()),
    )
    with urllib.request.urlopen(request) as answer:  # follows to the run's page
        address = answer.url
    with urllib.request.urlopen(f"{address}/events") as stream:
        for line in stream:
            if line.startswith(b"data: step") and not first:
                first = time.perf_counter() - began
            if line.startswith(b"event: over"):
                break
    return first * 1e3, (time.perf_counter() - began) * 1e3


def demos(base: str) -> None:
    """Real processes: cold once, then warm."""
    if not can_run():
        print("demos: no torch here, nothing to measure")
        return
    first, _ = one_run(base, "ddp", "")
    say("demo ddp, 4 ranks, cold: Run to first step", first, "ms", "< 12000")
    runs = [one_run(base, "ddp", "") for _ in range(7)]
    say(
        "demo ddp, 4 ranks, warm: Run to first step, median",
        statistics.median(first for first, _ in runs),
        "ms",
        "< 1000",
    )
    say("demo ddp, 4 ranks, warm: whole run, median", statistics.median(whole for _, whole in runs), "ms", "< 3000")
    began = time.perf_counter()
    for _ in run(fake_request({})):
        pass
    say("1,024 fake ranks, 2 layers a stage, torch imported anew", (time.perf_counter() - began) * 1e3, "ms", "< 8000")
    print(f"{'torch imported by the server':<58} {'yes' if 'torch' in sys.modules else 'no':>9}     (goal no)")


if __name__ == "__main__":
    engine()
    long_pipelines()
    with running() as base, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**launch_options())
        browser_side(chromium, base)
        topology(chromium, base)
        scenes(chromium, base)
        all_films(chromium, base, list(FILMS))
        demos(base)
        chromium.close()
