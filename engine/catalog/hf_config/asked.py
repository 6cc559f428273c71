"""A config.json that remembers which of its keys were read, and takes no text for a number."""

from collections.abc import Mapping
from typing import Any

from engine.language.refusal import Refusal

WHERE = "model.hf_config"
LARGEST = 10**9
ABSENT = object()


class Asked:
    """The keys of one object; `at` is its path inside the file, such as `text_config`.

    >>> asked = Asked({"hidden_size": 64, "attn_config": {"kv_n_heads": 2}})
    >>> asked.whole("attn_config.kv_n_heads"), sorted(asked.used)
    (2, ['attn_config.kv_n_heads'])
    """

    def __init__(self, given: Mapping[str, Any], at: str = ""):
        self.given, self.at = given, at
        self.used: dict[str, Any] = {}

    def path(self, key: str) -> str:
        """Where a key stands, from the model of the scenario."""
        return ".".join(part for part in (WHERE, self.at, key) if part)

    def value(self, key: str) -> Any:
        """What stands at a key, dots and all, or ABSENT."""
        found: Any = self.given
        for part in key.split("."):
            if not isinstance(found, Mapping) or part not in found:
                return ABSENT
            found = found[part]
        self.used[key] = found
        return found

    def first(self, keys: tuple[str, ...]) -> str | None:
        """The first of these keys that the file has with a value, else the first it has at all."""
        here = [key for key in keys if self.value(key) is not ABSENT]
        for key in here[1:]:
            self.used.pop(key) if self.value(here[0]) is not None else None
        return next((key for key in here if self.value(key) is not None), here[0] if here else None)

    def whole(self, key: str) -> int:
        """A whole number of at least 0."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not float(min(value, LARGEST)).is_integer():
            raise Refusal(self.path(key), None if value is ABSENT else value, "needs a whole number")
        if not 0 <= value <= LARGEST:
            near = 0 if value < 0 else LARGEST
            raise Refusal(self.path(key), value, f"must be at {'least' if near == 0 else 'most'} {near:,}", f"{near}")
        return int(value)

    def switch(self, switch: "bool | Mapping[str, bool]") -> bool:
        """A fact of the family, or a key of the file: true or false, not text that reads so."""
        if isinstance(switch, bool):
            return switch
        for key in switch:
            value = self.value(key)
            if value is ABSENT or value is None:
                continue
            if not isinstance(value, bool):
                raise Refusal(self.path(key), value, "needs true or false", "true" if value == "true" else "false")
            return value
        return next(iter(switch.values()))

    def texts(self, key: str) -> list[Any] | None:
        """A list, if there is one."""
        value = self.value(key)
        if value is ABSENT or value is None:
            return None
        if not isinstance(value, list):
            raise Refusal(self.path(key), value, "needs a list")
        return value
