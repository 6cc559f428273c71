// Asking the marks of a film "why?": by pointing, by a press, or by the arrow keys once `walk` has begun. The mark that is
// asked wears the yellow of its note; the note stands where the page has a place for it. One at a time.
const MARKS = "[data-why]";
const SVG = "http://www.w3.org/2000/svg";
const AIR = 3; // units between a mark and what it wears

export class FilmWhy {
  constructor(player) {
    Object.assign(this, { player, mark: null, held: false, walking: false });
    this.place = document.getElementById("scene-why");
    this.ring = document.createElementNS(SVG, "rect");
    this.ring.setAttribute("class", "film-asked");
    player.addEventListener("pointerover", (event) => this.point(event));
    player.addEventListener("pointerout", (event) => this.held || (event.target.closest(MARKS) && this.forget()));
    this.place?.addEventListener("click", (event) => event.target.closest("button") && this.leave());
  }

  get svg() {
    return [...this.player.querySelectorAll(".film-drawing")].find((svg) => svg.clientWidth > 0);
  }

  // those that can be seen now, in the order they are drawn
  get marks() {
    return [...(this.svg?.querySelectorAll(MARKS) ?? [])].filter((mark) => this.seen(mark));
  }

  seen(mark) {
    const { width, height } = this.box(mark);
    return mark.checkVisibility() && width > 1 && height > 1;
  }

  point(event) {
    const mark = event.target.closest(MARKS);
    if (mark && event.pointerType === "mouse" && !this.held && !this.player.clock.playing) this.ask(mark);
  }

  // a press: on a mark its note stays, beside one it goes
  press(target) {
    const mark = target.closest(MARKS);
    if (!mark) return target.closest(".film-drawing") && this.leave();
    this.player.clock.pause();
    this.held = true;
    this.ask(mark);
  }

  walk() {
    if (this.walking) return this.leave();
    const [first] = this.marks;
    if (!first) return;
    this.player.clock.pause();
    this.walking = this.held = true;
    this.ask(this.seen(this.mark ?? first) ? this.mark ?? first : first);
  }

  step(by) {
    const { marks } = this;
    if (marks.length) this.ask(marks[(marks.indexOf(this.mark) + by + marks.length) % marks.length]);
  }

  leave() {
    this.walking = this.held = false;
    this.forget();
  }

  ask(mark) {
    this.mark = mark;
    this.svg.append(this.ring);
    this.follow();
    const { marks } = this;
    const where = this.walking ? `${marks.indexOf(mark) + 1} of ${marks.length}` : "";
    this.say(mark.dataset.why, where);
  }

  forget() {
    if (!this.mark) return;
    this.mark = null;
    this.ring.remove();
    this.place?.replaceChildren();
    this.tell();
  }

  say(words, where) {
    const note = document.getElementById("film-why").content.cloneNode(true);
    note.querySelector("[data-where]").textContent = where;
    note.querySelector("p").textContent = words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");
    this.place?.replaceChildren(note);
    this.tell();
  }

  tell() {
    this.player.querySelector("[data-go=why]")?.setAttribute("aria-pressed", String(this.walking));
  }

  // stays on its mark while that moves; goes with it
  follow() {
    if (!this.mark) return;
    if (!this.mark.isConnected || !this.seen(this.mark)) return this.leave();
    const [box, to] = [this.box(this.mark), this.svg.getScreenCTM().inverse()];
    const [start, end] = [[box.left, box.top], [box.right, box.bottom]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(to));
    const place = { x: start.x - AIR, y: start.y - AIR, width: end.x - start.x + 2 * AIR, height: end.y - start.y + 2 * AIR };
    for (const [name, value] of Object.entries(place)) this.ring.setAttribute(name, value.toFixed(1));
  }

  // of what can be seen of a mark, on the screen: a window uncovers part of it
  box(mark) {
    const [{ left, top, right, bottom }, window] = [mark.getBoundingClientRect(), mark.firstElementChild];
    const wide = window?.tagName === "svg" ? window.width.baseVal.value * window.getScreenCTM().a : Infinity;
    const until = Math.min(right, left + wide);
    return { left, top, right: until, bottom, width: until - left, height: bottom - top };
  }
}
