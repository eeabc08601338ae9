/**
 * `page.css`, the style of the pages that stand beside the dashboard, about payments and about sign-ins that went wrong: one column that fits a
 * phone, light or dark as the reader has it.
 */
export const STYLE = `:root {
  color-scheme: light dark;
  --ground: #f4f5f4;
  --card: #ffffff;
  --text: #1c2321;
  --quiet: #5b6662;
  --line: #d5dad7;
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
    --accent: #57c7aa;
    --on-accent: #06251d;
    --alert: #ff9b9b;
    --alert-ground: #331d1e;
    --phrase: #15302a;
  }
}
* { box-sizing: border-box; }
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
main.wide { max-width: 52rem; }
h2 { margin: 1.75rem 0 0.5rem; font-size: 1.1rem; }
.brand { margin: 0 0 1.5rem; font-weight: 600; letter-spacing: 0.02em; color: var(--accent); }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 0.75rem; }
a { color: var(--accent); }
code { white-space: nowrap; font: 0.9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; }
pre code { white-space: pre; }
.wide p code { white-space: normal; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.alert, .notice { margin-bottom: 1.25rem; overflow-wrap: anywhere; }
.notice { padding: 0.75rem 1rem; border-left: 3px solid var(--accent); border-radius: 4px; background: var(--phrase); }
.alert { padding: 0.75rem 1rem; border-left: 3px solid var(--alert); border-radius: 4px; background: var(--alert-ground); color: var(--alert); }
a.button {
  display: block;
  width: 100%;
  min-height: 44px;
  margin-top: 1.5rem;
  padding: 0.5rem 1rem;
  border: 1px solid var(--accent);
  border-radius: 8px;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) {
  body { padding: 0; }
  main { min-height: 100vh; padding: 1.5rem 1.25rem; border: 0; border-radius: 0; }
}
`;
