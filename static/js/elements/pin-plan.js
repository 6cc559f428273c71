// <pin-plan data-pin> keeps plans on this machine until they are looked at side by side; <pinned-plans> is the page that
// shows them, and what it shows is what is kept. Without the script a pin leads to that page with one plan alone.
const KEPT = "pins";
const MOST = 6;

const kept = () => {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    return []; // not ours
  }
};
const keep = (pins) => localStorage.setItem(KEPT, JSON.stringify(pins));
const pinsOf = (search) => {
  const given = new URLSearchParams(search);
  const was = given.getAll("was");
  return given.getAll("plan").map((plan, at) => new URLSearchParams({ plan, was: was[at] ?? "" }).toString());
};
const planOf = (pin) => new URLSearchParams(pin).get("plan");

class PinPlan extends HTMLElement {
  connectedCallback() {
    this.link = this.querySelector("a");
    this.link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || this.pinned()) return;
      event.preventDefault();
      keep([...kept(), this.dataset.pin].slice(-MOST));
      this.show();
    });
    this.show();
  }

  pinned() {
    return kept().some((pin) => planOf(pin) === planOf(this.dataset.pin));
  }

  show() {
    const pins = kept();
    const all = this.pinned() ? pins : [...pins, this.dataset.pin].slice(-MOST);
    this.link.href = `/plan/pins?${all.join("&")}`;
    this.link.textContent = this.pinned() ? `${pins.length} pinned` : pins.length ? `pin beside ${pins.length}` : "pin";
  }
}

class PinnedPlans extends HTMLElement {
  connectedCallback() {
    const pins = pinsOf(location.search);
    if (pins.length) keep(pins);
    else if (kept().length) location.replace(`/plan/pins?${kept().join("&")}`);
    for (const link of this.querySelectorAll("[data-unpin]")) link.addEventListener("click", () => keep(pinsOf(link.search)));
  }
}

customElements.define("pin-plan", PinPlan);
customElements.define("pinned-plans", PinnedPlans);
