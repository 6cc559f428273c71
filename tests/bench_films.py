"""What films promise about weight and speed, measured: part of make bench. Nothing here is a test: machines differ.

python -m tests.bench_films            all films
python -m tests.bench_films zero       one of them
"""

import json
import statistics
import sys
import zlib

from playwright.sync_api import Browser, Page, sync_playwright

from app.board.film.data import film_data
from app.board.film.film import Film
from app.board.scenes import SCENES
from engine.language.inputs import Choice
from tests.bench_page import p95, paint, say
from tests.board.films.reading import FILMS, FORMS, film_of, films
from tests.browser.chromium import launch_options
from tests.server import running

ROUNDS, ROUND_S = 5, 4  # of playing, each from another place: the median counts
MOVES = 24  # of a knob, each to a value that nobody asked for before
PLAYED = """async ([start, seconds]) => {
  const player = document.querySelector("film-player");
  const long = [];
  const watch = new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration)));
  watch.observe({ type: "longtask" });
  player.seek(start);
  await new Promise((done) => setTimeout(done, 300));
  long.length = 0;
  player.clock.rests = false;
  player.play();
  const began = performance.now();
  let frames = 0;
  await new Promise((done) => {
    const tick = (now) => (now - began < seconds * 1000 ? (frames++, requestAnimationFrame(tick)) : done());
    requestAnimationFrame(tick);
  });
  const passed = (performance.now() - began) / 1000;
  player.clock.pause();
  watch.disconnect();
  return [frames / passed, long.length];
}"""
SCRUBBED = """(rounds) => {
  const { clock } = document.querySelector("film-player");
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const t = ((round * 37) % rounds) / rounds * clock.film.length;
    const began = performance.now();
    clock.set(t);
    document.querySelector(".film-drawing").getBoundingClientRect(); // its layout too
    times.push(performance.now() - began);
  }
  return times;
}"""
STARTED = """async () => {
  const player = document.querySelector("film-player");
  player.seek(0);
  const began = performance.now();
  player.querySelector("[data-go=play]").click();
  await new Promise((done) => {
    const look = () => (player.clock.t > 0 ? done() : requestAnimationFrame(look));
    requestAnimationFrame(look);
  });
  const passed = performance.now() - began;
  player.clock.pause();
  return passed;
}"""


def sent_kb(film: Film, form: str) -> float:
    """A composition as it is sent, compressed.   [kB]"""
    drawn = getattr(film, form).at(0.0)
    data = json.loads(film_data(film))[form]
    return len(zlib.compress((drawn + json.dumps(data, separators=(",", ":"))).encode(), 6)) / 1e3


def weight(name: str) -> dict[str, str]:
    """Says what is sent; gives the setting with the most actors."""
    for form in FORMS:
        say(f"film {name}, {form}", sent_kb(film_of(name), form), "kB", "<= 40")
        worst = max(sent_kb(film, form) for _, film in films(name))
        say(f"film {name}, {form}, at the worst end of a knob", worst, "kB", "<= 40")
    most, given = max(((len(film.wide.actors), given) for given, film in films(name)), key=lambda pair: pair[0])
    say(f"film {name}: actors", len(film_of(name).wide.actors), "", "no goal")
    say(f"film {name}: actors at the most", most, "", "no goal")
    return given


def opened(browser: Browser, base: str, name: str, given: dict[str, str]) -> Page:
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    query = "&".join(f"{knob}={text}" for knob, text in given.items())
    page.goto(f"{base}/scenes/{name}?{query}")
    page.wait_for_load_state("networkidle")
    return page


def motion(page: Page, name: str, words: str, length: float) -> None:
    """Frames a second, long tasks, and how soon a seek and Play show."""
    starts = [length * at / (ROUNDS + 1) for at in range(ROUNDS)]
    rounds = [page.evaluate(PLAYED, [start, ROUND_S]) for start in starts]
    say(
        f"film {name}{words}: frames a second, median of {ROUNDS}",
        statistics.median(each[0] for each in rounds),
        "",
        ">= 55",
    )
    say(f"film {name}{words}: tasks over 50 ms", sum(each[1] for each in rounds), "", "0")
    say(f"film {name}{words}: scrub, p95", p95(page.evaluate(SCRUBBED, 240)), "ms", "< 16")
    starting = [page.evaluate(STARTED) for _ in range(ROUNDS)]
    say(f"film {name}{words}: Play to first movement", statistics.median(starting), "ms", "< 100")


def knobs(page: Page, name: str) -> None:
    """From a turned knob to a painted film, over values that are not kept yet."""
    for knob in SCENES[name].knobs:
        if isinstance(knob, Choice) or knob.kind != "slider":
            continue
        slider = page.locator(f"#{knob.name}").locator("xpath=ancestor::slider-field").locator("input[type=range]")
        low, high, step = (float(slider.get_attribute(each) or 1) for each in ("min", "max", "step"))
        count = min(MOVES, round((high - low) / step) + 1)
        values = [low + step * round((high - low) / step * at / max(1, count - 1)) for at in range(count)]
        say(f"film {name}, knob {knob.name}: input to painted, p95", p95(paint(page, knob.name, values)), "ms", "< 60")


def all_films(browser: Browser, base: str, names: list[str]) -> None:
    for name in names:
        most = weight(name)
        settings = {"": {}} | ({" at its most actors": most} if most else {})
        for words, given in settings.items():
            page = opened(browser, base, name, given)
            motion(page, name, words, film_of(name, **given).length)
            if not given:
                knobs(page, name)
            page.close()


if __name__ == "__main__":
    with running() as base, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**launch_options())
        all_films(chromium, base, sys.argv[1:] or list(FILMS))
        chromium.close()
