"""Browser files come out of installed packages, checked, small, and under names that change with their content."""

import gzip
import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
from fastapi.testclient import TestClient
from fontTools.ttLib import TTFont

from app.main import create_app
from app.settings import settings
from app.web import assets

FONTS = [carried for carried in assets.CARRIED if carried.keep]


@pytest.fixture(scope="module")
def built() -> assets.Assets:
    return assets.build(settings())


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app()) as client:
        yield client


def test_a_second_build_makes_nothing(built: assets.Assets) -> None:
    said: list[str] = []
    assert assets.build(settings(), said.append) == built
    assert said == []


def test_a_package_that_carries_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(assets.CARRIED[0], sha256="0" * 64)
    monkeypatch.setattr(assets, "CARRIED", (changed,))
    with pytest.raises(assets.ChangedCarrier, match="is not the file this version was checked with"):
        assets.build(replace(settings(), cache=tmp_path))


def test_a_package_without_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "CARRIED", (replace(assets.CARRIED[0], file="htmx-9.js"),))
    with pytest.raises(assets.ChangedCarrier, match=r"django-htmx carries no htmx-9\.js"):
        assets.build(replace(settings(), cache=tmp_path))


def test_a_torn_manifest_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "CARRIED", assets.CARRIED[:1])
    place = replace(settings(), cache=tmp_path)
    first = assets.build(place)
    (tmp_path / "assets" / "manifest.json").write_text('{"htmx.js": ')
    assert assets.build(place) == first


def test_a_file_deleted_under_the_server_is_told_and_its_plain_form_stands_in(tmp_path: Path) -> None:
    app = create_app()
    known: assets.Assets = app.state.assets
    copied = tmp_path / "assets"
    shutil.copytree(known.folder, copied)
    app.state.assets = replace(known, folder=copied)
    file = known.names["board.css"]
    with TestClient(app, raise_server_exceptions=False) as client:
        (copied / f"{file}.br").unlink()
        answer = client.get(f"/assets/{file}", headers={"accept-encoding": "br"})
        assert answer.status_code == 200 and answer.text == (copied / file).read_text()
        for path in copied.iterdir():
            path.unlink()
        for name in known.names.values():
            answer = client.get(f"/assets/{name}")
            assert answer.status_code == 503 and "start it again" in answer.text, name


def test_our_files_name_others_by_content_only(built: assets.Assets) -> None:
    sheet = (built.folder / built.names["board.css"]).read_text()
    assert built.names["kalam-bold.woff2"] in sheet and '"kalam-bold.woff2"' not in sheet
    assert built.names["slider-field.js"] in (built.folder / built.names["main.js"]).read_text()


@pytest.mark.parametrize("carried", FONTS, ids=lambda carried: carried.name)
def test_a_font_keeps_every_letter_it_is_asked_for(built: assets.Assets, carried: assets.Carried) -> None:
    kept = TTFont(io.BytesIO((built.folder / built.names[carried.name]).read_bytes())).getBestCmap() or {}
    assert set(map(ord, assets.ASCII.strip())) & set(map(ord, carried.keep)) <= set(kept)


@pytest.mark.parametrize("carried", FONTS, ids=lambda carried: carried.name)
def test_a_reduced_font_says_who_made_it_and_its_licence_and_bears_no_reserved_name(
    built: assets.Assets, carried: assets.Carried
) -> None:
    kept = TTFont(built.folder / built.names[carried.name])["name"]
    assert "Copyright" in (kept.getDebugName(0) or "") and "Open Font License" in (kept.getDebugName(13) or "")
    assert {record.nameID for record in kept.names} <= {0, 13, 14}


def test_every_sign_is_in_some_face_of_the_reading_stack(built: assets.Assets) -> None:
    stack = ("atkinson.woff2", "plex-mono.woff2", "signs.woff2")
    kept = {code for name in stack for code in TTFont(built.folder / built.names[name]).getBestCmap() or ()}
    assert set(map(ord, assets.SIGNS + assets.POWERS + assets.GREEK)) <= kept


def test_the_math_font_keeps_its_table_of_growing_brackets(built: assets.Assets) -> None:
    assert "MATH" in TTFont(built.folder / built.names["stix-math.woff2"])


@pytest.mark.parametrize(("offered", "undo"), [("gzip, br", brotli.decompress), ("gzip", gzip.decompress), ("", bytes)])
def test_a_file_comes_in_the_best_encoding_offered_and_may_be_kept_for_ever(
    built: assets.Assets, client: TestClient, offered: str, undo: Callable[[bytes], bytes]
) -> None:
    url = built.url("board.css")
    with client.stream("GET", url, headers={"Accept-Encoding": offered}) as answer:
        raw = b"".join(answer.iter_raw())
    assert undo(raw) == (built.folder / built.names["board.css"]).read_bytes()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"].startswith("text/css")


def test_a_font_is_not_compressed_twice(built: assets.Assets, client: TestClient) -> None:
    answer = client.get(built.url("kalam.woff2"), headers={"Accept-Encoding": "br"})
    assert "content-encoding" not in answer.headers and answer.headers["content-type"] == "font/woff2"


@pytest.mark.parametrize("file", ["manifest.json", "board.css", "..%2F..%2Fpyproject.toml", "board.0000000000.css"])
def test_only_built_files_are_served(client: TestClient, file: str) -> None:
    assert client.get(f"/assets/{file}").status_code == 404


def test_nothing_that_others_wrote_lies_among_our_files() -> None:
    for path in settings().static.rglob("*"):
        if path.is_file():
            assert path.suffix in (".css", ".js", ".svg") and ".min." not in path.name
            assert path.stat().st_size < 20_000, path.name
