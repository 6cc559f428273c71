// <plot-chart library="…plotly.js"> draws the chart in its <script type="application/json">, once it comes near the
// window; the library is loaded then, once a page. Until then, and without it, what else stands inside is shown: a
// drawing or a table. Colours in the data are names of tokens ("--tp"): they are looked up for the board in use.
//
//   <plot-chart library="{{ asset('plotly.js') }}" label="Memory over the step">
//     <script type="application/json">{{ chart }}</script>
//     <div class="plot-area"></div>
//     <details><summary>as a table</summary><table>…</table></details>
//   </plot-chart>
const libraries = new Map();
// Plotly writes the style of maps into the page unless an element of this id is there. We draw no maps, and the page's
// policy refuses styles in it. The id belongs to the version pinned in pyproject.toml.
const MAP_STYLE = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";

function load(address) {
  if (!libraries.has(address)) {
    libraries.set(address, new Promise((resolve, reject) => {
      document.head.append(Object.assign(document.createElement("meta"), { id: MAP_STYLE }));
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve(globalThis.Plotly);
      script.onerror = () => {
        libraries.delete(address); // the next chart may try again
        reject(new Error("the chart library did not load"));
      };
      document.head.append(script);
    }));
  }
  return libraries.get(address);
}

class PlotChart extends HTMLElement {
  connectedCallback() {
    this.area = this.querySelector(".plot-area");
    if (!this.area || !this.getAttribute("library")) return;
    this.stop = new AbortController();
    const { signal } = this.stop;
    addEventListener("board:theme", () => this.draw(), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(), { signal });
    this.closest("details")?.addEventListener("toggle", () => this.draw(), { signal });
    this.near = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      this.draw();
    }, { rootMargin: "300px" });
    this.near.observe(this);
    this.size = new ResizeObserver(() => this.drawn && globalThis.Plotly.Plots.resize(this.area));
    this.size.observe(this);
    this.news = new MutationObserver(() => this.data !== this.text && this.draw());
    this.news.observe(this, { childList: true });
  }

  disconnectedCallback() {
    this.stop?.abort();
    for (const watch of [this.near, this.size, this.news]) watch?.disconnect();
    if (this.drawn) globalThis.Plotly.purge(this.area);
    this.drawn = false;
  }

  get text() {
    return this.querySelector('script[type="application/json"]')?.textContent;
  }

  async draw() {
    if (!this.seen || !this.text || !this.checkVisibility()) return;
    try {
      const plotly = await load(this.getAttribute("library"));
      if (!this.isConnected) return;
      this.data = this.text;
      const chart = this.resolved(JSON.parse(this.data));
      const face = getComputedStyle(this);
      chart.layout.font = { ...chart.layout.font, family: face.fontFamily };
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches && this.drawn) {
        chart.layout.transition = { duration: 160 };
      }
      await plotly.react(this.area, chart.data, chart.layout, { displayModeBar: false, responsive: false });
      this.drawn = true;
      this.area.setAttribute("role", "img");
      this.area.setAttribute("aria-label", this.getAttribute("label") ?? "chart");
      this.toggleAttribute("drawn", true);
    } catch (problem) {
      this.toggleAttribute("failed", true); // the table stays
      console.warn(problem);
    }
  }

  // the same structure with every token's name replaced by its colour on this board
  resolved(part) {
    if (Array.isArray(part)) return part.map((one) => this.resolved(one));
    if (part && typeof part === "object") {
      return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, this.resolved(one)]));
    }
    return typeof part === "string" && part.startsWith("--") ? this.colour(part) : part;
  }

  colour(token) {
    const probe = this.probe ??= Object.assign(document.createElement("i"), { hidden: true });
    probe.style.color = `var(${token})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }
}

customElements.define("plot-chart", PlotChart);
