// <lesson-progress> remembers, in this browser only, which lessons a reader can say at the board. Around a box to tick it
// keeps that box (data-lesson names the lesson); around a list it marks the lessons done and counts them.
const KEY = "shardboard-lessons";

function remembered() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return new Set(Array.isArray(kept) ? kept : []);
  } catch {
    return new Set(); // no storage, or something that is not ours
  }
}

function remember(done) {
  try {
    localStorage.setItem(KEY, JSON.stringify([...done]));
  } catch {
    // private windows may refuse; the tick then lasts as long as the page
  }
}

class LessonProgress extends HTMLElement {
  connectedCallback() {
    const box = this.querySelector("input");
    if (box) this.keep(box);
    else this.mark();
    addEventListener("storage", () => (box ? (box.checked = remembered().has(this.dataset.lesson)) : this.mark()));
  }

  keep(box) {
    box.checked = remembered().has(this.dataset.lesson);
    box.addEventListener("change", () => {
      const done = remembered();
      if (box.checked) done.add(this.dataset.lesson);
      else done.delete(this.dataset.lesson);
      remember(done);
    });
  }

  mark() {
    const done = remembered();
    const lessons = [...this.querySelectorAll("[data-lesson]")];
    for (const lesson of lessons) lesson.toggleAttribute("data-done", done.has(lesson.dataset.lesson));
    const count = lessons.filter((lesson) => done.has(lesson.dataset.lesson)).length;
    const words = this.querySelector("[data-count]");
    words.hidden = count === 0;
    words.textContent = count === lessons.length ? "all of them done" : `${count} of ${lessons.length} done`;
  }
}

customElements.define("lesson-progress", LessonProgress);
