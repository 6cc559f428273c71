// What each key does to a player of films.
const FINE_S = 0.1;
const LATER = (player) => player.seek(player.clock.t + FINE_S);
const EARLIER = (player) => player.seek(player.clock.t - FINE_S);
const KEYS = {
  " ": (player) => player.play(),
  ArrowRight: (player) => player.after(),
  ArrowLeft: (player) => player.before(),
  ".": LATER,
  ",": EARLIER,
  Home: (player) => player.go(0),
  End: (player) => player.go(Infinity),
  "[": (player) => player.faster(-1),
  "]": (player) => player.faster(1),
  w: (player) => player.why(),
  Escape: (player) => player.asking.leave(),
};
const FINE = { ArrowRight: LATER, ArrowLeft: EARLIER };
const [ON, BACK] = [1, -1].map((by) => (player) => player.asking.step(by));
const WALK = { ArrowRight: ON, ArrowDown: ON, ArrowLeft: BACK, ArrowUp: BACK }; // among marks that are asked "why?"

// what is done on a key; walking: while the arrows go among marks; nothing for a key that means nothing
export const deedOf = ({ key, shiftKey }, walking) => (walking && WALK[key]) || (shiftKey && FINE[key]) || KEYS[key];
