"""The lessons, their exercises, the glossary and the sources."""
