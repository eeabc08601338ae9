/**
 * What begins before the rest of the code is there: a file of its own, small, that the browser runs at once. It takes secrets out of the address,
 * takes up the session, and asks for what the first page shows; main.tsx goes on with it.
 */
import { Prefetch } from './api/prefetch.ts';
import { Session } from './api/session.ts';
import { placeOf, takeArrival } from './place.ts';

/** Below the API's address: who is logged in, and the first answers that the page of an address waits for. */
const EVERYWHERE = ['auth/me'];
const FIRST: Readonly<Record<string, readonly string[]>> = { '/': ['metrics'] };

export const arrival = takeArrival();
export const { base, api: url } = placeOf(import.meta.url);
export const prefetch = new Prefetch();
export const session = new Session(url);

/** `name` of a `<meta>` in the document; empty when it is not there. */
export function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

/** Where the dashboard stands, below its own address. */
export function firstPath(): string {
  return location.pathname.slice(base.length) || '/';
}

/** Before any other listener learns of the session: a page that requests the same finds it under way. */
const stop = session.subscribe(() => {
  if (session.state !== 'in') return;
  stop();
  for (const path of [...EVERYWHERE, ...(FIRST[firstPath()] ?? [])]) prefetch.ask(new URL(path, url), session);
});

// The server says whether the browser has a live session: without one there is nothing to ask.
if (metaOf('culvert-session') === 'live') void session.begin();
else session.leave();
