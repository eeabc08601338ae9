/**
 * What all pages under `/app/` have in common: plain HTML with scripts and a style of their own, nothing inline and nothing from another
 * host, so that the policy can forbid all of that. What is filled in is words of our own list and a few facts; everything that comes from
 * elsewhere is put in by the scripts as text. The address of every part is relative to the page, for it is served under `/api` too.
 */

export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  // Without its script a form would send the password in the address.
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What the server knows at a visit. */
export interface PageFacts {
  /** A parameter of the address; may be anything. */
  readonly query: (name: string) => string | undefined;
  /** The browser holds a live session: the page need not ask for a password. */
  readonly signedIn: boolean;
}

interface PageParts {
  readonly title: string;
  /** File of the page's own script. */
  readonly script: string;
  /** Whether the address holds all that the page needs; without it the script does not ask anybody to sign in. */
  readonly complete: boolean;
  readonly body: string;
}

/** A whole page. The parts are trusted HTML. */
export function pageDocument({ title, script, complete, body }: PageParts, { signedIn }: PageFacts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Culvert</title>
<link rel="stylesheet" href="page.css">
<link rel="icon" href="data:,">
<script type="module" src="${script}"></script>
</head>
<body>
<main data-address="${complete ? 'complete' : 'incomplete'}" data-session="${signedIn ? 'live' : 'none'}">
<p class="brand">Culvert</p>
${body}
<noscript><p class="alert">This page needs JavaScript.</p></noscript>
</main>
</body>
</html>
`;
}

/** Where the scripts say what went wrong, and what went well. */
export const MESSAGES = `<p class="alert" id="problem" role="alert" hidden></p>
<p class="notice" id="notice" role="status" hidden></p>
<p class="quiet" id="loading" data-part>One moment …</p>`;
