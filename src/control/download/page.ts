/** The page with the program for other machines. It has no script; addresses are relative, for the API is served under `/api` too. */
import { html } from 'hono/html';
import type { OfferedFile, Offer } from './service.ts';
import {
  installLine,
  likelyPlatforms,
  loginLine,
  PLATFORM_NAMES,
  type System,
  SYSTEM_NAMES,
  systemOf,
  SYSTEMS,
} from './systems.ts';

interface Facts {
  readonly offer: Offer;
  readonly publicUrl: string;
  /** URL of the files, without a slash at its end. */
  readonly base: string;
  readonly userAgent: string;
}

/** Fetches what is missing; on the machine of the server. */
const FETCH = 'sudo culvert admin releases fetch --all-platforms';

export function downloadPage({ offer, publicUrl, base, userAgent }: Facts) {
  const own = systemOf(userAgent);
  const systems = [...SYSTEMS].sort((a, b) => Number(b === own) - Number(a === own));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Download Culvert ${offer.version}</title>
<link rel="stylesheet" href="../app/page.css">
<link rel="icon" href="data:,">
</head>
<body>
<main class="wide">
<p class="brand">Culvert</p>
<h1>Install Culvert ${offer.version}</h1>
<p>The program of this server, for your machine. All files are signed.</p>
${offer.isRelease ? '' : sourceNote()}
${offer.isRelease ? systems.map((system) => systemPart(system, { offer, base, isOwn: system === own })) : ''}
<h2>Log in</h2>
<pre><code>${loginLine(publicUrl)}
culvert http 3000</code></pre>
${offer.files.length > 0 ? fileTable(offer.files, own, userAgent) : ''}
${offer.isRelease && offer.missing.length > 0 ? missingNote(offer) : ''}
<p class="quiet"><a href="../docs/install">More about the installation</a></p>
</main>
</body>
</html>`;
}

function sourceNote() {
  return html`<p class="notice">This server was built from source, so it offers no files. Build the same version on your machine, or use a release.</p>`;
}

function systemPart(
  system: System,
  { offer, base, isOwn }: { readonly offer: Offer; readonly base: string; readonly isOwn: boolean },
) {
  const title = html`<h2>${SYSTEM_NAMES[system]}${isOwn ? ' (your system)' : ''}</h2>`;
  if (!offer.installable.includes(system)) {
    return html`${title}
<p class="${isOwn ? 'notice' : 'quiet'}">This server has no file for ${SYSTEM_NAMES[system]} yet. The operator can get it with this command on the server: <code>${FETCH}</code></p>`;
  }
  return html`${title}
<pre><code>${installLine(system, base)}</code></pre>
<p class="quiet">${system === 'windows' ? 'In PowerShell. It needs OpenSSL 3, which Git for Windows includes.' : html`Without sudo: <code>${installLine(system, base).replace('sudo sh', 'sh')} --to ~/.local/bin</code>`}</p>`;
}

function fileTable(files: readonly OfferedFile[], own: System | undefined, userAgent: string) {
  const likely = own === undefined ? [] : likelyPlatforms(own, userAgent);
  const rank = ({ platform }: OfferedFile): number => {
    if (platform === null) return likely.length + 1;
    const at = likely.indexOf(platform);
    return at < 0 ? likely.length : at;
  };
  const rows = [...files].sort((a, b) => rank(a) - rank(b)).map(fileRow);
  return html`<h2>Files</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Files">
<table>
<thead><tr><th scope="col">File</th><th scope="col">For</th><th scope="col">Size</th><th scope="col">SHA-256</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</div>`;
}

function fileRow({ name, platform, size, sum }: OfferedFile) {
  const purpose = platform === null ? '' : (PLATFORM_NAMES[platform] ?? platform);
  return html`<tr><td><a href="${name}" download>${name}</a></td><td>${purpose}</td><td>${sizeText(size)}</td><td><code>${sum}</code></td></tr>
`;
}

function missingNote({ missing }: Offer) {
  const names = missing.map((platform) => PLATFORM_NAMES[platform] ?? platform).join('; ');
  return html`<p class="quiet">Not on this server: ${names}. The operator can get all files with: <code>${FETCH}</code></p>`;
}

function sizeText(bytes: number): string {
  if (bytes >= 1_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${bytes} bytes`;
}
