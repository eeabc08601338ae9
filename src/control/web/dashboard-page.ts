/**
 * The one HTML document of the dashboard, for every address below `/app/`: it names the files that the build has made and a few facts of the
 * server's own. Nothing of the request is on it but `kept`, which this server has sealed.
 */
import type { FileList } from './dashboard-files.ts';

export interface PageFacts {
  /** Lets the styles through that the dashboard's own code makes. */
  readonly nonce: string;
  /** The browser holds a live session: the dashboard need not ask for a password. */
  readonly signedIn: boolean;
  /** A query that the page had by its address before its reader went to an identity provider: its script takes it out at once. */
  readonly kept: string | undefined;
  /** Segments of the address below `/app/`. The files' addresses are relative, for the page is served under `/api` and behind proxies too. */
  readonly segments: readonly string[];
  readonly files: FileList;
}

/** `publicUrl`: the public address of the API; some browsers count no WebSocket of the same host to 'self'. */
export function dashboardPolicy(nonce: string, publicUrl: string): string {
  const { host, protocol } = new URL(publicUrl);
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `connect-src 'self' ${protocol === 'https:' ? 'wss' : 'ws'}://${host}`,
    // Bodies of recorded requests that are pictures; a picture runs nothing.
    'img-src data: blob:',
    "base-uri 'none'",
    // Without its script a form would send the password in the address.
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** In the table of pages: any address. */
const ANY = '*';

/** What the page that is seen first needs, so that it is not asked for only once the entry runs. */
function firstPage({ pages }: FileList, segments: readonly string[], signedIn: boolean): readonly string[] {
  const found = pages.find(({ path, open }) => {
    const names = path.slice(1).split('/');
    const isHere =
      names.length === segments.length && names.every((name, i) => name.startsWith(':') || name === segments[i]);
    return path !== ANY && isHere && (open || signedIn);
  });
  return (found ?? (signedIn ? undefined : pages.find(({ path }) => path === ANY)))?.files ?? [];
}

/** What stands in `#root` is seen until the code is there, whose first drawing takes its place. */
export function dashboardPage({ nonce, signedIn, kept, segments, files }: PageFacts): string {
  const assets = `${'../'.repeat(segments.length - 1)}assets/`;
  const preload = [...files.preload, ...firstPage(files, segments, signedIn)]
    .map((name) => `<link rel="modulepreload" href="${assets}${name}">`)
    .join('\n');
  // Of a query every other sign that means something in HTML is encoded.
  const keptMeta = kept === undefined ? '' : `<meta name="culvert-kept" content="${kept.replaceAll('&', '&amp;')}">\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="csp-nonce" content="${nonce}">
<meta name="culvert-session" content="${signedIn ? 'live' : 'none'}">
${keptMeta}<title>Culvert</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%230b6b57'/%3E%3Cpath d='M6 24a10 10 0 0 1 20 0h-5a5 5 0 0 0-10 0z' fill='%23fff'/%3E%3C/svg%3E">
<script type="module" async src="${assets}${files.start}"></script>
<link rel="stylesheet" href="${assets}${files.style}">
${preload}
<script type="module" src="${assets}${files.script}"></script>
</head>
<body>
<div id="root"><div class="culvert-first" role="status"><strong>Culvert</strong><span>Loading …</span></div></div>
<noscript><p>The dashboard needs JavaScript.</p></noscript>
</body>
</html>
`;
}
