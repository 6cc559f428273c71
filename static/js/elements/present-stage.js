// <present-stage> is the stage of a projector: a remote's keys move it (PageDown and PageUp among them), b and w blank it,
// f fills the screen. The frame, or the moment of a film, is in the address, so that a reload lands on it.
import { FilmStops } from "./film-stops.js";
import { Frames, REST_MS } from "./frames.js";

const KEYS = {
  next: ["PageDown", "ArrowRight", "ArrowDown", " ", "Enter", "n"],
  previous: ["PageUp", "ArrowLeft", "ArrowUp", "Backspace", "p"],
  first: ["Home"],
  last: ["End"],
  black: ["b", "."],
  white: ["w", ","],
  full: ["f", "F5"],
  play: ["k"],
  slower: ["["],
  faster: ["]"],
  help: ["?"],
  close: ["Escape"],
};

class PresentStage extends HTMLElement {
  connectedCallback() {
    this.film = this.querySelector("script[data-film]") && new FilmStops(this, () => this.tell());
    this.frames = this.film ?? new Frames(this);
    this.speed = 1;
    this.digits = "";
    document.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", (event) => event.target.closest("a, button") || this.go(this.frames.at + 1));
    this.focus();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, textarea, select")) return;
    if (/^\d$/.test(event.key)) {
      this.digits += event.key;
      return;
    }
    let does = Object.keys(KEYS).find((name) => KEYS[name].includes(event.key));
    if (!does) return;
    if (event.key === " " && event.shiftKey) does = "previous";
    if (event.key === "F5" && !event.shiftKey) this.go(0);
    event.preventDefault(); // F5 too: a remote sends it, and the frame is in the address anyway
    if (event.key === "Enter" && this.digits) this.go(Number(this.digits) - 1);
    else this[does]();
    this.digits = "";
  }

  next() { this.go(this.frames.at + 1); }
  previous() { this.go(this.frames.at - 1); }
  first() { this.go(0); }
  last() { this.go(this.frames.last); }
  black() { this.blank("black"); }
  white() { this.blank("white"); }
  help() { this.helping.open ? this.helping.close() : this.helping.show(); }
  slower() { this.pace(this.speed / 2); }
  faster() { this.pace(this.speed * 2); }

  get helping() {
    return document.getElementById("stage-help");
  }

  full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {});
  }

  close() {
    if (this.helping.open) this.helping.close();
    else if (this.dataset.blank) delete this.dataset.blank;
    else if (document.fullscreenElement) document.exitFullscreen();
  }

  blank(colour) {
    if (this.dataset.blank === colour) delete this.dataset.blank;
    else this.dataset.blank = colour;
  }

  pace(speed) {
    this.speed = Math.min(Math.max(speed, 0.25), 4);
    if (this.film) this.film.speed = this.speed;
  }

  play() {
    if (this.film) return this.film.toggle();
    clearInterval(this.timer);
    this.timer = this.timer ? null : setInterval(() => this.frames.at < this.frames.last ? this.step(1) : this.play(), REST_MS / this.speed);
  }

  go(at) {
    if (this.timer) this.play();
    this.step(at - this.frames.at);
  }

  step(by) {
    if (this.dataset.blank) {
      delete this.dataset.blank; // the first key after black only brings the picture back
      return;
    }
    if (this.frames.show(this.frames.at + by)) this.tell();
  }

  tell() {
    if (!this.frames) return; // a film that is being set up
    const { at } = this.frames;
    this.querySelector("[data-count]").textContent = at + 1;
    if (this.film) this.querySelector("[data-frame]").dataset.frame = at;
    history.replaceState(null, "", `?${this.here(location.search, at)}`);
    for (const link of this.querySelectorAll(".stage-links a")) this.follow(link);
  }

  // a query with another frame, or with the moment at which a film rests between two
  here(search, at) {
    const query = new URLSearchParams(search);
    const t = at === this.frames.at ? this.film?.between ?? null : null;
    query.delete(t === null ? "t" : "frame");
    query.set(t === null ? "frame" : "t", t ?? at);
    return query;
  }

  // The links lead on from the frame that is shown, not from the one that was loaded.
  follow(link) {
    const by = { prev: -1, next: 1 }[link.rel] ?? 0;
    if (!by && !/[?&](frame|t)=/.test(link.search)) return;
    link.search = `?${this.here(link.search, Math.max(0, Math.min(this.frames.last, this.frames.at + by)))}`;
  }
}

customElements.define("present-stage", PresentStage);
