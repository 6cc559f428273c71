// <theme-switch> holds three radios: auto, light, dark. The choice goes into a cookie, so that the server writes it
// into the page and nothing flashes.
const YEAR_S = 365 * 24 * 3600;

class ThemeSwitch extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", ({ target }) => {
      document.documentElement.dataset.theme = target.value;
      document.cookie = `theme=${target.value}; path=/; max-age=${YEAR_S}; samesite=lax`;
      dispatchEvent(new CustomEvent("board:theme", { detail: target.value })); // charts paint themselves again
    });
  }
}

customElements.define("theme-switch", ThemeSwitch);
