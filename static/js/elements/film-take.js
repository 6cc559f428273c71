// <film-take> takes a moment of the film away: its link, its picture as SVG or PNG, all stops on a page, an address to embed.
// All of them are of the moment and the knobs at which they are pressed, and of the board that is seen.
const DARK = matchMedia("(prefers-color-scheme: dark)");
const SAID_MS = 1500;
const SCALE = 2; // pixels of a PNG a unit

class FilmTake extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", (event) => this.click(event.target.closest("[data-take]"), event));
  }

  click(button, event) {
    const player = this.closest("film-player");
    if (!button || !player.clock) return;
    player.tell();
    const does = { link: () => this.link(button), png: () => this.png(button) }[button.dataset.take];
    if (!does) return (button.href = this.address(button.dataset.take));
    event.preventDefault();
    does();
  }

  // of what is taken, at this moment
  address(what) {
    const query = new URLSearchParams(location.search);
    if (what !== "embed") query.set("board", this.board);
    return `/scenes/${this.dataset.name}/${what}?${query}`;
  }

  get board() {
    const { theme } = document.documentElement.dataset;
    return theme === "dark" || (theme === "auto" && DARK.matches) ? "dark" : "light";
  }

  async link(button) {
    const link = new URL(`/scenes/${this.dataset.name}${location.search}`, location.href).href;
    this.say(button, (await this.copied(link)) ? "copied" : "not copied");
  }

  // a page that did not come by https may only copy what is selected
  async copied(words) {
    if (navigator.clipboard) return navigator.clipboard.writeText(words).then(() => true, () => false);
    const field = Object.assign(document.createElement("textarea"), { value: words });
    this.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }

  async png(button) {
    const form = this.closest("film-player").asking.svg.classList.contains("film-tall") ? "tall" : "wide";
    const image = Object.assign(new Image(), { src: `${this.address("moment.svg")}&form=${form}` });
    await image.decode().catch(() => null);
    if (!image.naturalWidth) return this.say(button, "not drawn");
    const canvas = Object.assign(document.createElement("canvas"), { width: SCALE * image.width, height: SCALE * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done));
    const saved = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${this.dataset.name}.png` });
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), SAID_MS);
  }

  say(button, words) {
    const before = (button.dataset.words ??= button.textContent);
    button.textContent = words;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (button.textContent = before), SAID_MS);
  }
}

customElements.define("film-take", FilmTake);
