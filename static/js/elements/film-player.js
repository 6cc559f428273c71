// <film-player> plays the film inside it: by its bar, by keys while it has the focus, by drag. The moment is in the
// address. Turning a knob swaps the film; the player goes on at the same stop, or as far on the way to the next.
import { STAGE, askForSeen, leaves, seen, tell, unfolded } from "./film-address.js";
import { FilmBar } from "./film-bar.js";
import { FilmClock } from "./film-clock.js";
import { deedOf } from "./film-keys.js";
import { FilmPicture, wordsAt } from "./film-picture.js";
import { FilmWhy } from "./film-why.js";

export class FilmPlayer extends HTMLElement {
  connectedCallback() {
    this.asking = new FilmWhy(this);
    this.load(Number(this.dataset.t));
    this.addEventListener("click", (event) => this.click(event));
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("input", (event) => this.input(event));
    this.addEventListener("change", (event) => event.target.matches("[data-bar]") && this.tell());
    this.addEventListener("htmx:beforeSwap", (event) => leaves(event, this));
    this.addEventListener("htmx:afterSwap", (event) => event.target.matches(STAGE) && this.swapped());
    this.sized = new ResizeObserver(() => this.resized());
    this.sized.observe(this);
  }

  disconnectedCallback() {
    this.clock?.pause();
    this.sized.disconnect();
  }

  load(t) {
    const film = unfolded(this);
    if (!film) return; // refused: the sentence stands there; the place is kept for what comes next
    const at = this.clock ? this.clock.placeIn(film) : t;
    this.clock?.pause();
    this.clock = new FilmClock(film, { moved: () => this.show(), changed: (on) => this.changed(on) });
    this.pictures = ["wide", "tall"].map((form) => [form, this.querySelector(`.film-${form}`)])
      .filter(([, svg]) => svg)
      .map(([form, svg]) => new FilmPicture(svg, film[form]));
    this.bar = new FilmBar(this, film);
    this.paced();
    this.clock.set(at);
  }

  resized() {
    if (this.clock) askForSeen(this);
    this.show();
  }

  show() {
    if (!this.clock || !this.querySelector(".film-picture")) return; // refused: a sentence stands in the picture's place
    const { t, at, film } = this.clock;
    (this.pictures.find(({ svg }) => svg.matches(`.film-${seen()}`)) ?? this.pictures[0]).show(t);
    this.words(".film-caption", film.stops[at][3]);
    this.words("[data-clock]", wordsAt(film.clock, t));
    this.words("[data-slow]", wordsAt(film.slow, t));
    this.bar.show(t, at);
    this.asking.follow();
    if (this.clock.standing) this.words("[data-heard]", film.stops[at][3]);
  }

  words(place, said) {
    const element = this.querySelector(place);
    if (element.textContent !== said) element.textContent = said;
  }

  click(event) {
    const link = event.target.closest("[data-go], [data-stop]");
    if (!this.clock || event.ctrlKey || event.metaKey) return;
    if (!link) return this.asking.press(event.target);
    event.preventDefault();
    if (link.dataset.stop !== undefined) this.go(Number(link.dataset.stop));
    else this[link.dataset.go]();
  }

  key(event) {
    if (!this.clock || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!event.target.matches("film-player, [data-bar], [data-go=why]")) return;
    if (event.target.matches("[data-go]") && [" ", "Enter"].includes(event.key)) return; // a button is pressed
    const does = deedOf(event, this.asking.walking);
    if (!does) return;
    event.preventDefault();
    does(this);
  }

  input(event) {
    if (event.target.matches("[data-bar]")) this.set(Number(event.target.value));
    else if (event.target.matches("[data-speed], [data-rests]")) this.paced();
  }

  play() {
    this.clock.playing ? this.clock.pause() : this.clock.play();
  }
  before() { this.go(this.clock.at - 1); }
  after() { this.go(this.clock.at + (this.clock.standing ? 1 : 0)); }
  why() { this.asking.walk(); }

  go(at) {
    const { stops } = this.clock;
    this.seek(stops[Math.min(Math.max(at, 0), stops.length - 1)][1]);
  }

  // the passage that leads to a stop
  watch(at) {
    this.clock.set(this.clock.stops[at][0]);
    this.clock.play(at);
    this.focus();
  }

  set(t) {
    this.clock.pause();
    this.clock.set(t);
    this.dispatchEvent(new Event("film-moves"));
  }

  seek(t) {
    this.set(t);
    this.tell();
  }

  faster(by) {
    const speed = this.querySelector("[data-speed]");
    if (!speed) return;
    speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + by, 0), speed.options.length - 1);
    this.paced();
  }

  paced() {
    this.clock.speed = Number(this.querySelector("[data-speed]")?.value ?? 1);
    this.clock.rests = this.querySelector("[data-rests]")?.checked ?? true;
  }

  changed(playing) {
    const button = this.querySelector("[data-go=play]");
    button?.setAttribute("aria-pressed", String(playing));
    button?.setAttribute("aria-label", playing ? "pause" : "play");
    if (!playing) return this.tell();
    this.asking.leave();
    this.dispatchEvent(new Event("film-moves"));
  }

  swapped() {
    this.load(0);
    if (this.clock) this.tell();
  }

  tell() {
    tell(this.clock.t);
  }
}

customElements.define("film-player", FilmPlayer);
