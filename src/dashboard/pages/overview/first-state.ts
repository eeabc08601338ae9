/** The steps to a first tunnel: how far the user is, and the install command. Pure: tested without a browser. */
import type { Tunnel } from '../../api/types.ts';

/** Progress to the first tunnel. Pure: first-tunnel.tsx polls the input. */
type FirstState =
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

/** The server runs on the reader's own machine. */
export function isHere({ hostname }: URL): boolean {
  return (
    hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.')
  );
}
