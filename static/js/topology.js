// The floor's own pieces besides the planner's: the floor lights groups and plays a step.
import "./elements/axis-order.js";
import "./elements/pin-plan.js";
import "./elements/plan-form.js";
import "./elements/topology-floor.js";
import "./elements/working-slip.js";
