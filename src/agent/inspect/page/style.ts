/** `page.css`: two columns, on a phone one; light or dark as the reader has it. The colours are those of the sign-in pages (a test says so). */
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
  --away: #8a5a00;
  --sent: #1d5a96;
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
    --away: #e8b95a;
    --sent: #86bdf2;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
html, body { height: 100%; }
body {
  margin: 0;
  display: flex;
  flex-direction: column;
  background: var(--ground);
  color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; padding: 0.75rem 1.25rem; }
.brand { margin: 0; font-weight: 600; letter-spacing: 0.02em; color: var(--accent); }
#state { margin: 0; font-size: 0.875rem; color: var(--away); }
#state::before { content: "\\25CB\\00A0"; }
#state[data-state=online] { color: var(--accent); }
#state[data-state=online]::before { content: "\\25CF\\00A0"; }
#tunnels { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0 0 0 auto; padding: 0; list-style: none; font-size: 0.875rem; min-width: 0; }
#tunnels li { overflow-wrap: anywhere; }
#tunnels .fault { color: var(--away); }
main { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(20rem, 26rem) minmax(0, 1fr); gap: 1px; background: var(--line); border-top: 1px solid var(--line); }
#list { display: flex; flex-direction: column; min-height: 0; background: var(--card); }
#detail { min-height: 0; overflow: auto; background: var(--card); padding: 1.25rem 1.5rem 3rem; }
#detail:focus { outline: none; }
.bar { display: flex; gap: 0.5rem; padding: 0.75rem; border-bottom: 1px solid var(--line); }
input, button {
  min-height: 40px;
  padding: 0.35rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--field);
  color: inherit;
  font: inherit;
}
input { flex: 1; min-width: 0; }
input::placeholder { color: var(--quiet); opacity: 1; }
button { background: transparent; font-weight: 600; cursor: pointer; white-space: nowrap; }
button:hover { background: var(--phrase); }
button.main { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#requests { flex: 1 1 auto; min-height: 0; overflow: auto; margin: 0; padding: 0; list-style: none; }
#requests:empty { flex: 0; }
.row {
  display: grid;
  grid-template-columns: 2.75rem minmax(0, 1fr) auto;
  gap: 0 0.5rem;
  width: 100%;
  min-height: 0;
  padding: 0.5rem 0.75rem;
  border: 0;
  border-bottom: 1px solid var(--line);
  border-left: 3px solid transparent;
  border-radius: 0;
  background: none;
  font-weight: 400;
  text-align: left;
  white-space: normal;
}
.row[aria-current=true] { background: var(--phrase); border-left-color: var(--accent); }
.row:focus-visible { outline-offset: -2px; }
.row .what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.row .method { font-weight: 600; }
.row .more { grid-column: 2 / -1; font-size: 0.8125rem; color: var(--quiet); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.row .took { color: var(--quiet); font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
.status { font-weight: 600; font-variant-numeric: tabular-nums; color: var(--quiet); }
.status[data-class="2"] { color: var(--accent); }
.status[data-class="1"], .status[data-class="3"] { color: var(--sent); }
.status[data-class="4"] { color: var(--away); }
.status[data-class="5"], .status[data-class=cut], .unreached { color: var(--alert); }
.quiet { color: var(--quiet); font-size: 0.875rem; }
#count { margin: 0; padding: 0.5rem 0.75rem; border-top: 1px solid var(--line); }
.empty { margin: auto; padding: 2rem 1.5rem; max-width: 24rem; color: var(--quiet); text-align: center; }
.empty h2 { margin: 0 0 0.5rem; font-size: 1.05rem; color: var(--text); }
.empty p { margin: 0; }
#empty, #none-chosen { margin-top: 18vh; }
body[data-empty] #none-chosen { visibility: hidden; }
.alert, .notice { margin: 0 1.25rem 0.75rem; padding: 0.5rem 1rem; border-radius: 4px; overflow-wrap: anywhere; }
.alert { border-left: 3px solid var(--alert); background: var(--alert-ground); color: var(--alert); }
.notice { border-left: 3px solid var(--accent); background: var(--phrase); }
h1 { margin: 0 0 0.75rem; font-size: 1.15rem; line-height: 1.35; overflow-wrap: anywhere; }
h1 .target { font-weight: 400; }
h2 { margin: 0; font-size: 1.05rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0 0 1rem; }
.facts { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; margin: 0 0 1rem; }
.facts div { min-width: 0; }
.facts dt { font-size: 0.8125rem; color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.timing { display: flex; height: 6px; margin: 0 0 1.5rem; border-radius: 3px; overflow: hidden; background: var(--line); }
.timing .waited { background: var(--accent); }
.timing .rest { background: var(--sent); }
.message { margin: 0 0 1.75rem; }
.message > .head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; padding-bottom: 0.35rem; margin-bottom: 0.5rem; border-bottom: 1px solid var(--line); }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; margin: 0 0 0.75rem; }
th, td { padding: 0.15rem 0.75rem 0.15rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { width: 13rem; font-weight: 600; color: var(--quiet); }
pre {
  margin: 0 0 0.5rem;
  padding: 0.75rem 1rem;
  max-height: 32rem;
  overflow: auto;
  background: var(--phrase);
  border-radius: 8px;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  font: 0.8125rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
table.form { background: var(--phrase); border-radius: 8px; }
table.form :is(th, td) { padding: 0.35rem 1rem; }
pre.hex { white-space: pre; overflow-wrap: normal; }
td, .row .what, h1 .target, .facts dd.mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.row .what { font-size: 0.875rem; }
a { color: var(--accent); }
img.body { display: block; max-width: 100%; max-height: 24rem; border: 1px solid var(--line); background: repeating-conic-gradient(var(--line) 0 25%, transparent 0 50%) 0 0 / 16px 16px; }
.back { display: none; }
@media (max-width: 48rem) {
  html, body { height: auto; }
  body { min-height: 100vh; min-height: 100dvh; }
  header { padding: 0.75rem 1rem; }
  #tunnels { margin: 0; width: 100%; }
  main { display: block; background: var(--card); }
  #list { min-height: 60vh; }
  #requests { overflow: visible; }
  .bar { position: sticky; top: 0; background: var(--card); }
  input, button { min-height: 44px; }
  #detail { padding: 1rem; }
  body[data-view=list] #detail, body[data-view=detail] #list { display: none; }
  .back { display: inline-block; }
  th { width: 40%; }
  pre { max-height: none; }
}
@media (prefers-reduced-motion: no-preference) {
  .row[data-fresh] { animation: fresh 1.2s ease-out; }
  @keyframes fresh { from { background: var(--phrase); } }
}
`;
