// A composition of a film: its SVG as the server drew it, and the tracks of its actors. `show(t)` puts every actor where
// it is at t, and writes only what has changed. The same reading of tracks as app/board/film/track.py.
const USUAL = { opacity: 1, wide: 1, tall: 1, shown: 1 };

// index of the first entry later than t; entries begin with their moment
const later = (entries, t) => {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle][0] > t) high = middle;
    else low = middle + 1;
  }
  return low;
};

export const valueAt = (channel, t) => {
  if (typeof channel === "number") return channel;
  const at = later(channel, t);
  if (at === 0) return channel[0][1];
  if (at === channel.length) return channel[at - 1][1];
  const [[t0, before], [t1, after, eased]] = [channel[at - 1], channel[at]];
  let u = (t - t0) / (t1 - t0);
  if (eased) u = u * u * (3 - 2 * u);
  return before + (after - before) * u;
};

export const wordsAt = (steps, t) => steps[later(steps, t) - 1]?.[1] ?? "";

const exact = (value) => Math.round(value * 1000) / 1000;

export class FilmPicture {
  constructor(svg, { actors, words }) {
    this.svg = svg;
    const drawn = new Map([...svg.querySelectorAll("[data-actor]")].map((group) => [Number(group.dataset.actor), group]));
    this.actors = actors.map((track, place) => ({ track: { ...USUAL, ...track }, element: drawn.get(place), last: {} }));
    this.still = this.actors.map(({ track }) => Object.values(track).every((channel) => typeof channel === "number"));
    this.actors = this.actors.filter((_, place) => !this.still[place]);
    const texts = new Map([...svg.querySelectorAll("[data-words]")].map((text) => [Number(text.dataset.words), text]));
    this.words = words.map((steps, place) => ({ steps, element: texts.get(place), last: null }));
  }

  show(t) {
    for (const actor of this.actors) this.place(actor, t);
    for (const text of this.words) {
      const said = wordsAt(text.steps, t);
      if (said !== text.last) text.element.textContent = text.last = said;
    }
  }

  place({ track, element, last }, t) {
    const opacity = valueAt(track.opacity, t);
    this.write(element, last, "display", opacity > 0 ? null : "none");
    if (opacity <= 0) return;
    this.write(element, last, "opacity", opacity < 1 ? String(exact(opacity)) : null);
    const [wide, tall] = [valueAt(track.wide, t), valueAt(track.tall, t)];
    const scale = wide === 1 && tall === 1 ? "" : ` scale(${exact(wide)} ${exact(tall)})`;
    this.write(element, last, "transform", `translate(${exact(valueAt(track.x, t))} ${exact(valueAt(track.y, t))})${scale}`);
    if (track.window) this.write(element.firstElementChild, last, "width", String(exact(track.window * valueAt(track.shown, t))));
  }

  write(element, last, name, value) {
    if (last[name] === value) return;
    last[name] = value;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
}
