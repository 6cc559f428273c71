// <slider-field> keeps a number field and a range together. The number is what the form sends; the range is a hand on
// it, on a linear or a doubling scale. The number follows the hand at once, whatever the server is doing.
class SliderField extends HTMLElement {
  connectedCallback() {
    this.number = this.querySelector("input[type=number]");
    this.range = this.querySelector("input[type=range]");
    if (!this.number || !this.range) return;
    this.doubling = this.dataset.scale === "doubling";
    if (this.doubling) {
      this.range.min = Math.log2(Number(this.number.min));
      this.range.max = Math.log2(Number(this.number.max));
      this.range.step = 1;
    }
    this.range.addEventListener("input", () => {
      this.number.value = this.doubling ? 2 ** Number(this.range.value) : this.range.value;
      this.show();
    });
    this.number.addEventListener("input", () => this.follow());
    this.number.form?.addEventListener("reset", () => setTimeout(() => this.follow()));
    this.follow();
  }

  follow() {
    const value = Number(this.number.value);
    if (this.number.value !== "" && !Number.isNaN(value)) {
      this.range.value = this.doubling ? Math.log2(Math.max(value, Number(this.number.min))) : value;
    }
    this.show();
  }

  show() {
    const { min, max, value } = this.range;
    const share = (Number(value) - Number(min)) / (Number(max) - Number(min) || 1);
    this.range.parentElement.style.setProperty("--at", `${(100 * share).toFixed(1)}%`);
    const words = this.querySelector("[data-one]");
    const unit = words && this.number.value === "1" ? words.dataset.one : this.range.dataset.unit;
    if (words) words.textContent = unit;
    this.range.setAttribute("aria-valuetext", `${this.number.value || this.number.placeholder} ${unit}`.trim());
  }
}

customElements.define("slider-field", SliderField);
