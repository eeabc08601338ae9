/** The state of a tunnel, and its label for the list and the tunnel's page. Pure. */
import type { Tunnel } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type TunnelState = 'online' | 'maintenance' | 'offline' | 'waiting' | 'stopped' | 'expired';

interface StateWords {
  readonly word: string;
  readonly tone: Tone;
}

export const STATES: Readonly<Record<TunnelState, StateWords>> = {
  online: { word: 'Online', tone: 'good' },
  maintenance: { word: 'Maintenance', tone: 'warn' },
  offline: { word: 'Offline', tone: 'bad' },
  waiting: { word: 'Never connected', tone: 'info' },
  stopped: { word: 'Stopped', tone: 'quiet' },
  expired: { word: 'Expired', tone: 'bad' },
};

/** In the order in which the list can be sorted: what works first. */
export const STATE_ORDER = ['online', 'maintenance', 'offline', 'waiting', 'stopped', 'expired'] as const;

type StateFields = Pick<Tunnel, 'online' | 'stopped' | 'expiresAt' | 'maintenance' | 'state'>;

/** What its visitors meet is said first, as the edge decides it: maintenance before all else. `now`: Unix milliseconds. */
export function stateOf({ maintenance, stopped, online, expiresAt, state }: StateFields, now: number): TunnelState {
  if (maintenance) return 'maintenance';
  if (stopped) return 'stopped';
  if (expiresAt !== null && Date.parse(expiresAt) <= now) return 'expired';
  if (online) return 'online';
  return state === 'never_connected' ? 'waiting' : 'offline';
}

/** Whether only `start` lets agents in again; maintenance may hide it. */
export function isShut({ stopped, expiresAt }: Pick<StateFields, 'stopped' | 'expiresAt'>, now: number): boolean {
  return stopped || (expiresAt !== null && Date.parse(expiresAt) <= now);
}
