// <present-stage> is the stage of a projector: a remote's keys move it (PageDown and PageUp among them), b and w blank it,
// f fills the screen. The frame is in the address, so that a reload lands on it.
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
    this.frames = new Frames(this);
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
  slower() { this.speed = Math.max(0.25, this.speed / 2); }
  faster() { this.speed = Math.min(4, this.speed * 2); }

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

  play() {
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
    if (!this.frames.show(this.frames.at + by)) return;
    this.querySelector("[data-count]").textContent = this.frames.at + 1;
    const query = new URLSearchParams(location.search);
    query.set("frame", this.frames.at);
    history.replaceState(null, "", `?${query}`);
    for (const link of this.querySelectorAll(".stage-links a")) this.follow(link);
  }

  // The links lead on from the frame that is shown, not from the one that was loaded.
  follow(link) {
    const by = { prev: -1, next: 1 }[link.rel] ?? 0;
    const query = new URLSearchParams(link.search);
    if (!by && !query.has("frame")) return;
    query.set("frame", Math.max(0, Math.min(this.frames.last, this.frames.at + by)));
    link.search = `?${query}`;
  }
}

customElements.define("present-stage", PresentStage);
