/** How the panel looks, light or dark as the developer's machine is. */
export const styles = `
:host {
  all: initial;
  position: fixed;
  z-index: 2147483647;
  inset: auto 0.5rem 0.5rem auto;
  color-scheme: light dark;
  font: 12px/1.4 ui-monospace, monospace;
}
details {
  overflow: auto;
  max-width: min(44rem, calc(100vw - 1rem));
  max-height: 60vh;
  border: 1px solid GrayText;
  border-radius: 6px;
  background: Canvas;
  color: CanvasText;
}
summary {
  position: sticky;
  top: 0;
  padding: 0.4rem 0.8rem;
  background: Canvas;
  font-weight: bold;
  cursor: pointer;
}
section {
  padding: 0 0.8rem 0.6rem;
}
h2,
h3 {
  margin: 0.4rem 0 0.2rem;
  font-size: 12px;
}
h2 {
  border-bottom: 1px solid GrayText;
}
p {
  margin: 0.2rem 0;
}
ol {
  margin: 0.2rem 0;
  padding: 0;
  list-style: none;
}
.states {
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem;
}
.states li {
  padding: 0 0.4rem;
  border: 1px solid GrayText;
  border-radius: 4px;
}
.states [aria-current] {
  background: Highlight;
  color: HighlightText;
}
.way {
  overflow: auto;
  max-height: 9rem;
}
table {
  width: 100%;
  border-collapse: collapse;
  text-align: left;
}
th,
td {
  padding: 0.1rem 0.6rem 0.1rem 0;
  overflow-wrap: anywhere;
  vertical-align: top;
}
.bad {
  font-weight: bold;
}
.bad::before {
  content: '! ';
}
`
