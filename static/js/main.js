// Everything works without this file; it adds the hand that moves things. One custom element per file.
import "./elements/theme-switch.js";
import "./elements/slider-field.js";
import "./elements/server-line.js";
