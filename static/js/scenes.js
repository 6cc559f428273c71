// What a scene's page needs besides htmx: the player, and the slip that shows a number's working.
import "./elements/film-player.js";
import "./elements/film-take.js";
import "./elements/scene-player.js";
import "./elements/scene-predict.js";
import "./elements/working-slip.js";
