/**
 * What a visitor of a tunnel sees who can't be signed in, or may not come in. Visitors have no account here: nothing leads to one. Plain HTML
 * without a script; the address of the style is relative, for the API is served under `/api` too.
 */
import { html } from 'hono/html';
import type { AppError } from '../../../base/errors.ts';
import type { NotListed, VisitedSite } from './sign-in.ts';

type Part = ReturnType<typeof html>;

/** Of a sign-in that came to a bad end. `site`: undefined where nothing says which one it was for. */
export function visitorRefusalPage({ code, message }: AppError, site: VisitedSite | undefined): Part {
  return page(
    'You are not logged in',
    html`<p class="alert" role="alert">${message}</p>
<p class="quiet">${code}</p>
${site === undefined ? '' : html`<a class="button" href="${site.url}">Start over at ${site.host}</a>`}`,
  );
}

/** For a visitor who is not on the owner's lists. */
export function notListedPage({ email, site, retry, primaryAt }: NotListed): Part {
  return page(
    `You can't open ${site}`,
    html`<p class="alert" role="alert">You are logged in as ${email}, but this address is not on the access list of ${site}.</p>
<p class="quiet">forbidden</p>
<p>Log in with another account, or ask the owner to add this one.${primaryAt === null ? '' : ` ${primaryAt} reports only your primary address. You can change it there.`}</p>
<a class="button" href="${retry}">Try another account</a>`,
  );
}

function page(title: string, body: Part): Part {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="../app/page.css">
<link rel="icon" href="data:,">
</head>
<body>
<main>
<p class="brand">Culvert</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>`;
}
