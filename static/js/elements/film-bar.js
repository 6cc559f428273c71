// The bar of a film: a slider of its seconds with its stops as marks on it. Names yield where they would overlap: the
// current one and its neighbours stay longest.
const GAP = 6; // px between two names

export class FilmBar {
  constructor(root, film) {
    this.film = film;
    this.slider = root.querySelector("[data-bar]");
    this.marks = [...root.querySelectorAll("[data-stop]")];
    this.marks.forEach((mark, at) => mark.parentElement.style.setProperty("--at", film.stops[at][1] / film.length));
    this.at = -1;
    new ResizeObserver(() => this.name()).observe(this.slider);
  }

  show(t, at) {
    this.slider.value = t;
    this.slider.style.setProperty("--done", t / this.film.length);
    if (at === this.at) return;
    this.at = at;
    const [, , name, caption] = this.film.stops[at];
    this.slider.setAttribute("aria-valuetext", `${name}: ${caption}`);
    for (const [place, mark] of this.marks.entries()) {
      if (place === at) mark.setAttribute("aria-current", "step");
      else mark.removeAttribute("aria-current");
    }
    this.name();
  }

  name() {
    const labels = this.marks.map((mark) => mark.querySelector(".film-name"));
    for (const label of labels) label.hidden = false;
    const boxes = labels.map((label, place) => ({ label, far: Math.abs(place - this.at), ...this.box(label) })); // read, then write
    const taken = [];
    for (const { label, left, right } of boxes.sort((one, other) => one.far - other.far)) {
      label.hidden = taken.some((box) => left < box.right + GAP && right > box.left - GAP);
      if (!label.hidden) taken.push({ left, right });
    }
  }

  box(label) {
    const { left, right } = label.getBoundingClientRect();
    return { left, right };
  }
}
