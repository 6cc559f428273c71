// <working-slip popover> shows how a number is computed. Any link to a working opens here: htmx fetches it, this opens the
// slip, puts the focus on its heading, and gives the focus back. Without the script the link is a page of its own.
const LINKS = "a.value, a.part";

class WorkingSlip extends HTMLElement {
  connectedCallback() {
    this.addEventListener("htmx:afterSwap", () => this.open());
    this.addEventListener("click", ({ target }) => target.closest("[data-close]") && this.hidePopover());
    this.addEventListener("toggle", ({ newState }) => newState === "closed" && this.giveBack());
    document.addEventListener("click", (event) => this.follow(event));
  }

  follow(event) {
    const link = event.target.closest?.(LINKS);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.opener = link.getAttribute("href");
    globalThis.htmx.ajax("GET", this.opener, { target: this, swap: "innerHTML" }).catch(() => {}); // <server-line> tells
  }

  open() {
    if (!this.matches(":popover-open")) this.showPopover();
    this.scrollTop = 0;
    this.querySelector("h2")?.focus();
  }

  giveBack() {
    if (document.activeElement !== document.body) return; // given back already, or another control was pressed
    const link = [...document.querySelectorAll(LINKS)].find((each) => each.getAttribute("href") === this.opener);
    link?.focus();
  }
}

customElements.define("working-slip", WorkingSlip);
