"""Pictures of every page, as screenshots/<page>-<width>-<scheme>.png: make screenshots"""

from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from app.board.scenes import SCENES
from app.lessons.lesson import lessons
from app.plan.presets import PLANS, preset_queries
from tests.browser.chromium import launch_options
from tests.server import running

FOLDER = Path(__file__).parent.parent / "screenshots"
SIZES = ((1920, 1080), (1024, 768), (390, 844))
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SLIP = "slip"
CONTACT = "contact-sheet"  # every frame of every scene, and every figure


def pages() -> dict[str, str]:
    """The address of each picture."""
    plans = {
        "plan-" + name.lower().replace(",", "").replace(" ", "-"): f"/plan?{query}"
        for name, query in preset_queries(PLANS).items()
    }
    scenes = {f"scene-{name}": f"/scenes/{name}?frame=3" for name in SCENES}
    taught = {f"lesson-{lesson.number:02}": lesson.href for lesson in lessons()}
    rest = {"plan-refused": "/plan?batch=513", SLIP: "/plan", "docs": "/docs", "404": "/nothing", "lessons": "/lessons"}
    floors = {
        "topology": "/topology",
        "topology-lost": "/topology?lost=9",
        "topology-broken": "/topology?rank_order=cp-ep-dp-tp-pp",
        "topology-16k": "/topology?model=llama-3-405b&gpus=16384&pp=16&cp=2&batch=2048&colour=pp",
        "topology-131k": "/topology?model=llama-3-405b&gpus=131072&pp=16&cp=2&batch=8192&colour=pp",
        "topology-racks": "/topology?cluster=gb200-nvl72&gpus=1152&batch=576",
        "topology-roce": "/topology?cluster=hgx-h100-roce",
    }
    real = {
        "demos": "/demos",
        "demo": "/demos/ddp",
        "demo-refused": "/demos/ddp?ranks=3",
        "trace": "/demos/fake",
        "trace-recorded": "/demos/fake/recorded/llama-3-70b-1024",
    }
    more = {
        "scenes": "/scenes",
        CONTACT: "/gallery",
        "build": "/scenes/pp/build?moves=0FFFF1FF",
        "exercises": "/lessons/exercises",
        "glossary": "/glossary",
        "sources": "/sources",
        "stage": "/present/zero?frame=5",
    }
    return {"home": "/", **plans, **floors, **real, **rest, **more, **scenes, **taught}


def open_slip(page: Page) -> None:
    page.locator(".plan-answer a.value").first.click()
    page.locator("#plan-working h2").wait_for()


def take(browser: Browser, base: str, size: tuple[int, int], scheme: Scheme) -> None:
    """All pages in one size and scheme."""
    width, height = size
    context = browser.new_context(
        base_url=base, viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    for name, path in pages().items():
        page.goto(path)
        page.wait_for_load_state("networkidle")
        if name == SLIP:
            open_slip(page)
        page.screenshot(path=FOLDER / f"{name}-{width}-{scheme}.png", full_page=name != SLIP)
    context.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with running() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        for size in SIZES:
            for scheme in SCHEMES:
                take(browser, base, size, scheme)
        browser.close()
    print(f"{len(pages()) * len(SIZES) * len(SCHEMES)} pictures in {FOLDER.name}/")


if __name__ == "__main__":
    main()
