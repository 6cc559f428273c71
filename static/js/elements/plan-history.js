// Every change that a hand lets go of is an entry of the browser's history: Back takes it back, and so do the button and
// Ctrl+Z outside of text. An entry keeps what the form sent; going back puts that in again and asks for its board.
const TYPED = "input:not([type=range], [type=radio], [type=checkbox]), textarea";

export class PlanHistory {
  constructor(form, undo) {
    this.form = form;
    this.undo = undo;
    history.replaceState(this.entry(history.state?.place ?? 0), "");
    addEventListener("popstate", ({ state }) => state?.fields && this.restore(state.fields));
    undo.addEventListener("click", () => history.back());
    document.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }

  get place() {
    return history.state?.place ?? 0;
  }

  entry(place) {
    return { place, fields: [...new FormData(this.form)] };
  }

  // mended: what the server made of the last change, and no change of its own
  keep(address, mended = false) {
    const entry = this.entry(this.place + 1);
    if (mended || JSON.stringify(entry.fields) === JSON.stringify(history.state?.fields)) {
      history.replaceState({ ...entry, place: this.place }, "", address);
    } else {
      history.pushState(entry, "", address);
    }
    this.show();
  }

  restore(fields) {
    for (const [name, text] of fields) {
      const control = this.form.elements[name];
      if (!control || control.value === text) continue;
      control.value = text;
      control.dispatchEvent?.(new Event("input")); // its slider, its chips; the form is asked once, below
    }
    this.form.dispatchEvent(new Event("input", { bubbles: true }));
    this.show();
  }

  key(event) {
    const undo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (!undo || this.place === 0 || event.target.matches?.(TYPED)) return;
    event.preventDefault();
    history.back();
  }

  show() {
    this.undo.hidden = this.place === 0;
  }
}
