// <scene-player> plays, steps and scrubs the frames inside it, by its bar and by keys while it has the focus. The frame
// is in the address. Turning a knob swaps the frames; the player goes on at the same place.
import { Frames, REST_MS } from "./frames.js";

class ScenePlayer extends HTMLElement {
  connectedCallback() {
    this.frames = new Frames(this);
    this.speed = this.querySelector("[data-speed]");
    this.addEventListener("click", (event) => this.click(event));
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("htmx:afterSwap", () => this.swapped());
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  click(event) {
    const link = event.target.closest("[data-go], [data-stop]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (link.dataset.go === "play") this.play(!this.playing);
    else this.go(link.dataset.stop !== undefined ? Number(link.dataset.stop) : this.frames.at + (link.dataset.go === "after" ? 1 : -1));
  }

  key(event) {
    if (!event.target.matches("scene-player, .scene-frame") || event.ctrlKey || event.metaKey || event.altKey) return;
    const { at, last } = this.frames;
    const does = {
      " ": () => this.play(!this.playing),
      ArrowRight: () => this.go(at + 1),
      ArrowLeft: () => this.go(at - 1),
      Home: () => this.go(0),
      End: () => this.go(last),
      "[": () => this.faster(-1),
      "]": () => this.faster(1),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }

  go(at, stop = true) {
    if (stop) this.play(false);
    if (this.frames.show(at)) this.tell();
  }

  play(on) {
    clearTimeout(this.timer);
    this.playing = on && this.frames.last > 0;
    if (this.playing && this.frames.at === this.frames.last && this.frames.show(0)) this.tell();
    const button = this.querySelector("[data-go=play]");
    button?.setAttribute("aria-pressed", String(this.playing));
    button?.setAttribute("aria-label", this.playing ? "pause" : "play");
    if (this.playing) this.rest();
  }

  rest() {
    this.timer = setTimeout(() => {
      this.go(this.frames.at + 1, false);
      if (this.frames.at < this.frames.last) this.rest();
      else this.play(false);
    }, REST_MS / Number(this.speed?.value ?? 1));
  }

  faster(by) {
    if (!this.speed) return;
    this.speed.selectedIndex = Math.min(Math.max(this.speed.selectedIndex + by, 0), this.speed.options.length - 1);
  }

  swapped() {
    const next = new Frames(this);
    if (!next.all.length) return; // refused: the sentence stands there; the place is kept for what comes next
    next.show(this.frames.at, false);
    this.frames = next;
    this.tell();
  }

  tell() {
    const { at } = this.frames;
    for (const stop of this.querySelectorAll("[data-stop]")) {
      if (Number(stop.dataset.stop) === at) stop.setAttribute("aria-current", "step");
      else stop.removeAttribute("aria-current");
    }
    const field = document.querySelector("#scene-form [name=frame]");
    if (field) field.value = at;
    const query = new URLSearchParams(field ? new FormData(field.form) : location.search);
    query.set("frame", at);
    history.replaceState(null, "", `?${query}`);
  }
}

customElements.define("scene-player", ScenePlayer);
