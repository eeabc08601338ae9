/** Filters and order of a list of tunnels, kept in the page's address. Pure. */
import type { Tunnel } from '../../api/types.ts';
import { STATE_ORDER, stateOf, type TunnelState } from './tunnel-state.ts';

export const SORTS = { newest: 'Newest first', name: 'By name', state: 'By state', traffic: 'Most traffic' } as const;
export type Sort = keyof typeof SORTS;

export interface ListChoice {
  readonly search: string;
  readonly state: TunnelState | null;
  /** Slug. */
  readonly project: string | null;
  readonly sort: Sort;
}

/** A link may hold anything: unknown values are ignored. */
export function choiceIn(params: URLSearchParams): ListChoice {
  const state = params.get('state');
  const sort = params.get('sort');
  return {
    search: params.get('q') ?? '',
    state: STATE_ORDER.find((one) => one === state) ?? null,
    project: params.get('project'),
    sort: sort !== null && Object.hasOwn(SORTS, sort) ? (sort as Sort) : 'newest',
  };
}

/** The opposite of `choiceIn`; what is as always is left out. */
export function paramsOf({ search, state, project, sort }: ListChoice): URLSearchParams {
  const params = new URLSearchParams();
  if (search !== '') params.set('q', search);
  if (state !== null) params.set('state', state);
  if (project !== null) params.set('project', project);
  if (sort !== 'newest') params.set('sort', sort);
  return params;
}

/** `tunnels`: newest first, as the API lists them. `now`: Unix milliseconds. */
export function chosen(tunnels: readonly Tunnel[], choice: ListChoice, now: number): readonly Tunnel[] {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tunnels.filter(
    (tunnel) =>
      (choice.state === null || stateOf(tunnel, now) === choice.state) &&
      (choice.project === null || tunnel.projectSlug === choice.project) &&
      words.every((word) => textOf(tunnel).includes(word)),
  );
  return sorted(found, choice.sort, now);
}

/** How many tunnels stand so. */
export function countsByState(tunnels: readonly Tunnel[], now: number): Readonly<Record<TunnelState, number>> {
  const counts = { online: 0, maintenance: 0, offline: 0, waiting: 0, stopped: 0, expired: 0 };
  for (const tunnel of tunnels) counts[stateOf(tunnel, now)]++;
  return counts;
}

function textOf({ subdomain, publicUrl, projectSlug, protocol, localPort }: Tunnel): string {
  return `${subdomain} ${publicUrl} ${projectSlug} ${protocol} ${localPort}`.toLowerCase();
}

function sorted(tunnels: readonly Tunnel[], sort: Sort, now: number): readonly Tunnel[] {
  switch (sort) {
    case 'newest':
      return tunnels;
    case 'name':
      return tunnels.toSorted((a, b) => a.subdomain.localeCompare(b.subdomain, 'en'));
    case 'state': {
      const rank = (tunnel: Tunnel): number => STATE_ORDER.indexOf(stateOf(tunnel, now));
      return tunnels.toSorted((a, b) => rank(a) - rank(b));
    }
    case 'traffic':
      return tunnels.toSorted((a, b) => b.bytesIn + b.bytesOut - (a.bytesIn + a.bytesOut));
  }
}
