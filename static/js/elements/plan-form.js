// <plan-form> looks after the planner's form. It puts what the server says into the slots under the controls, keeps the
// address in step when a hand lets go, and lets the server know whether there is room for wide figures.
import { PlanHistory } from "./plan-history.js";

const NARROW = matchMedia("(width < 52rem)");

class PlanForm extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.history = new PlanHistory(this.form, this.querySelector("[data-undo]"));
    this.addEventListener("input", ({ target }) => target.name === "cluster" && this.follow(target.value), true);
    this.addEventListener("change", () => this.remember());
    document.addEventListener("htmx:afterSwap", ({ target }) => target.id?.startsWith("plan-") && this.say());
    NARROW.addEventListener("change", () => this.room());
    this.room();
    this.fold();
    this.say();
  }

  // a group that was folded stays folded, on this page and the other
  fold() {
    for (const group of this.querySelectorAll(".plan-group")) {
      const kept = `fold ${group.dataset.group}`;
      if (localStorage.getItem(kept)) group.open = false;
      group.addEventListener("toggle", () => (group.open ? localStorage.removeItem(kept) : localStorage.setItem(kept, "1")));
    }
  }

  // another cluster brings its own network: before the form is read, and so before it is sent
  follow(cluster) {
    const nic = this.form.elements.nic;
    nic.value = JSON.parse(this.dataset.nics)[cluster] ?? nic.value;
    nic.closest("slider-field")?.follow?.();
  }

  // what is left empty is left out, where empty has a meaning: a field that was cleared stays cleared
  remember(mended = false) {
    document.querySelector(".plan-presets [aria-current]")?.removeAttribute("aria-current"); // no longer that plan
    const query = new URLSearchParams(new FormData(this.form));
    for (const [name, text] of [...query]) {
      if (text === "" && this.form.elements[name].type !== "number") query.delete(name);
    }
    this.carry(new URLSearchParams(query));
    this.history.keep(`${this.form.getAttribute("action")}?${query}`, mended);
  }

  // links and forms that lead elsewhere take the plan along, without what only this page adds to it
  carry(query) {
    for (const name of JSON.parse(this.dataset.own)) query.delete(name);
    for (const each of document.querySelectorAll("[data-carries]")) {
      const place = each instanceof HTMLFormElement ? "action" : "href";
      each.setAttribute(place, `${each.getAttribute(place).split("?")[0]}?${query}`);
    }
  }

  say() {
    const data = document.getElementById("plan-says");
    if (!data || data.textContent === this.said) return;
    this.said = data.textContent;
    const { state, ignored, fields } = JSON.parse(this.said);
    document.getElementById("plan-ignored").textContent = ignored;
    for (const slot of this.querySelectorAll(".says")) {
      const name = slot.id.slice("says-".length);
      const { refusal = "", remark = "", text } = fields[name] ?? {};
      if (text !== undefined) this.reduce(name, text);
      this.fill(slot, refusal, remark);
      this.mark(name, slot.id, refusal !== "");
    }
    const words = document.getElementById("plan-state");
    words.toggleAttribute("data-refused", state !== "");
    if (words.textContent !== state) words.textContent = state;
  }

  // a pasted file comes back with the keys that are read alone: that is what the address holds
  reduce(name, text) {
    this.form.elements[name].value = text;
    this.remember(true);
  }

  fill(slot, refusal, remark) {
    const text = refusal || remark;
    slot.toggleAttribute("data-refused", refusal !== "");
    if (slot.textContent === text) return;
    slot.textContent = "";
    if (!text) return;
    const line = slot.appendChild(document.createElement("p"));
    line.className = refusal ? "refusal" : "remark";
    line.textContent = text;
  }

  mark(name, id, refused) {
    const found = this.form.elements[name];
    for (const input of found instanceof RadioNodeList ? found : [found]) {
      if (!input) continue;
      input.setAttribute("aria-describedby", id);
      if (refused) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  room() {
    if (document.cookie.includes("narrow=1") === NARROW.matches) return;
    document.cookie = `narrow=${NARROW.matches ? 1 : 0}; path=/; samesite=lax`;
    const ask = () => this.form.dispatchEvent(new Event("input", { bubbles: true }));
    if (document.readyState === "complete") ask();
    else addEventListener("load", ask, { once: true });
  }
}

customElements.define("plan-form", PlanForm);
