// <scene-predict> is the question of a scene. Before a film has been touched it stands on the picture; it goes back to its
// own place when the film moves, or when it is put off. A turned knob may ask another one; what was said to the last answer
// goes. "Watch why" plays the passage that shows the answer.
class ScenePredict extends HTMLElement {
  connectedCallback() {
    this.section = this.firstElementChild;
    this.player = document.querySelector("film-player");
    this.over = this.player?.querySelector("[data-over]");
    this.renewed = () => this.renew();
    document.addEventListener("htmx:afterSwap", this.renewed);
    if (!this.player?.clock) return;
    this.section.addEventListener("click", (event) => this.click(event));
    this.player.addEventListener("film-moves", () => this.shrink());
    const query = new URLSearchParams(location.search);
    if (!["t", "frame", "answer"].some((name) => query.has(name))) this.stand();
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:afterSwap", this.renewed);
  }

  // only what is not yet answered asks for the picture's room
  stand() {
    this.over.append(this.section);
    this.section.querySelector("[data-later]").hidden = false;
  }

  shrink() {
    if (this.section.parentElement === this) return;
    this.append(this.section);
    this.section.querySelector("[data-later]").hidden = true;
  }

  click(event) {
    if (event.target.closest("[data-later]")) {
      this.shrink();
      this.player.focus();
    }
    const watch = event.target.closest("[data-watch]");
    if (!watch || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.shrink();
    this.player.watch(Number(watch.dataset.watch));
  }

  renew() {
    const question = document.querySelector("template[data-question]");
    const place = document.getElementById("scene-question");
    if (!question || place.textContent.trim() === question.content.textContent.trim()) return;
    place.replaceChildren(question.content.cloneNode(true));
    document.getElementById("scene-verdict")?.replaceChildren();
  }
}

customElements.define("scene-predict", ScenePredict);
