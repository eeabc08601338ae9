/** `page.css`, the style of the pages under `/app/`: one column that fits a phone, light or dark as the reader has it. */
export const STYLE = `:root {
  color-scheme: light dark;
  --ground: #f4f5f4;
  --card: #ffffff;
  --text: #1c2321;
  --quiet: #5b6662;
  --line: #d5dad7;
  --field: #ffffff;
  --accent: #0b6b57;
  --on-accent: #ffffff;
  --alert: #a4262c;
  --alert-ground: #fdf1f1;
  --phrase: #eaf3f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121615;
    --card: #1b211f;
    --text: #e6ebe9;
    --quiet: #9aa7a2;
    --line: #37413e;
    --field: #141918;
    --accent: #57c7aa;
    --on-accent: #06251d;
    --alert: #ff9b9b;
    --alert-ground: #331d1e;
    --phrase: #15302a;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0;
  min-height: 100vh;
  display: flex;
  align-items: flex-start;
  justify-content: center;
  padding: clamp(0rem, 8vh, 5rem) 0;
  background: var(--ground);
  color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main {
  width: 100%;
  max-width: 28rem;
  padding: 2rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 12px;
}
.brand { margin: 0 0 1.5rem; font-weight: 600; letter-spacing: 0.02em; color: var(--accent); }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 0.5rem; font-size: 1.05rem; }
#home h2 { margin-top: 1.75rem; }
#invited { margin-bottom: 1.5rem; }
p { margin: 0 0 0.75rem; }
ul { margin: 0 0 1.25rem; padding-left: 1.25rem; }
pre {
  margin: 0 0 1rem;
  padding: 0.75rem 1rem;
  background: var(--phrase);
  border-radius: 8px;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
a { color: var(--accent); }
pre, code { font: 0.9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { white-space: nowrap; }
strong, #label { overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.phrase { margin: 0 0 1.5rem; padding: 1rem; background: var(--phrase); border-radius: 8px; }
.phrase p:last-child { margin: 0; }
.words {
  margin: 0 0 0.5rem;
  font: 600 clamp(1.05rem, 5.4vw, 1.35rem)/1.3 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.alert, .notice { margin-bottom: 1.25rem; overflow-wrap: anywhere; }
.rows { padding: 0; list-style: none; border-top: 1px solid var(--line); }
.rows li { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
.notice { padding: 0.75rem 1rem; border-left: 3px solid var(--accent); border-radius: 4px; background: var(--phrase); }
.alert { padding: 0.75rem 1rem; border-left: 3px solid var(--alert); border-radius: 4px; background: var(--alert-ground); color: var(--alert); }
label + input + .quiet { margin: 0.25rem 0 0; }
label { display: block; margin: 0.75rem 0 0.25rem; font-size: 0.875rem; font-weight: 600; }
input, select {
  width: 100%;
  min-height: 44px;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--field);
  color: inherit;
  font: inherit;
}
button, a.button, a.link {
  display: block;
  width: 100%;
  min-height: 44px;
  margin-top: 0.75rem;
  padding: 0.5rem 1rem;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: transparent;
  color: inherit;
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
button.main, a.main { margin-top: 1.25rem; border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
#approve button.main, #accept button.main { margin-top: 0; }
a.main, #sign-out { margin-top: 1.5rem; }
button.link, a.link { border-color: transparent; color: var(--accent); font-weight: 400; }
button:disabled { opacity: 0.6; cursor: default; }
#providers { margin-top: 1.25rem; padding-top: 0.5rem; border-top: 1px solid var(--line); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
section:focus, form:focus { outline: none; }
@media (max-width: 30rem) {
  body { padding: 0; }
  main { min-height: 100vh; padding: 1.5rem 1.25rem; border: 0; border-radius: 0; }
}
`;
