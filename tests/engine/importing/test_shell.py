"""Shell text is followed as far as it decides itself: what is set is put in, and nothing else is known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.importing.shell.arithmetic import Undecided, reckoned
from engine.importing.shell.script import script_of
from engine.language.refusal import Refusal


def words(text: str) -> list[str]:
    """The words of the last command."""
    return [said.text for said in script_of(text).commands[-1].words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=8\nrun $A ${A} \"${A}\" '$A' \\$A", ["run", "8", "8", "8", "$A", "$A"]),
        ("export A=8 B=$A\nrun $B", ["run", "8"]),
        ("run ${A:-8} ${B:-$C} ${D:=x y}", ["run", "8", "$C", "x", "y"]),
        ('A="--x 1 --y 2"\nrun $A', ["run", "--x", "1", "--y", "2"]),
        ("A=(--x 1 # one\n  --y 2\n)\nA+=(--z)\nrun ${A[@]}", ["run", "--x", "1", "--y", "2", "--z"]),
        ('A=()\nA+=("--x 1")\nrun "${A[@]}" -e', ["run", "--x 1", "-e"]),
        ("A=(a b)\nrun ${A[1]} $A", ["run", "b", "a"]),
        ("A=a\nA+=b\nrun $A", ["run", "ab"]),
        ("N=2 G=8\nrun $((N*G)) $(($N*$G/4)) $(( (N+1) % 2 ))", ["run", "16", "4", "1"]),
        ("run \\\n  --x \\\r\n  1", ["run", "--x", "1"]),
        ("cat <<EOF > x\nA=$((\nEOF\nrun 1", ["run", "1"]),
        ("A=1; run $A 2>&1 >log", ["run", "1"]),
        ('if [ "$A" = "" ]; then\n B=1\nelse\n B=2\nfi\nA=3\nif [[ $A -gt 2 ]]; then B=5; elif [[ $A -gt 1 ]]; then B=6; fi\nrun $B', ["run", "5"]),
        ("A=1\nif [ $A -eq 2 ]; then\n B=1\nelse\n B=2\nfi\nrun $B", ["run", "2"]),
        ("A=1\nif [ -d x ]; then A=2; fi\nrun $A", ["run", "1"]),
        ("A=1\n[ -d x ] && A=2\nrun $A", ["run", "1"]),
        ("A=1\nfor i in 1 2; do A=$i; done\nrun $A", ["run", "1"]),
        ("A=1\nf() {\n A=2\n}\nrun $A", ["run", "1"]),
        ("#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nrun $SLURM_NNODES $SLURM_GPUS_ON_NODE", ["run", "4", "8"]),
    ],
)  # fmt: skip
def test_what_the_text_sets_is_put_in(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    ["run $A", "run $(nproc)", "run `nproc`", "run ${A%x}", "run $((A*2))", "run ${A:-$(id)}", "A=$(id)\nrun $A"],
)
def test_what_the_text_does_not_set_is_unknown_and_says_why(text: str) -> None:
    said = script_of(text).commands[-1].words[1]
    assert said.unknown and said.line == text.count("\n") + (1 if text.count("\n") == 0 else 0)


def test_each_word_knows_its_line() -> None:
    lines = [
        said.line for said in script_of('A=(\n  --x 1\n)\nB=" \\\n  --y 2"\nrun ${A[@]} $B \\\n  --z').commands[0].words
    ]
    assert lines == [6, 2, 2, 5, 5, 7]


def test_what_an_undecided_condition_leaves_as_it_was_is_said_once() -> None:
    script = script_of('A=1\nif [ -n "$W" ]; then\n  A=2\n  A=3\nfi\nif [ -f x ]; then\n  echo no\nfi\n')
    assert list(script.notes) == [
        "line 2: whether `[ -n $W ]` holds is not decided by the text, so what it sets there, A, is left as it was"
    ]


@given(a=st.integers(-999, 999), b=st.integers(1, 99), c=st.integers(-99, 99))
def test_arithmetic_is_the_shell_s_own(a: int, b: int, c: int) -> None:
    assert reckoned(f"A / {b} * {b} + A % {b}", {"A": str(a)}.__getitem__) == a
    assert reckoned(f"({c}-A)*2", {"A": str(a)}.__getitem__) == (c - a) * 2


@pytest.mark.parametrize(
    "text",
    ["2**99999", "1 if 1 else 2", "__import__('os')", "A.b", "9" * 60, "1/0", "(" * 150, "a" * 300, "1<<60", "1,2", ""],
)
def test_other_arithmetic_has_no_value(text: str) -> None:
    with pytest.raises(Undecided):
        reckoned(text, {"A": "1"}.__getitem__)


PIECES = st.sampled_from([
    "A=", "A+=(", ")", "(", "$A", "${A", "}", "${A:-", "${A[@]}", "$((", "))", "$(", "`", '"', "'", "\\", "\n", ";", "|", "&&", "if", "[ ", " ]", "then",
    "else", "fi", "for", "do", "done", "case", "esac", "f()", "{", "<<EOF", "EOF", ">", "#", "--bf16", "--num-layers", "8", " ", "torchrun", "x.py", "eval ",
    "[[", "]]", "-n", "export ", "A", "#SBATCH --nodes=2\n", "$1", "$@", "*", "/0",
])  # fmt: skip


@settings(max_examples=1_000, deadline=None)
@given(text=st.lists(PIECES, max_size=40).map("".join))
def test_any_shell_text_is_followed_or_refused_in_a_sentence(text: str) -> None:
    try:
        script_of(text)
    except Refusal as refusal:
        assert "\n" not in refusal.sentence
