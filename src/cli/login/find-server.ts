/**
 * Finds the API of a server by a name that people know: `culvert login example.com`. Asks the name and the usual names below it for the discovery
 * document. Called by login.ts.
 */
import { discover } from '../../agent/connect/discovery.ts';
import type { Outbound } from '../../base/net/outbound/outbound.ts';
import { messageOf } from '../../base/errors.ts';
import { isServerName, placesOf } from '../../config/agent.ts';
import type { Discovery } from '../../wire/discovery.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { harmless } from '../terminal/paint.ts';

type Ask = (place: URL, signal: AbortSignal) => Promise<Discovery>;

/** Asks by this way out. */
export function asker(outbound: Outbound): Ask {
  return (place, signal) => discover(place, signal, outbound);
}

/** The URL of the API; a URL is taken as it is. @throws ExitError that lists what was tried. */
export async function findServerBy(name: string, signal: AbortSignal, ask: Ask): Promise<URL | undefined> {
  if (!isServerName(name)) return undefined;
  const places = placesOf(name);
  if (places.length === 0) throw usageError(`${harmless(name)} is not a server name: use example.com`);
  // Side by side: a name that leads nowhere takes its time.
  const answers = places.map((place) =>
    ask(place, signal).then(
      (found) => apiOf(found, place),
      (error: unknown) => messageOf(error),
    ),
  );
  const tried: string[] = [];
  for (const [at, answer] of answers.entries()) {
    const found = await answer;
    if (found instanceof URL) return found;
    tried.push(`${places[at]?.origin} (${found})`);
  }
  const list = tried.join(', ');
  throw new ExitError(
    EXIT.failure,
    harmless(`no Culvert server responds at ${name}. Tried ${list}. If the API has another port, add it: ${name}:8443`),
  );
}

/** A server may name its API's host only at or below the name that was asked: that name was proven by TLS. */
function apiOf({ api_url: named }: Discovery, place: URL): URL {
  const url = URL.parse(named ?? '');
  const isBelow = url !== null && (url.hostname === place.hostname || url.hostname.endsWith(`.${place.hostname}`));
  return isBelow && url.protocol === 'https:' ? url : place;
}
