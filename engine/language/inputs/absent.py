"""What nothing looks like: null, or a field left empty."""


def left_out(given: object) -> bool:
    """Whether nothing is given: null, or a field left empty."""
    return given is None or (isinstance(given, str) and not given.strip())
