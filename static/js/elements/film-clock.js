// The clock of a film: plays it, rests at its stops for what reading still needs, and tells when the moment has changed.
// With reduced motion it goes from stop to stop.
const WORD_S = 0.25; // reading a word
const [LEAST_REST_S, MOST_REST_S] = [0.6, 2.5];
const HAIR_S = 1e-3;
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

export class FilmClock {
  // told: moved(t) each time the moment changes, changed(playing) when it starts or ends
  constructor(film, { moved, changed }) {
    Object.assign(this, { film, moved, changed, t: 0, playing: false, speed: 1, rests: true });
  }

  get stops() {
    return this.film.stops;
  }

  // the stop whose passage is under way at a moment, or at which the film stands
  get at() {
    const found = this.stops.findIndex(([, end]) => this.t <= end + HAIR_S);
    return found < 0 ? this.stops.length - 1 : found;
  }

  get standing() {
    return Math.abs(this.stops[this.at][1] - this.t) < HAIR_S;
  }

  set(t) {
    this.t = Math.min(Math.max(t, 0), this.film.length);
    this.moved(this.t);
  }

  // from here, or from the beginning if it is over; to the end, or to one stop
  play(until = this.stops.length - 1) {
    if (this.t >= this.film.length - HAIR_S) this.set(0);
    this.until = until;
    this.next = this.stops.findIndex(([, end]) => end > this.t + HAIR_S);
    this.left = 0;
    this.last = performance.now();
    this.playing = true;
    this.changed(true);
    this.asked = requestAnimationFrame((now) => this.run(now));
  }

  pause() {
    if (!this.playing) return;
    cancelAnimationFrame(this.asked);
    this.playing = false;
    this.changed(false);
  }

  run(now) {
    const passed = (Math.max(0, now - this.last) / 1000) * this.speed;
    this.last = now;
    if (this.left > 0) this.left -= passed;
    else this.advance(CALM.matches ? Infinity : passed);
    if (this.playing) this.asked = requestAnimationFrame((next) => this.run(next));
  }

  advance(passed) {
    const end = this.stops[this.next][1];
    this.set(Math.min(this.t + passed, end));
    if (this.t < end - HAIR_S) return;
    this.set(end);
    if (this.next >= this.until) return this.pause();
    this.left = CALM.matches ? MOST_REST_S : this.rests ? this.reading(this.next) : 0;
    this.next += 1;
  }

  reading(at) {
    const [begins, end, , caption] = this.stops[at];
    return Math.min(Math.max(caption.split(/\s+/).length * WORD_S - (end - begins), LEAST_REST_S), MOST_REST_S);
  }

  // the moment of another film that is as far between the same stops as this one is here
  placeIn(film) {
    const at = Math.min(this.at, film.stops.length - 1);
    const before = (stops) => (at > 0 ? stops[at - 1][1] : 0);
    const [end, start] = [this.stops[at][1], before(this.stops)];
    const share = end > start ? Math.min((this.t - start) / (end - start), 1) : 1;
    return before(film.stops) + share * (film.stops[at][1] - before(film.stops));
  }
}
