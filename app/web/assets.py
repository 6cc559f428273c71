"""What the browser loads: our own CSS and JS, and libraries and fonts found inside installed Python packages.

Each file is checked, reduced to what the pages need, compressed once and named by its content, so that a browser may
keep it for ever. Nothing is fetched and no carrier is imported. A start builds only what is missing or has changed;

    python -m app.web.assets

builds everything; -v says what becomes of each file.
"""

import gzip
import hashlib
import io
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import brotli
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from app.settings import Settings, settings
from engine.language.refusal import Refusal

RECIPE = "2"  # change it when the way files are made changes: everything is then built again
BROTLI_QUALITY = 9  # 11 saves a tenth more of Plotly, for ten seconds more
MEDIA = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "woff2": "font/woff2"}
LEGAL = [0, 13, 14]  # names a subset keeps: copyright, licence, its address; OFL reserves the name of some fonts
ENCODINGS = {"br": ".br", "gzip": ".gz"}  # gzip too: browsers offer br to https and localhost only

SIGNS = "\u00a0\u202f·×÷±µ°½–—…‘’“”←↑→↓−≈≠≤≥√∞∑"
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃"
GREEK = "ΓΔΘΛΠΣΦΨΩαβγδεηθκλμνπρστφψω"
ASCII = "".join(map(chr, range(0x20, 0x7F)))
LATIN = ASCII + "".join(map(chr, range(0xA0, 0x100)))
ITALIC = "ℎ" + "".join(
    map(chr, (*range(0x1D434, 0x1D455), *range(0x1D456, 0x1D468), *range(0x1D6E2, 0x1D71C)))
)  # where MathML finds <mi>x</mi>
MATH = ASCII + SIGNS + POWERS + GREEK + ITALIC + "⋅∕∏∫∂∈∉⊂∪∩∀∃⌈⌉⌊⌋⟨⟩‖∣′″⇒⇐⇔↦⋯⋮⋱⏞⏟∼∝≡≪≫ℝ⊙⊗⊕\u2061\u2062\u2063\u2064"


@dataclass(frozen=True)
class Carried:
    """A file inside an installed package. `keep` lists the characters of a font that pages use; empty: keep it whole."""

    name: str
    distribution: str
    file: str
    sha256: str
    keep: str = ""
    features: tuple[str, ...] = ("kern", "liga", "mark", "mkmk")


APART = ("kern", "mark", "mkmk")  # without ligatures: Kalam's fl reads as an H
KALAM, ATKINSON, PLEX = "fontpkg-kalam", "fontpkg-atkinson-hyperlegible", "fontpkg-ibm-plex-mono"
STIX = ("ziamath", "STIXTwoMath-Regular.ttf", "8f42cb183a85043a4dc3f8e41ac3821eb27bf178d68ace929ba439523622323c")
CARRIED = (
    Carried("htmx.js", "django-htmx", "htmx-2.min.js",
            "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de"),
    Carried("plotly.js", "plotly", "plotly.min.js",
            "3b6e15d45dbb7fca5bd2094291e961ddc5472cd887009e6009a56dab668d721f"),
    Carried("kalam.woff2", KALAM, "Kalam-Regular.ttf",
            "57cecb63d4608019371954274ae1d8c397764debd5b19d4a33c1efa4dc923c0b", ASCII + SIGNS, APART),
    Carried("kalam-bold.woff2", KALAM, "Kalam-Bold.ttf",
            "2f6576601db015d4f6c08678120277fc8510b98c06e932ce7a6a9cbff4cbdded", ASCII + SIGNS, APART),
    Carried("atkinson.woff2", ATKINSON, "AtkinsonHyperlegible-Regular.ttf",
            "7fb917c89019896d0b52ee84b7cbb3304c18cb90b19a62f5e32712bd23e97669", LATIN + SIGNS),
    Carried("atkinson-bold.woff2", ATKINSON, "AtkinsonHyperlegible-Bold.ttf",
            "5a3b0c8cc8ca545155150b4512a1fa248298df121c50d6557e651e61fbdab92f", LATIN + SIGNS),
    Carried("plex-mono.woff2", PLEX, "IBMPlexMono-Regular.ttf",
            "6a3412f058c7d8dfd9170c41e85ade48e5156ecb89356110ca57a0a27734af46", ASCII + SIGNS + POWERS),
    Carried("plex-mono-semibold.woff2", PLEX, "IBMPlexMono-SemiBold.ttf",
            "d3c38e55c78f5b0f28009fddba4834ec503278936a5986032424c9bd2d23aa46", ASCII + SIGNS + POWERS),
    Carried("signs.woff2", *STIX, SIGNS + POWERS + GREEK),
    Carried("stix-math.woff2", *STIX, MATH, ("*",)),
)  # fmt: skip


@dataclass(frozen=True)
class Assets:
    """The built files: `names` maps the name a template uses to the name by content."""

    folder: Path
    names: dict[str, str]

    def url(self, name: str) -> str:
        """The address of a file, for a template; an unknown name is an error of ours.

        >>> Assets(Path("."), {"board.css": "board.1a2b3c4d.css"}).url("board.css")
        '/assets/board.1a2b3c4d.css'
        """
        return f"/assets/{self.names[name]}"


class ChangedCarrier(RuntimeError):
    """A package carries another file than the one this version was written for."""


def build(place: Settings, say: Callable[[str], None] = lambda line: None, afresh: bool = False) -> Assets:
    """All files, building those that are missing or whose origin changed.

    place    folders to read our own files from and to write to
    say      takes one line for each file that is built
    afresh   build everything, whatever is there
    """
    folder = place.cache / "assets"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _built_in(folder, place.static, say, afresh)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise Refusal(
            "SHARDBOARD_CACHE", None, f"{folder} cannot be written: {why}; name another folder there"
        ) from None


def _built_in(folder: Path, static: Path, say: Callable[[str], None], afresh: bool) -> Assets:
    kept = {} if afresh else _manifest(folder)
    made: dict[str, dict[str, str]] = {}
    for carried in CARRIED:
        made[carried.name] = _built(folder, kept, carried) or {
            "key": _key(carried),
            "file": _write(folder, carried.name, _content(carried, say), say),
        }
    names = {name: record["file"] for name, record in made.items()}
    for name, text in _own_files(static):
        names[name] = _write(folder, name, _with_addresses(text, names).encode(), say)
    if made != kept:  # a cache that is whole may lie where nothing can be written
        _replace(folder / "manifest.json", json.dumps(made, indent=1).encode())
    return Assets(folder, names)


def unbuilt(place: Settings) -> list[Carried]:
    """The libraries and fonts that the next start has still to make."""
    folder = place.cache / "assets"
    kept = _manifest(folder)
    return [carried for carried in CARRIED if not _built(folder, kept, carried)]


def _key(carried: Carried) -> str:
    """What a built file depends on."""
    cut = _digest((carried.keep + str(carried.features)).encode())
    return f"{RECIPE} {carried.sha256} {metadata.version(carried.distribution)} {cut}"


def _built(folder: Path, kept: dict[str, dict[str, str]], carried: Carried) -> dict[str, str] | None:
    """The record of a file that is there and would be made the same again."""
    known = kept.get(carried.name)
    return known if known and known["key"] == _key(carried) and (folder / known["file"]).exists() else None


def _manifest(folder: Path) -> dict[str, dict[str, str]]:
    try:
        return json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        return {}


def origin(carried: Carried) -> bytes:
    """The file as its package carries it, or ChangedCarrier."""
    found = [path for path in metadata.files(carried.distribution) or () if path.name == carried.file]
    if not found:
        raise ChangedCarrier(f"{carried.distribution} carries no {carried.file}; reinstall it")
    data = Path(str(found[0].locate())).read_bytes()
    if hashlib.sha256(data).hexdigest() != carried.sha256:
        raise ChangedCarrier(f"{carried.file} of {carried.distribution} is not the file this version was checked with")
    return data


def _content(carried: Carried, say: Callable[[str], None]) -> bytes:
    data = origin(carried)
    return _subset(carried, data, say) if carried.keep else data


def _subset(carried: Carried, data: bytes, say: Callable[[str], None]) -> bytes:
    """The font reduced to the characters kept. What it lacks falls to the next family of the CSS stack."""
    from fontTools import subset  # a tenth of a second that a start with a full cache need not spend
    from fontTools.ttLib import TTFont

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it reports each table it drops
    font = TTFont(io.BytesIO(data), recalcTimestamp=False)  # the same font gives the same bytes
    lacking = sorted(set(carried.keep) - set(map(chr, font.getBestCmap() or ())) - set(map(chr, range(0xA0))))
    if lacking:
        say(f"  {carried.name} lacks {''.join(lacking)}")
    options = subset.Options(
        layout_features=list(carried.features), hinting=False, flavor="woff2", notdef_outline=True, name_IDs=LEGAL
    )
    cutter = subset.Subsetter(options)
    cutter.populate(text=carried.keep)
    cutter.subset(font)
    out = io.BytesIO()
    font.flavor = "woff2"
    font.save(out)
    return out.getvalue()


def _own_files(static: Path) -> list[tuple[str, str]]:
    """Our files in an order in which each comes after those it names: pictures, scripts, the one style sheet."""
    pictures = sorted(static.glob("*.svg"))
    scripts = {path.name: path.read_text() for path in sorted(static.glob("js/**/*.js"))}
    styles = sorted(static.glob("css/**/*.css"), key=lambda path: (path.stem != "tokens", path))
    sheet = re.sub(r"/\*.*?\*/\s*", "", "\n".join(path.read_text() for path in styles), flags=re.DOTALL)
    named = {name: [other for _, other in _NAMED.findall(text) if other in scripts] for name, text in scripts.items()}
    ordered = [(name, scripts[name]) for name in TopologicalSorter(named).static_order()]
    return [*((path.name, path.read_text()) for path in pictures), *ordered, ("board.css", sheet)]


_NAMED = re.compile(r'"(\./)?(?:elements/)?([\w-]+\.\w+)"')  # a file of ours, quoted


def _with_addresses(text: str, names: dict[str, str]) -> str:
    """Our text with each quoted file name replaced by its name by content: all files lie in one folder.

    >>> _with_addresses('import "./elements/slider.js"; url("kalam.woff2")', {"slider.js": "slider.1.js"})
    'import "./slider.1.js"; url("kalam.woff2")'
    """

    def address(match: re.Match[str]) -> str:
        known = names.get(match[2])
        return f'"./{known}"' if known else match[0]

    return _NAMED.sub(address, text)


def _write(folder: Path, name: str, data: bytes, say: Callable[[str], None]) -> str:
    """Write a file under its name by content, with its compressed forms; nothing to do when it is there."""
    stem, _, kind = name.rpartition(".")
    file = f"{stem}.{_digest(data)}.{kind}"
    if (folder / file).exists():
        return file
    began = time.perf_counter()
    forms = {"": data}
    if kind != "woff2":  # compressed inside
        forms |= {".br": brotli.compress(data, quality=BROTLI_QUALITY), ".gz": gzip.compress(data, 9, mtime=0)}
    for ending, form in reversed(forms.items()):  # the plain form last: where it is, the others are
        _replace(folder / (file + ending), form)
    sizes = " / ".join(f"{len(form) / 1e3:,.1f}" for form in forms.values())
    say(f"{file}: {sizes} kB, {time.perf_counter() - began:.1f} s")
    return file


def _replace(path: Path, data: bytes) -> None:
    """Write at once: a second process starting now sees the old file or the new one, never half of it, nor this one's part."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:10]


GONE = "{file} was deleted under the running server: start it again, and the file is built anew."

router = APIRouter(include_in_schema=False)


@router.get("/assets/{file}")
@router.head("/assets/{file}")
def asset(request: Request, file: str) -> Response:
    """One built file, in the best encoding the browser offers, to be kept for ever."""
    assets: Assets = request.app.state.assets
    if file not in assets.names.values():
        raise HTTPException(404)
    path, headers = assets.folder / file, {"Cache-Control": "public, max-age=31536000, immutable"}
    if not path.is_file():
        raise HTTPException(503, GONE.format(file=file))
    kind = file.rpartition(".")[2]
    if kind != "woff2":
        offered = {part.partition(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")}
        for encoding, ending in ENCODINGS.items():
            if encoding in offered and path.with_name(file + ending).is_file():
                path = path.with_name(file + ending)
                headers |= {"Content-Encoding": encoding, "Vary": "Accept-Encoding"}
                break
    return FileResponse(path, headers=headers, media_type=MEDIA[kind])


def main() -> None:
    """Build all files; with -v say what becomes of each."""
    began = time.perf_counter()
    say = print if "-v" in sys.argv[1:] else lambda line: None
    assets = build(settings(), say, afresh=True)
    print(f"Fonts, styles and scripts: {len(assets.names)} files built in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
