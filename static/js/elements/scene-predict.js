// <scene-predict> is the question of a scene. A turned knob may ask another one; what was said to the last answer goes.
class ScenePredict extends HTMLElement {
  connectedCallback() {
    this.heard = () => this.renew();
    document.addEventListener("htmx:afterSwap", this.heard);
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:afterSwap", this.heard);
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
