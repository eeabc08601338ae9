/**
 * The page of a fault for people in front of a browser: one card in light or dark, without a script. The colours are those of the API's pages
 * (control/web/style.ts), for a sign-in leads over both; this plane can't import them, and a test holds that they are the same.
 */

export interface FaultPage {
  readonly status: number;
  readonly title: string;
  readonly words: string;
  readonly code: string;
  /** For reports of an error, as the access log names it. */
  readonly traceId?: string | undefined;
  /** Where the page leads on: a path of the same host. `posts`: by a button, for what a link must not do. */
  readonly next?: { readonly path: string; readonly words: string; readonly posts?: true } | undefined;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as HTML text. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);
}

function wayTo({ path, words, posts }: NonNullable<FaultPage['next']>): string {
  const text = escapeHtml(words);
  return posts === true
    ? `<form method="post" action="${path}"><button>${text}</button></form>`
    : `<a class="button" href="${path}">${text}</a>`;
}

/** Number and code are for reports of an error; where nothing went wrong they would only puzzle. */
export function faultPage({ status, title, words, code, next, traceId = '' }: FaultPage): string {
  const isError = status >= 400;
  const name = escapeHtml(title);
  const trace = traceId === '' ? '' : `<code>Trace ${escapeHtml(traceId)}</code>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${isError ? `${status} · ` : ''}${name}</title>
<style>
:root{color-scheme:light dark;--ground:#f4f5f4;--card:#ffffff;--text:#1c2321;--quiet:#5b6662;--line:#d5dad7;--accent:#0b6b57;--on-accent:#ffffff}
@media(prefers-color-scheme:dark){:root{--ground:#121615;--card:#1b211f;--text:#e6ebe9;--quiet:#9aa7a2;--line:#37413e;--accent:#57c7aa;--on-accent:#06251d}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;align-items:flex-start;justify-content:center;padding:clamp(0rem,8vh,5rem) 0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{width:100%;max-width:28rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:12px}
h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.25}p{margin:0;overflow-wrap:anywhere}b{color:var(--accent);font-weight:600}
button,.button{display:block;width:100%;min-height:44px;margin-top:1.5rem;padding:.5rem 1rem;border:1px solid var(--accent);border-radius:8px;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code{display:inline-block;max-width:100%;overflow-wrap:anywhere;margin-top:1.25rem;padding:.15rem .5rem;border:1px solid var(--line);border-radius:6px;font-size:.82rem;color:var(--quiet)}
@media(max-width:30rem){body{padding:0}main{min-height:100vh;padding:1.5rem 1.25rem;border:0;border-radius:0}}
</style></head><body><main>${isError ? `<b>${status}</b>` : ''}<h1>${name}</h1><p>${escapeHtml(words)}</p>${next === undefined ? '' : wayTo(next)}${isError ? `<code>${code}</code>${trace}` : ''}</main></body></html>
`;
}
