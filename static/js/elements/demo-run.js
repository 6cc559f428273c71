// <demo-run> watches one run: whenever it says something, the server is asked for its board again, at most one asking at a
// time and the newest last. While the server does not answer the page says so, and goes on when it is back. When the run is
// over, a slider replays it.
const AGAIN_MS = 3000;

class DemoRun extends HTMLElement {
  connectedCallback() {
    this.place = this.querySelector("#demos-board");
    this.path = `${this.dataset.path ?? "/demos/runs"}/${this.dataset.id}`;
    this.replay = this.querySelector(".demos-replay");
    this.range = this.replay?.querySelector("input");
    this.range?.addEventListener("input", () => this.moment());
    if (!("live" in this.dataset)) return this.ended();
    this.lost = this.querySelector(".demos-lost");
    this.listen();
  }

  listen() {
    this.stream = new EventSource(`/demos/runs/${this.dataset.id}/events`);
    this.stream.addEventListener("open", () => this.connected(true));
    this.stream.addEventListener("more", () => this.ask());
    this.stream.addEventListener("over", () => this.over());
    this.stream.addEventListener("error", () => this.connected(false));
  }

  // a browser tries again by itself, except after an answer that was an error
  connected(here) {
    this.lost.hidden = here;
    if (here || this.stream.readyState !== EventSource.CLOSED) return;
    this.later = setTimeout(() => this.listen(), AGAIN_MS);
  }

  disconnectedCallback() {
    clearTimeout(this.later);
    this.stream?.close();
  }

  // one request under way; what happens meanwhile is asked for once more after it
  async ask(query = "") {
    if (this.asking) {
      this.wanted = query;
      return;
    }
    this.asking = true;
    try {
      await globalThis.htmx.ajax("GET", `${this.path}/board${query || location.search}`, { target: this.place, swap: "innerHTML" });
    } catch {
      // the stream says that the connection is lost
    } finally {
      this.asking = false;
    }
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
