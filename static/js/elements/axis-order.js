// <axis-order> shows a text field with the order of the axes as chips. Drag one, or focus it and press an arrow key; the
// field is what the form sends. Text that names no order stays a text field, so that it can be mended.
const AXES = ["tp", "cp", "ep", "dp", "pp"];

class AxisOrder extends HTMLElement {
  connectedCallback() {
    this.input = this.querySelector("input");
    this.row = this.appendChild(Object.assign(document.createElement("ol"), { className: "axis-chips" }));
    this.row.setAttribute("aria-label", this.querySelector("label").textContent);
    this.row.addEventListener("pointerdown", (event) => this.take(event));
    this.row.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("input", () => this.draw());
    this.draw();
  }

  get order() {
    return this.input.value.split("-");
  }

  draw(focused = "") {
    const { order } = this;
    const whole = order.length === AXES.length && AXES.every((axis) => order.includes(axis));
    this.toggleAttribute("data-chips", whole);
    this.row.replaceChildren(...(whole ? order : []).map((axis, place) => this.chip(axis, place)));
    if (focused) this.row.querySelector(`[data-axis=${focused}]`)?.focus();
  }

  chip(axis, place) {
    const item = document.createElement("li");
    const button = item.appendChild(document.createElement("button"));
    button.type = "button";
    button.className = `axis-chip ink-${axis}`;
    button.dataset.axis = axis;
    button.textContent = axis.toUpperCase();
    button.setAttribute("aria-label", `${axis.toUpperCase()}, place ${place + 1} of ${AXES.length}; arrow keys move it`);
    return item;
  }

  move(axis, place) {
    const order = this.order.filter((other) => other !== axis);
    order.splice(Math.min(Math.max(place, 0), order.length), 0, axis);
    if (order.join("-") === this.input.value) return false;
    this.input.value = order.join("-");
    this.draw(axis);
    return true;
  }

  tell() {
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
    this.input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  key(event) {
    const { axis } = event.target.dataset;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!axis || !by) return;
    event.preventDefault();
    if (!this.move(axis, this.order.indexOf(axis) + by)) return;
    this.tell();
    this.row.querySelector(`[data-axis=${axis}]`).focus();
  }

  // the chip goes to the place under the pointer as it moves; the form hears of it when the hand lets go
  take(event) {
    const { axis } = event.target.dataset;
    if (!axis || event.button) return;
    event.preventDefault();
    const before = this.input.value;
    const stop = new AbortController();
    const drag = ({ clientX, clientY }) => {
      const chips = [...this.row.children].map((item) => item.getBoundingClientRect());
      const near = chips.reduce((best, box, place) => {
        const away = Math.hypot(clientX - box.x - box.width / 2, clientY - box.y - box.height / 2);
        return away < best.away ? { away, place } : best;
      }, { away: Infinity, place: 0 });
      this.move(axis, near.place);
      this.row.querySelector(`[data-axis=${axis}]`).toggleAttribute("data-held", true);
    };
    const drop = () => {
      stop.abort();
      this.row.querySelector("[data-held]")?.removeAttribute("data-held");
      this.row.querySelector(`[data-axis=${axis}]`)?.focus();
      if (this.input.value !== before) this.tell();
    };
    addEventListener("pointermove", drag, { signal: stop.signal });
    addEventListener("pointerup", drop, { signal: stop.signal });
    addEventListener("pointercancel", drop, { signal: stop.signal });
    this.row.querySelector(`[data-axis=${axis}]`).toggleAttribute("data-held", true);
  }
}

customElements.define("axis-order", AxisOrder);
