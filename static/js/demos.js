// The demos' own pieces: sliders come with main.js, this one watches a run.
import "./elements/demo-run.js";
