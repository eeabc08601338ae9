/** Progress to the first tunnel. Pure: first-tunnel.tsx polls the input. */
import type { Tunnel } from '../../api/types.ts';

export type FirstState =
  | { readonly kind: 'waiting' }
  /** It is there and has no tunnel: its claim was refused, or is on its way. */
  | { readonly kind: 'connected'; readonly whence: string }
  | { readonly kind: 'live'; readonly tunnel: Tunnel };

interface Seen {
  readonly tunnels: readonly Tunnel[];
  readonly connections: ReadonlyArray<{ readonly remote_ip: string }>;
}

export function firstState({ tunnels, connections }: Seen): FirstState {
  const [tunnel] = tunnels
    .filter(({ online }) => online)
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  if (tunnel !== undefined) return { kind: 'live', tunnel };
  const [connection] = connections;
  return connection === undefined ? { kind: 'waiting' } : { kind: 'connected', whence: connection.remote_ip };
}
