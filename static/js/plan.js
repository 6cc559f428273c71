// The planner's own pieces; htmx fetches and swaps, these only look after the form and the slip.
import "./elements/axis-order.js";
import "./elements/pin-plan.js";
import "./elements/plan-form.js";
import "./elements/plot-chart.js";
import "./elements/working-slip.js";
