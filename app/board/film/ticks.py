"""Marks under the bar of a film: round moments of the engine's time, which spread where the film is slow."""

from app.board.film.film import Film
from app.board.svg import Figure

WIDTH, HEIGHT = 1000.0, 10.0


def ticks_figure(scene: str, film: Film) -> Figure:
    """The marks, an ornament: the clock says the same in words."""
    figure = Figure(f"{scene}-ticks", WIDTH, HEIGHT, css="film-ticks")
    marks = "".join(f"M{t / film.length * WIDTH:.1f} 0v{HEIGHT:.0f}" for t in film.ticks)
    figure.path(marks, ink="soft", stroke="thin")
    return figure
