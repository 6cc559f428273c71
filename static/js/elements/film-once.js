// <film-once> is a film, or the passage of one that leads to a stop (data-stop), beside what is said about it. It rests at
// its end, where the server has drawn it; its button plays it or pauses it. With data-opens it plays once by itself when
// it comes into view, unless motion is reduced.
import { FilmClock } from "./film-clock.js";
import { FilmPicture } from "./film-picture.js";

const CALM = matchMedia("(prefers-reduced-motion: reduce)");

class FilmOnce extends HTMLElement {
  connectedCallback() {
    const film = JSON.parse(this.querySelector("script[data-film]").textContent);
    this.clock = new FilmClock(film, { moved: (t) => this.show(t), changed: (on) => this.changed(on) });
    this.pictures = ["wide", "tall"].map((form) => new FilmPicture(this.querySelector(`.film-${form}`), film[form]));
    this.caption = this.querySelector(".film-caption");
    this.button = this.querySelector("[data-go=play]");
    this.button.hidden = false;
    this.button.addEventListener("click", () => (this.clock.playing ? this.clock.pause() : this.play()));
    this.stop = Number(this.dataset.stop ?? film.stops.length - 1);
    this.clock.set(film.stops[this.stop][1]);
    this.sized = new ResizeObserver(() => this.show(this.clock.t));
    this.sized.observe(this);
    if (CALM.matches || this.dataset.opens === undefined) return;
    this.seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.begin(), { threshold: 0.6 });
    this.seen.observe(this);
  }

  disconnectedCallback() {
    this.seen?.disconnect();
    this.sized.disconnect();
    this.clock.pause();
  }

  // from where its passage begins, or from where it was paused
  play() {
    const { stops } = this.clock.film;
    if (this.clock.t >= stops[this.stop][1] - 1e-3) this.clock.set(this.dataset.stop ? stops[this.stop][0] : 0);
    this.clock.play(this.stop);
  }

  begin() {
    this.seen.disconnect();
    this.play();
  }

  show(t) {
    for (const picture of this.pictures) if (picture.svg.clientWidth > 0) picture.show(t);
    const words = this.clock.film.stops[this.clock.at][3];
    if (this.caption.textContent !== words) this.caption.textContent = words;
  }

  changed(playing) {
    this.button.setAttribute("aria-pressed", String(playing));
    this.button.setAttribute("aria-label", playing ? "pause" : "play again");
  }
}

customElements.define("film-once", FilmOnce);
