// One step of training on the floor: at any moment it knows what each stage runs, which stages hand over and whether
// gradients travel, and says so with attributes. Times are shares of the step; the engine gave them.
const SPEED = 1 / 12000; // shares a millisecond: a step takes twelve seconds, whatever it takes in truth

export class StepClock {
  constructor(host, step) {
    Object.assign(this, { host, step, at: 0, playing: false });
    this.marks = step.stages.map((_, stage) => [...host.querySelectorAll(`.stage-${stage}`)]);
    this.range = host.querySelector("[data-play] ~ .range input");
    this.clock = host.querySelector("[data-clock]");
    this.button = host.querySelector("[data-play]");
    this.button.onclick = () => this.toggle();
    this.range.oninput = () => this.go(this.range.value / 1000);
    host.querySelector(".topology-player").hidden = false;
    host.querySelector(".topology-stops").replaceChildren(...step.stops.map(([name, share]) => this.stop(name, share)));
    this.show(false);
  }

  stop(name, share) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button button-plain", textContent: name });
    button.onclick = () => this.go(share + 1e-4);
    return button;
  }

  go(share) {
    this.pause();
    this.at = Math.min(Math.max(share, 0), 1);
    this.show(true);
  }

  toggle() {
    if (this.playing) return this.pause();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.next();
    if (this.at >= 1) this.at = 0;
    this.playing = true;
    this.press();
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing || !this.host.isConnected) return;
      this.at = Math.min(1, this.at + (now - last) * SPEED);
      last = now;
      this.show(true);
      if (this.at < 1) requestAnimationFrame(tick);
      else this.pause();
    };
    requestAnimationFrame(tick);
  }

  // without motion a press goes to the next named moment
  next() {
    const later = this.step.stops.find(([, share]) => share > this.at);
    this.go(later ? later[1] + 1e-4 : 0);
  }

  pause() {
    this.playing = false;
    this.press();
  }

  press() {
    this.button.setAttribute("aria-pressed", String(this.playing));
    this.button.textContent = this.playing ? "pause" : "play one step";
  }

  show(shown) {
    const { at, host, step } = this;
    const active = shown && at > 0;
    host.toggleAttribute("data-playing", active);
    step.stages.forEach((spans, stage) => this.paint(this.marks[stage], active ? this.running(spans) : ""));
    const [start, end] = step.gradients;
    host.toggleAttribute("data-gradients", active && at >= start && at <= end);
    host.toggleAttribute("data-hop", active && step.stages.length > 1 && step.stages.some((spans) => this.handing(spans)));
    if (document.activeElement !== this.range || this.playing) this.range.value = Math.round(at * 1000);
    this.range.parentElement.style.setProperty("--at", `${(100 * at).toFixed(1)}%`);
    const words = `${(at * step.seconds).toFixed(2)} of ${step.text}`;
    if (this.clock.textContent !== words) this.clock.textContent = words;
    this.range.setAttribute("aria-valuetext", words);
  }

  paint(groups, op) {
    for (const group of groups) {
      if ((group.dataset.op ?? "") === op) continue;
      if (op === "") delete group.dataset.op;
      else group.dataset.op = op;
    }
  }

  // the last span that has begun, by bisection: spans are start, end, kind, in order
  begun(spans) {
    let low = -1;
    let high = spans.length / 3;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (spans[3 * middle] <= this.at) low = middle;
      else high = middle;
    }
    return low;
  }

  running(spans) {
    const span = this.begun(spans);
    return span >= 0 && this.at < spans[3 * span + 1] ? String(spans[3 * span + 2]) : "";
  }

  handing(spans) {
    for (let span = this.begun(spans); span >= 0 && span >= this.begun(spans) - 1; span--) {
      const since = this.at - spans[3 * span + 1];
      if (since >= 0 && since < this.step.hop) return true;
    }
    return false;
  }
}
