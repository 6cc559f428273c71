// The front page: the film that it opens with.
import "./elements/film-once.js";
