// <plan-form> looks after the planner's form: the address follows the state when a hand lets go, fields that are refused
// are marked for those who hear the page, and the server learns whether there is room for wide figures.
const NARROW = matchMedia("(width < 44rem)");

class PlanForm extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.addEventListener("change", () => this.remember());
    document.addEventListener("htmx:afterSwap", () => this.mark());
    document.addEventListener("htmx:oobAfterSwap", () => this.mark());
    NARROW.addEventListener("change", () => this.room());
    this.room();
    this.mark();
  }

  remember() {
    const query = new URLSearchParams(new FormData(this.form));
    for (const [name, value] of [...query]) if (value === "") query.delete(name);
    history.replaceState(null, "", `${this.form.getAttribute("action")}?${query}`);
  }

  mark() {
    for (const says of this.querySelectorAll(".says")) {
      const refused = says.hasAttribute("data-refused");
      for (const input of this.form.elements[says.id.slice("says-".length)] instanceof RadioNodeList
        ? this.form.elements[says.id.slice("says-".length)]
        : [this.form.elements[says.id.slice("says-".length)]]) {
        if (!input) continue;
        input.setAttribute("aria-describedby", says.id);
        if (refused) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    }
  }

  room() {
    const asked = document.cookie.includes("narrow=1");
    if (asked === NARROW.matches) return;
    document.cookie = `narrow=${NARROW.matches ? 1 : 0}; path=/; samesite=lax`;
    addEventListener("load", () => this.form.dispatchEvent(new Event("input", { bubbles: true })), { once: true });
    if (document.readyState === "complete") this.form.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

customElements.define("plan-form", PlanForm);
