// The stage of a projector.
import "./elements/present-stage.js";
