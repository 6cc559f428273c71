// Frames of a scene: one is shown. Going to another slides whatever carries the same key from its old place to its new
// one, fast, then rests; with reduced motion it is simply there.
export const MOVE_MS = 450;
export const REST_MS = 2600;
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

export class Frames {
  constructor(root) {
    this.all = [...root.querySelectorAll(".scene-frame")];
    this.at = Math.max(0, this.all.findIndex((frame) => !frame.hidden));
  }

  get last() {
    return this.all.length - 1;
  }

  // shows a frame; true if it is another one than before
  show(at, moving = true) {
    const next = Math.min(Math.max(at, 0), this.last);
    if (next === this.at || !this.all.length) return false;
    const [from, to] = [this.all[this.at], this.all[next]];
    const places = moving && !CALM.matches ? this.places(from) : new Map();
    from.hidden = true;
    to.hidden = false;
    this.at = next;
    if (places.size) this.slide(to, places);
    return true;
  }

  places(frame) {
    return new Map([...frame.querySelectorAll("[data-key]")].map((group) => [group.dataset.key, this.place(group)]));
  }

  place(group) {
    const { e, f } = group.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
    return `translate(${e}px, ${f}px)`;
  }

  slide(frame, places) {
    const options = { duration: MOVE_MS, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" };
    for (const group of frame.querySelectorAll("[data-key]")) {
      const [before, now] = [places.get(group.dataset.key), this.place(group)];
      if (before === undefined) group.animate([{ opacity: 0 }, { opacity: 1 }], options);
      else if (before !== now) group.animate([{ transform: before }, { transform: now }], options);
    }
  }
}
