/**
 * What a page of the dashboard had by its address when its reader went to an identity provider: the token of a mail, the code of a command line.
 * No address on the way back has it: it comes in a cookie that no script reads, sealed, for that page alone and for a minute. Used by
 * provider-logins.ts.
 */
import { z } from 'zod';
import type { Sealer } from '../../core/secrets/sealing.ts';

/** From the provider's answer to the page it is one redirect. */
export const KEPT_SECONDS = 60;
const PURPOSE = 'kept_secrets';
/** Parameters by which pages take secrets (dashboard/place.ts). */
const NAMES = ['token', 'device_code'] as const;

const keptSecrets = z.object({
  /** What stands after `/app/`. */
  page: z.string(),
  /** Query that holds the secrets and nothing else. */
  query: z.string(),
  /** Milliseconds. */
  expiresAt: z.number(),
});

/** Takes the secrets out of a path of this server (`safeReturnTo`); `kept` is undefined where there are none. */
export function setAside(returnTo: string): {
  readonly place: string;
  readonly kept?: { page: string; query: string };
} {
  const url = new URL(returnTo, 'http://here');
  const page = /^\/app\/(.*)$/.exec(url.pathname)?.[1];
  if (page === undefined) return { place: returnTo };
  const secrets = new URLSearchParams();
  for (const name of NAMES) {
    const value = url.searchParams.get(name);
    if (value === null) continue;
    secrets.set(name, value);
    url.searchParams.delete(name);
  }
  if (secrets.size === 0) return { place: returnTo };
  return { place: url.pathname + url.search + url.hash, kept: { page, query: secrets.toString() } };
}

export function sealKept(sealer: Sealer, kept: { page: string; query: string }, now: number): string {
  return sealer.seal(PURPOSE, Buffer.from(JSON.stringify({ ...kept, expiresAt: now + KEPT_SECONDS * 1000 })));
}

/** The query that was set aside for this page; undefined for anything that this server has not sealed, for another page, or too long ago. */
export function openKept(
  sealer: Sealer,
  shown: { readonly sealed: string; readonly page: string },
  now: number,
): string | undefined {
  let opened: z.output<typeof keptSecrets>;
  try {
    opened = keptSecrets.parse(JSON.parse(sealer.open(PURPOSE, shown.sealed).toString()));
  } catch {
    // Not of this server: whatever is wrong with it, there is nothing for the page.
    return undefined;
  }
  return opened.page === shown.page && opened.expiresAt > now ? opened.query : undefined;
}
