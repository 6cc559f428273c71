// The front page: the film that it opens with. It plays once when it comes into view; its button plays it again.
import "./elements/film-once.js";
