// A film on the stage, as a row of stops: going to the next one plays the passage that leads there, any other is shown at
// once; with reduced motion all are. The same face as Frames: `at`, `last`, `show`.
import { FilmClock } from "./film-clock.js";
import { FilmPicture } from "./film-picture.js";

const CALM = matchMedia("(prefers-reduced-motion: reduce)");

export class FilmStops {
  // told() each time another stop is on its way, or the film pauses between two
  constructor(root, told) {
    const film = JSON.parse(root.querySelector("script[data-film]").textContent);
    Object.assign(this, { root, told, caption: root.querySelector(".film-caption") });
    this.pictures = ["wide", "tall"].map((form) => new FilmPicture(root.querySelector(`.film-${form}`), film[form]));
    this.clock = new FilmClock(film, { moved: () => this.draw(), changed: (on) => on || this.told() });
    this.clock.set(Number(root.dataset.t));
    new ResizeObserver(() => this.draw()).observe(root);
  }

  get last() {
    return this.clock.stops.length - 1;
  }

  // seconds, where it rests between two stops; else nothing: the stop says it all
  get between() {
    return this.clock.playing || this.clock.standing ? null : Math.round(this.clock.t * 1000) / 1000;
  }

  set speed(times) {
    this.clock.speed = times;
  }

  show(at) {
    const next = Math.min(Math.max(at, 0), this.last);
    const halfway = this.between !== null && at === this.at + 1;
    if (halfway) this.clock.play(this.at);
    else if (next === this.at && this.clock.standing) return false;
    else this.go(next);
    return true;
  }

  go(at) {
    const on = at === this.at + 1 && !CALM.matches;
    this.clock.pause();
    this.clock.set(this.clock.stops[on ? this.at : at][1]);
    if (on) this.clock.play(at);
    this.at = at;
    this.draw();
  }

  toggle() {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play();
  }

  draw() {
    const { t, at, standing, stops } = this.clock;
    if (!this.clock.playing || at > this.at || !standing) this.at = at;
    for (const picture of this.pictures) if (picture.svg.clientWidth > 0) picture.show(t);
    const words = stops[this.at][3];
    if (this.caption.textContent !== words) this.caption.textContent = words;
    if (this.drawn !== this.at) this.told((this.drawn = this.at));
  }
}
