// <film-once> is a film that opens a page: it plays once when it comes into view, and rests at its end, where the server
// has drawn it. Its button plays it again or pauses it. With reduced motion it is the still that the page came with.
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
    this.button.addEventListener("click", () => (this.clock.playing ? this.clock.pause() : this.clock.play()));
    this.clock.set(film.length);
    if (CALM.matches) return;
    this.seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.begin(), { threshold: 0.6 });
    this.seen.observe(this);
  }

  disconnectedCallback() {
    this.seen?.disconnect();
    this.clock.pause();
  }

  begin() {
    this.seen.disconnect();
    this.clock.play();
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
