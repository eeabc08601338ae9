/**
 * Where a visitor goes once it has signed in: to the host of the tunnel that it came from, and to no other host whatever it says. A custom
 * domain counts while it is verified and bound.
 */
import { and, eq, isNotNull } from 'drizzle-orm';
import { type AddedVisitors, bothVersions } from '../../../plane/narrowing.ts';
import { returnPath } from '../../../plane/visitor-tokens.ts';
import { liveTunnels } from '../../db/gone.ts';
import { domains, tunnels, visitorGates } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import type { RouteMaker } from '../plane/route-maker.ts';
import type { TunnelRow } from '../rows.ts';
import type { VisitorLists } from './service.ts';

/** A tunnel that asks who its visitors are: they must be on all of its lists. */
export interface GatedTunnel {
  readonly row: TunnelRow;
  readonly version: string;
  readonly lists: readonly VisitorLists[];
}

export interface Landing {
  /** As the edge sees it. */
  readonly host: string;
  /** For a browser. */
  readonly origin: string;
  readonly path: string;
}

/** Undefined for a tunnel that does not exist, and for one without a gate. `added`: by flags of its agent. */
export function gatedTunnel(db: Db, tunnelId: string, added: AddedVisitors | null): GatedTunnel | undefined {
  const found = db
    .select({ row: tunnels, gate: visitorGates })
    .from(tunnels)
    .leftJoin(visitorGates, eq(tunnels.id, visitorGates.tunnelId))
    .where(and(eq(tunnels.id, tunnelId), liveTunnels()))
    .get();
  const own = found?.gate ?? null;
  if (found === undefined || (own ?? added) === null) return undefined;
  const lists = [own, added].filter((one) => one !== null);
  const [first, second] = lists.map(({ version }) => version);
  const version = second === undefined ? (first ?? '') : bothVersions(first ?? '', second);
  return { row: found.row, version, lists };
}

/** `asked`: an address of the tunnel, or a path of it; anything else counts as `/` of its own host. */
export function landingOf(
  db: Db,
  asked: string,
  of: { readonly row: TunnelRow; readonly routes: RouteMaker; readonly edgeDomain: string },
): Landing {
  const { row, routes } = of;
  const own = new URL(routes.publicUrl(row));
  const ownHost = `${row.label}.${of.edgeDomain.toLowerCase()}`;
  const home = { host: ownHost, origin: own.origin };
  if (asked.startsWith('/')) return { ...home, path: returnPath(asked) };
  const url = URL.parse(asked);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return { ...home, path: '/' };
  const path = returnPath(url.pathname + url.search);
  const host = url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname;
  if (host === ownHost || host === own.hostname) return { ...home, path };
  const bound = db
    .select({ domain: domains.domain })
    .from(domains)
    .where(and(eq(domains.tunnelId, row.id), eq(domains.domain, host), isNotNull(domains.verifiedAt)))
    .get();
  if (bound === undefined) return { ...home, path: '/' };
  // Scheme and port are those of the edge, whatever was asked for.
  return { host, origin: `${own.protocol}//${host}${own.port === '' ? '' : `:${own.port}`}`, path };
}
