/**
 * Why a tunnel that exists does not take a request: maintenance, then expired or stopped, then no agent. Its policy is asked next
 * (data/policy), and last the budget of the key that serves it.
 */
import type { Route } from '../../plane/routes.ts';
import type { RouteEntry } from '../routing/entry.ts';
import type { EdgeRefusal } from './fault.ts';

/** No agent serves the tunnel now. */
export const OFFLINE: EdgeRefusal = { code: 'tunnel_offline' };
const STOPPED: EdgeRefusal = { code: 'tunnel_offline', detail: 'The tunnel has been stopped by its owner.' };
const EXPIRED: EdgeRefusal = {
  code: 'tunnel_offline',
  detail: 'The tunnel has expired. Its owner can start it again.',
};
export const EXHAUSTED: EdgeRefusal = { code: 'budget_exhausted' };
/** One address has too many requests in flight. */
export const GREEDY: EdgeRefusal = {
  code: 'overloaded',
  detail: 'Too many requests from your address are in flight. Please try again in a moment.',
};
/** The request would leave the path that the tunnel publishes. */
export const OUTSIDE: EdgeRefusal = {
  code: 'bad_request',
  detail: 'The path has ".." in it. This tunnel publishes one path of its service, and what is below it.',
};

/** The tunnel itself has ended: what is in flight ends too, on every session. */
export function isOver({ route, removed }: RouteEntry): boolean {
  return removed || route.stopped || hasExpired(route);
}

/** The refusal, or null when an agent serves the tunnel. */
export function refusalOf(entry: RouteEntry): EdgeRefusal | null {
  const { route } = entry;
  if (route.maintenance !== null)
    return route.maintenance === '' ? { code: 'maintenance' } : { code: 'maintenance', detail: route.maintenance };
  if (route.stopped) return STOPPED;
  if (hasExpired(route)) return EXPIRED;
  return entry.served === null || entry.served.draining ? OFFLINE : null;
}

function hasExpired({ expiresAt }: Route): boolean {
  return expiresAt !== null && expiresAt <= Date.now();
}
