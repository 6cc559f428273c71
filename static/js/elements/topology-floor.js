// <topology-floor> lights the groups of the GPU under the pointer, or of the one the arrow keys have walked to; a press
// or Enter looks from it. Where everything stands, and how far apart the peers of an axis are, comes with the drawing.
import { StepClock } from "./step-clock.js";

const SVG = "http://www.w3.org/2000/svg";

class TopologyFloor extends HTMLElement {
  connectedCallback() {
    this.svg = this.querySelector("svg");
    const data = this.querySelector("script[type='application/json']");
    if (!this.svg || !data) return;
    this.data = JSON.parse(data.textContent);
    this.over = this.svg.appendChild(document.createElementNS(SVG, "g"));
    this.over.setAttribute("class", "floor-hover");
    this.said = this.querySelector(".topology-readout");
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.light(null));
    this.svg.addEventListener("click", (event) => this.pick(this.rankAt(event)));
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("blur", () => this.light(null));
    this.clock = new StepClock(this, this.data.step);
  }

  point(event) {
    const rank = this.rankAt(event);
    if (rank !== this.at) this.light(rank);
  }

  // the GPU under a point of the window, or the first one of the node or unit that stands for it
  rankAt({ clientX, clientY }) {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    for (const floor of this.data.floors) {
      const inside = ([left, top]) => x >= left - 1 && x <= left + floor.width + 1 && y >= top - 1 && y <= top + floor.height + 1;
      for (let unit = 0; unit < floor.units.length; unit++) {
        const [left, top] = floor.units[unit];
        const mark = floor.marks.findIndex(([dx, dy]) => inside([left + dx, top + dy]));
        const all = unit * floor.each + mark;
        if (mark >= 0 && all < floor.count) return floor.first + all * floor.size;
      }
    }
    return null;
  }

  key(event) {
    if (event.target !== this || event.ctrlKey || event.metaKey || event.altKey) return;
    const { node, unit, gpus } = this.data;
    const from = this.at ?? this.data.you;
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: node, ArrowUp: -node, PageDown: unit, PageUp: -unit }[event.key];
    if (by) this.light(Math.min(Math.max(from + by, 0), gpus - 1));
    else if (event.key === "Home" || event.key === "End") this.light(event.key === "Home" ? 0 : gpus - 1);
    else if (event.key === "Enter") this.pick(from);
    else if (event.key === " ") this.clock.toggle();
    else if (event.key === "Escape") this.light(null);
    else return;
    event.preventDefault();
  }

  pick(rank) {
    const field = document.querySelector("#plan-form [name=you]");
    if (rank === null || !field) return;
    field.value = rank;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  light(rank) {
    this.at = rank;
    this.toggleAttribute("data-hovering", rank !== null);
    if (rank === null) {
      this.over.replaceChildren();
      this.said.textContent = "";
      return;
    }
    const drawn = this.data.axes.flatMap((axis) => this.group(rank, axis));
    this.over.replaceChildren(...drawn, this.path(this.cells([rank], 1.5), "bare fill-ink"));
    const at = this.data.order.filter(([, , degree]) => degree > 1).map(([axis, stride, degree]) => `${axis} ${Math.floor(rank / stride) % degree}`);
    const talks = this.data.axes.map(({ axis, words }) => `${axis.toUpperCase()}: ${words}`);
    this.said.textContent = [`rank ${rank}, node ${Math.floor(rank / this.data.node)}`, ...at].join(" · ") + (talks.length ? ` — ${talks.join("; ")}` : "");
  }

  // the peers of a GPU on one axis, and the wires to them where they leave the node
  group(rank, { axis, steps, block, far }) {
    const first = steps.reduce((left, [stride, degree]) => left - (Math.floor(rank / stride) % degree) * stride, rank);
    let ranks = steps.reduce((all, [stride, degree]) => all.flatMap((one) => Array.from({ length: degree }, (_, place) => one + place * stride)), [first]);
    ranks.sort((a, b) => a - b);
    if (block) { // the copies are cut into groups of so many
      const start = Math.floor(ranks.indexOf(rank) / block) * block;
      ranks = ranks.slice(start, start + block);
    }
    const wires = far ? [this.path(this.wires(ranks), `pen pen-thin ink-${axis}`)] : [];
    return [...wires, this.path(this.cells(ranks), `bare fill-${axis}`)];
  }

  *corners(ranks) {
    for (const floor of this.data.floors) {
      const seen = new Set();
      for (const rank of ranks) {
        const mark = Math.floor((rank - floor.first) / floor.size);
        if (mark < 0 || mark >= floor.count || seen.has(mark)) continue;
        seen.add(mark);
        const [left, top] = floor.units[Math.floor(mark / floor.each)];
        const [dx, dy] = floor.marks[mark % floor.each];
        yield { floor, rank, left, top, x: left + dx, y: top + dy };
      }
    }
  }

  cells(ranks, room = 0) {
    let path = "";
    for (const { floor, x, y } of this.corners(ranks)) {
      path += `M${x - room} ${y - room}h${floor.width + 2 * room}v${floor.height + 2 * room}h${-floor.width - 2 * room}z`;
    }
    return path;
  }

  wires(ranks) {
    let path = "";
    for (const { floor, rank, left, top, x, y } of this.corners(ranks)) {
      const leaf = floor.leaves[(rank % this.data.node) % this.data.leaves];
      if (leaf) path += `M${left + leaf[0]} ${top + leaf[1]}L${x + floor.width / 2} ${y + floor.height / 2}`;
    }
    return path;
  }

  path(d, css) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", css);
    path.setAttribute("fill", "none");
    path.setAttribute("d", d);
    return path;
  }
}

customElements.define("topology-floor", TopologyFloor);
