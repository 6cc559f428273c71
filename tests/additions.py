"""Each addition of the README's table, made as its row says in a scratch copy of the tree, and where a user then sees it.

Every addition is a copy of its smallest sibling under a new name. What a recipe changes in files that exist is noted:
the row has to name those files, and no others.
"""

import json
from collections.abc import Callable

from engine.catalog.scenarios import preset_document
from tests.scratch_tree import Ask, Tree

CARD = preset_document()


def formula(tree: Tree) -> list[Ask]:
    file = "engine/run/training.py"
    text = (tree.root / file).read_text(encoding="utf-8")
    start = text[: text.index("def run_usd(")].rindex("@formula(")
    tree.again(file, text[start : text.index("def run_usd(")], "\n@", ("run_usd", "run_usd_again"))
    words = ("formula", "run_usd_again", "gpu_hours=2", "usd_per_gpu_hour=3")
    return [
        Ask(("formulas",), ('"run_usd_again"',)),
        Ask(words, ('"value":6.0',)),
        Ask(("/api/formulas",), ("run_usd_again",)),
    ]


def schedule(tree: Tree) -> list[Ask]:
    folder = "engine/pipeline/schedules"
    tree.copy(
        f"{folder}/gpipe.py",
        f"{folder}/gpipe_again.py",
        ("GPIPE", "GPIPE_AGAIN"),
        ('"gpipe"', '"gpipe-again"'),
        ('"GPipe"', '"GPipe again"'),
        ('torch_name="GPipe again"', 'torch_name=""'),
    )
    tree.edit(
        f"{folder}/__init__.py",
        ("(GPIPE, ", "(GPIPE, GPIPE_AGAIN, "),
        (
            f"from {folder.replace('/', '.')}.gpipe import GPIPE\n",
            "from engine.pipeline.schedules.gpipe import GPIPE\nfrom engine.pipeline.schedules.gpipe_again import GPIPE_AGAIN\n",
        ),
    )
    left_out = "layout.schedule = gpipe-again: "
    return [
        Ask(("/plan?schedule=gpipe-again",), ("GPipe again · 4 stages", '<option value="gpipe-again" selected>')),
        Ask(
            ("/topology?schedule=gpipe-again",),
            (
                "GPipe again",
                *(left_out + who for who in ("Megatron-LM", "torchtitan", "DeepSpeed", "without a pipeline")),
            ),
        ),
        Ask(("/scenes/pp",), ("GPipe again",)),
        Ask(("/scenes/pp/build?stages=3&micro=4&cut=whole",), ("show me GPipe again",)),
        Ask(("/api/openapi.json",), ('"gpipe-again"',)),
        Ask(("schedule", "gpipe-again", "--stages", "4", "--micro-batches", "16"), ('"makespan":57.0',)),
        Ask(("schedule", "--help"), ("gpipe-again",)),
        Ask(("export", "plan.json", "--to", "megatron"), (left_out,)),
    ]


def red_flag(tree: Tree) -> list[Ask]:
    renamed = (
        ("def experts", "def experts_again"),
        ("experts-imbalanced", "experts-again"),
        ("sets the pace", "does it again"),
    )
    tree.again("engine/findings/run.py", "@rule\ndef experts(", "@rule\n", *renamed)
    layout = {"tp": 1, "pp": 1, "ep": 8}
    spread = {**CARD, "model": "mixtral-8x7b", "gpus": 64, "layout": layout}
    return [
        Ask(("POST", "/api/estimate", json.dumps(spread)), ("experts-again",)),
        Ask(("/plan?model=mixtral-8x7b&gpus=64&batch=64&tp=1&pp=1&ep=8",), ("The busiest expert does it again",)),
    ]


def catalogue_entry(tree: Tree) -> list[Ask]:
    catalog = "engine/catalog"
    tree.entry(f"{catalog}/hardware.yaml", "a100-40gb", "a100-again", ("NVIDIA A100", "NVIDIA Again A100"))
    tree.entry(
        f"{catalog}/hardware.yaml",
        "hgx-a100-40gb",
        "hgx-again",
        ("gpu: a100-40gb", "gpu: a100-again"),
        ("HGX A100 40 GB", "HGX again"),
    )
    tree.entry(f"{catalog}/models.yaml", "whiteboard-70b", "whiteboard-again", ("Whiteboard 70B", "Whiteboard again"))
    tree.entry(f"{catalog}/calibration.yaml", "fsdp2", "fsdp2-again", ("FSDP2, eager", "FSDP2 again"))
    row = "  - {stack: fsdp2, gpus: [], "
    tree.edit(
        f"{catalog}/calibration.yaml",
        (
            row,
            "  - {stack: fsdp2-again, gpus: [], precisions: [], g: 1.2, tp: 1, pointwise: 1, "
            'jitter: 0.003, contention: 0, band: 0.3, source: "copied to see whether it is shown"}\n' + row,
        ),
    )
    query = "cluster=hgx-again&model=whiteboard-again&stack=fsdp2-again&gpus=512&batch=512"
    chosen = tuple(f'<option value="{name}" selected>' for name in ("hgx-again", "whiteboard-again", "fsdp2-again"))
    titles = ("HGX again", "Whiteboard again", "FSDP2 again", "one step")
    named = {"model": "whiteboard-again", "cluster": "hgx-again", "stack": "fsdp2-again", "gpus": 512}
    return [
        Ask((f"/plan?{query}",), (*chosen, *titles)),
        Ask((f"/topology?{query}",), (*chosen[:2], "drawing")),
        Ask(("POST", "/api/estimate", json.dumps(named)), ('"memory of NVIDIA Again A100',)),
    ]


def exporter(tree: Tree) -> list[Ask]:
    tree.copy(
        "engine/export/deepspeed.py",
        "engine/export/deep_again.py",
        ('NAME, TITLE, CONFIG = "deepspeed", "DeepSpeed"', 'NAME, TITLE, CONFIG = "deep-again", "Deep again"'),
    )
    tree.edit(
        "engine/export/__init__.py",
        ("import deepspeed, ", "import deep_again, deepspeed, "),
        (
            "        Target(deepspeed",
            "        Target(deep_again.NAME, deep_again.TITLE, deep_again.write),\n        Target(deepspeed",
        ),
    )
    return [
        Ask(("/topology",), ("<summary>Deep again</summary>", "/topology/export/deep-again/ds_config.json")),
        Ask(("/topology/export/deep-again/ds_config.json",), ('"train_batch_size": 512',)),
        Ask(("export", "plan.json", "--to", "deep-again"), ('"target":"deep-again"',)),
        Ask(("export", "--help"), ("deep-again",)),
    ]


def slider(tree: Tree) -> list[Ask]:
    """One that may be left out: nothing but the list of its group knows it."""
    tree.edit(
        "app/plan/form.py",
        (
            '        _amount("price"',
            '        _amount("assumed", "MFU again", ("training", "mfu"), (0.1, 0.9), step=0.05, scale="linear", absent="as computed"),\n'
            '        _amount("price"',
        ),
    )
    return [
        Ask(("/plan",), ('name="assumed"', 'placeholder="as computed"')),
        Ask(("/plan?assumed=0.5",), ("MFU again", 'name="assumed"', "assumed=0.5")),
        Ask(("/plan/working/training.days?assumed=0.5",), ("0.5",)),
        Ask(("/plan/chart/knob?knob=assumed",), ("MFU again, turned through its range",)),
        Ask(("/topology?assumed=0.5",), ("assumed=0.5", '<input type="hidden" name="assumed" value="0.5">')),
        Ask(("/plan?assumed=7",), ("MFU again: must be at most 1",)),
        Ask(("/plan?assumed=x",), ("MFU again: needs a number",)),
    ]


def demo(tree: Tree) -> list[Ask]:
    tree.copy(
        "app/runner/demos/ddp.py",
        "app/runner/demos/ddp_again.py",
        ('name="ddp"', 'name="ddp-again"'),
        ('title="Data parallel (DDP)"', 'title="DDP again"'),
        ("    predict=predict,\n", '    predict=predict,\n    unrecorded="it is new",\n'),
    )
    tree.copy("app/runner/strategies/ddp.py", "app/runner/strategies/ddp_again.py")
    tree.edit(
        "app/runner/catalog.py",
        ("import cp, ddp, ", "import cp, ddp, ddp_again, "),
        ("        ddp.DEMO,\n", "        ddp.DEMO,\n        ddp_again.DEMO,\n"),
    )
    run = ("demo", "ddp-again", "--ranks", "2", "layers=1", "steps=2", "hidden=64")
    return [
        Ask(("/demos",), ("/demos/ddp-again", "DDP again")),
        Ask(("/demos/ddp-again",), ("DDP again", 'name="bucket_kib"')),
        Ask(run, ('"event":"run.done"', '"ok":true'), needs_torch=True),
    ]


def scene(tree: Tree) -> list[Ask]:
    folder = "app/board/scenes"
    tree.copy(
        f"{folder}/ddp",
        f"{folder}/ddp_again",
        ("scenes.ddp.", "scenes.ddp_again."),
        ('"ddp"', '"ddp-again"'),
        ("DDP = Scene(", "DDP_AGAIN = Scene("),
        ('TITLE = "', 'TITLE = "Again: '),
    )
    line = "from app.board.scenes.ddp.scene import DDP\n"
    tree.edit(
        f"{folder}/__init__.py",
        (line, f"{line}from app.board.scenes.ddp_again.scene import DDP_AGAIN\n"),
        ("(DDP, ", "(DDP, DDP_AGAIN, "),
    )
    return [
        Ask(("/scenes",), ("/scenes/ddp-again",)),
        Ask(("/scenes/ddp-again?gpus=8",), ("Again: ", "<svg", "/present/ddp-again", "/demos/ddp-again")),
        Ask(("/scenes/ddp-again/frames/1.svg",), ("<svg",)),
        Ask(("/present/ddp-again",), ("Again: ",)),
        Ask(("/gallery",), ("Again: ",)),
    ]


def lesson(tree: Tree) -> list[Ask]:
    tree.copy(
        "app/content/lessons/10-experts.md", "app/content/lessons/99-experts-again.md", ("title: ", "title: Again, ")
    )
    return [
        Ask(("/lessons",), ("/lessons/experts-again", "Again, ")),
        Ask(("/lessons/experts-again",), ("Again, ", "<math")),
        Ask(("/present/experts-again",), ("Again, ",)),
    ]


def words(tree: Tree) -> list[Ask]:
    content = "app/content"
    tree.entry(f"{content}/glossary.yaml", "rank", "rank again", ("also: [ranks, global rank]", "also: []"))
    tree.entry(f"{content}/sources.yaml", "megatron", "megatron-again", ("Shoeybi et al.", "Again et al."))
    tree.entry(
        f"{content}/exercises.yaml",
        "forgotten-optimizer",
        "forgotten-again",
        ("A model that almost fits", "Almost fits again"),
    )
    return [
        Ask(("/glossary",), ("rank again",)),
        Ask(("/sources",), ("Again et al.",)),
        Ask(("/lessons/exercises",), ("Almost fits again",)),
        Ask(("/lessons/exercises/forgotten-again?answer=only_weights",), ("Almost fits again",)),
    ]


def figure(tree: Tree) -> list[Ask]:
    tree.copy(
        "app/board/figures/memory_bars.py",
        "app/board/figures/memory_bars_again.py",
        ("def memory_bars(", "def memory_bars_again("),
        ("What one GPU holds", "What it holds again"),
    )
    tree.edit(
        "app/plan/figures.py",
        (
            "import memory_bars\n",
            "import memory_bars\nfrom app.board.figures.memory_bars_again import memory_bars_again\n",
        ),
        (
            "    return memory_figure(found, query), ",
            '    again = memory_bars_again(found.stages, found.capacity_bytes, name="memory-again")\n    return again, memory_figure(found, query), ',
        ),
    )
    return [Ask(("/gallery",), ("What it holds again", "memory-again"))]


def page(tree: Tree) -> list[Ask]:
    tree.copy("app/home", "app/again", ('get("/")', 'get("/again")'), ("home/page.html", "again/page.html"))
    tree.copy("templates/home", "templates/again", ("<h1", "<h1 data-again"))
    tree.edit(
        "app/main.py",
        (
            "from app.home import page as home\n",
            "from app.again import page as again\nfrom app.home import page as home\n",
        ),
        ("    home,\n", "    home,\n    again,\n"),
    )
    return [Ask(("/again",), ("<h1 data-again",))]


# first word of a row of the table -> how it is done
RECIPES: dict[str, Callable[[Tree], list[Ask]]] = {
    "a formula": formula,
    "a pipeline schedule": schedule,
    "a red flag": red_flag,
    "a GPU, a cluster, a model, a stack": catalogue_entry,
    "an export": exporter,
    "a slider": slider,
    "a demo": demo,
    "a scene": scene,
    "a lesson": lesson,
    "a term, a source, an exercise": words,
    "a figure": figure,
    "a page": page,
}
