// <server-line> is the line to the server. What htmx could not get turns grey (data-stale), and this says why and from
// when it is. A question that is only read is asked again until it is answered; the next good answer clears its region.
const AGAIN_MS = 3000;
const PASSING = [0, 408, 425, 429, 502, 503, 504]; // no answer, or one that may be another in a while
const LONGEST = 60000; // characters of an address; servers and proxies read about so many

const keyOf = (target) => target.id || target;
const timeOf = (date) => date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

class ServerLine extends HTMLElement {
  connectedCallback() {
    this.loaded = new Date();
    this.came = new Map(); // when what a region shows came
    this.missing = new Map(); // target -> what was asked for it, and why it is not there
    document.addEventListener("htmx:beforeRequest", ({ detail }) => this.asked(detail));
    document.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && this.answered(detail));
    document.addEventListener("htmx:sendError", ({ detail }) => this.failed(detail, "The server does not answer."));
    document.addEventListener("htmx:timeout", ({ detail }) => this.failed(detail, `The server has not answered for ${detail.xhr.timeout / 1000} s.`));
    document.addEventListener("htmx:responseError", ({ detail }) => this.failed(detail, this.sentence(detail.xhr)));
  }

  // a hand asks anew: what is asked again on its own must not overtake it
  asked({ elt }) {
    if (elt !== this) globalThis.htmx.trigger(this, "htmx:abort");
  }

  answered({ requestConfig: { target } }) {
    this.came.set(keyOf(target), new Date());
    target.removeAttribute("data-stale");
    this.missing.delete(target);
    this.show();
  }

  failed({ requestConfig: { target, verb }, pathInfo, xhr, etc, elt }, why) {
    const path = pathInfo.finalRequestPath;
    const long = path.length > LONGEST;
    const swap = etc.swapOverride ?? elt.closest("[hx-swap]")?.getAttribute("hx-swap") ?? "innerHTML";
    const words = `What is set here makes an address of ${path.length.toLocaleString()} characters, and no more than ${LONGEST.toLocaleString()} are read: set or paste less.`;
    target.setAttribute("data-stale", "");
    this.missing.set(target, { path, swap, why: long ? words : why, again: verb === "get" && !long && PASSING.includes(xhr.status) });
    this.show();
  }

  // the sentence that an error brings along, as a page, as text or as JSON
  sentence({ status, responseText }) {
    const page = new DOMParser().parseFromString(responseText, "text/html");
    let text = page.querySelector(".error > p, .refusal")?.textContent ?? "";
    if (!text && page.body.children.length === 0) text = responseText.slice(0, 600);
    try {
      text = JSON.parse(responseText).error ?? text;
    } catch {
      // no JSON, then
    }
    return text.trim() || `The server answers with an error (${status}).`;
  }

  show() {
    clearTimeout(this.timer);
    for (const target of [...this.missing.keys()]) if (!target.isConnected) this.missing.delete(target);
    const all = [...this.missing];
    const again = all.some(([, { again }]) => again);
    const [target, { why }] = all.at(-1) ?? [null, {}];
    const from = target && timeOf(this.came.get(keyOf(target)) ?? this.loaded);
    const words = target ? `${why} What is shown in grey is from ${from}${again ? "; it is asked for again until it comes" : ""}.` : "";
    if (this.textContent !== words) this.textContent = words;
    if (again) this.timer = setTimeout(() => this.again(), AGAIN_MS);
  }

  again() {
    const all = [...this.missing].filter(([target, { again }]) => again && target.isConnected);
    for (const [target, { path, swap }] of all) {
      globalThis.htmx.ajax("GET", path, { source: this, target, swap }).catch(() => {}); // told by the event already
    }
    if (!all.length) this.show();
  }
}

customElements.define("server-line", ServerLine);
