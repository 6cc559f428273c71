// <working-slip popover> shows how a number is computed: htmx fills it from the number's own link, this opens it, puts
// the focus on its heading, and gives the focus back.
class WorkingSlip extends HTMLElement {
  connectedCallback() {
    this.addEventListener("htmx:afterSwap", () => this.open());
    this.addEventListener("click", ({ target }) => target.closest("[data-close]") && this.hidePopover());
    this.addEventListener("toggle", ({ newState }) => newState === "closed" && this.giveBack());
    document.addEventListener("click", ({ target }) => {
      const link = target.closest?.("a.value, a.part");
      if (link) this.opener = link.getAttribute("href");
    });
  }

  open() {
    if (!this.matches(":popover-open")) this.showPopover();
    this.scrollTop = 0;
    this.querySelector("h2")?.focus();
  }

  giveBack() {
    const link = [...document.querySelectorAll("a.value, a.part")].find((a) => a.getAttribute("href") === this.opener);
    link?.focus();
  }
}

customElements.define("working-slip", WorkingSlip);
