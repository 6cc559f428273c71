// What the page of a film asks the server for, and how it takes it in: the address of a moment, the composition that this
// window sees, and the swap of a picture, whose thousand strokes htmx would otherwise visit one by one, twice.
export const STAGE = ".film-stage"; // what a turned knob swaps: other parts of the page are swapped too
const PHONE = matchMedia("(width < 44rem)"); // as the style sheet has it

// the composition that this window sees
export const seen = () => (PHONE.matches ? "tall" : "wide");

// the address of this moment, with the knobs where there are any
export const tell = (t) => {
  const form = document.getElementById("scene-form");
  const query = new URLSearchParams(form ? new FormData(form) : location.search);
  for (const name of ["frame", "form"]) query.delete(name);
  query.set("t", String(Math.round(t * 1000) / 1000));
  history.replaceState(null, "", `?${query}`);
};

// a turned knob sends only the composition that is seen; a window that comes to see the other one asks for it
export const askForSeen = (player) => {
  const [field, form] = [document.querySelector("[data-form]"), seen()];
  if (!field) return;
  field.value = form;
  if (!player.querySelector(`.film-${form}`)) field.dispatchEvent(new Event("input", { bubbles: true }));
};

// before a swap: the picture that goes
export const leaves = ({ target, detail }, player) => {
  if (target.matches(STAGE) && detail.shouldSwap) for (const svg of player.querySelectorAll(".film-drawing")) svg.remove();
};

// after it: the picture that came; gives its film, or nothing where one is refused
export const unfolded = (player) => {
  const [sent, said] = ["template[data-picture]", "script[data-film]"].map((each) => player.querySelector(each));
  sent?.replaceWith(sent.content);
  return said && JSON.parse(said.textContent);
};
