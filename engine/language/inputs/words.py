"""Text of bounded length."""

from dataclasses import KW_ONLY, dataclass

from engine.language.inputs.absent import left_out
from engine.language.refusal import Refusal


@dataclass(frozen=True)
class Words:
    """Text of bounded length; the default is "" where nothing need be said.

    longest   characters that are read
    kind      of its control: text for several lines, or one that somebody has drawn for it
    example   what one looks like
    """

    name: str
    label: str
    default: str = ""
    longest: int = 200
    unit: str = ""
    _: KW_ONLY
    absent: str = ""
    kind: str = "text"
    example: str = ""

    @property
    def rule(self) -> str:
        return f"text of at most {self.longest:,} characters"

    def read(self, given: object) -> str | None:
        """The text, None where it may be and is left out, or a Refusal."""
        if self.absent and left_out(given):
            return None
        if not isinstance(given, str) or len(given) > self.longest:
            raise Refusal(self.name, given, f"needs {self.rule}")
        return given.strip()

    def text(self, value: str | None) -> str:
        return value or ""

    def shown(self, text: str) -> str:
        return text.strip()
