"""Which ranks have to be traced: tensor- and data-parallel neighbours do the same, so only the place in the pipeline counts."""

from dataclasses import dataclass

from app.runner.fake.request import FakeRequest
from engine.language.refusal import Refusal


@dataclass(frozen=True)
class Role:
    """One place in the pipeline.

    name         first, middle, last, or only where there is one stage
    stage        the stage that is traced for it
    rank         global rank of its first data- and tensor-parallel rank
    stands_for   ranks that do the same   [count]
    """

    name: str
    stage: int
    rank: int
    stands_for: int

    @property
    def coords(self) -> dict[str, int]:
        return {"pp": self.stage, "dp": 0, "tp": 0}


def roles_of(request: FakeRequest) -> tuple[Role, ...]:
    """The roles of a request; together they stand for every rank.

    >>> from app.runner.fake.request import fake_request
    >>> [(role.name, role.rank, role.stands_for) for role in roles_of(fake_request({}))]
    [('first', 0, 256), ('middle', 256, 512), ('last', 768, 256)]
    """
    pp, stage_ranks = request.layout.pp, request.ranks // request.layout.pp
    places = {"first": (0, 1), "middle": (1, pp - 2), "last": (pp - 1, 1)} if pp > 1 else {"only": (0, 1)}
    return tuple(
        Role(name, stage, stage * stage_ranks, stages * stage_ranks)
        for name, (stage, stages) in places.items()
        if stages > 0
    )


def role_named(request: FakeRequest, name: str) -> Role:
    """The role of this name."""
    roles = {role.name: role for role in roles_of(request)}
    if name not in roles:
        raise Refusal("role", name, f"this layout has {', '.join(roles)}")
    return roles[name]
