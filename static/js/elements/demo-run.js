// <demo-run> watches one run: whenever it says something, the server is asked for its board again, at most one asking at a
// time and the newest last. When the run is over, a slider replays it.
class DemoRun extends HTMLElement {
  connectedCallback() {
    this.place = this.querySelector("#demos-board");
    this.path = `${this.dataset.path ?? "/demos/runs"}/${this.dataset.id}`;
    this.replay = this.querySelector(".demos-replay");
    this.range = this.replay?.querySelector("input");
    this.range?.addEventListener("input", () => this.moment());
    if (!("live" in this.dataset)) return this.ended();
    this.stream = new EventSource(`/demos/runs/${this.dataset.id}/events`);
    this.stream.addEventListener("more", () => this.ask());
    this.stream.addEventListener("over", () => this.over());
  }

  disconnectedCallback() {
    this.stream?.close();
  }

  // one request under way; what happens meanwhile is asked for once more after it
  async ask(query = "") {
    if (this.asking) {
      this.wanted = query;
      return;
    }
    this.asking = true;
    await globalThis.htmx.ajax("GET", `${this.path}/board${query || location.search}`, { target: this.place, swap: "innerHTML" });
    this.asking = false;
    if (this.wanted === undefined) return;
    const next = this.wanted;
    this.wanted = undefined;
    await this.ask(next);
  }

  async over() {
    this.stream.close();
    await this.ask();
    document.querySelector("form[action$='/cancel']")?.remove();
    this.ended();
  }

  ended() {
    if (!this.replay) return; // a trace has no moments to go back to
    this.replay.hidden = false;
    this.show(1);
  }

  get seconds() {
    return Number(this.querySelector("[data-length]")?.dataset.length ?? 0);
  }

  moment() {
    const share = Number(this.range.value) / 1000;
    this.show(share);
    this.ask(share < 1 ? `?t=${(share * this.seconds).toFixed(3)}` : "");
  }

  show(share) {
    this.range.parentElement.style.setProperty("--at", `${(100 * share).toFixed(1)}%`);
    const words = `${(share * this.seconds).toFixed(2)} s`;
    this.replay.querySelector("output").textContent = words;
    this.range.setAttribute("aria-valuetext", words);
  }
}

customElements.define("demo-run", DemoRun);
