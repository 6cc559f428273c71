// What lessons need besides htmx: the slip that shows a number's working, and a memory of what was read.
import "./elements/film-once.js";
import "./elements/lesson-progress.js";
import "./elements/working-slip.js";
