/** Why requests of a tunnel can't be replayed, known before the form is filled in. Pure. */
import type { Schemas } from '../../api/types.ts';

/** Undefined: they can, as far as is known. `recording`: undefined while it is asked for. */
export function noReplay(recording: Schemas['Recording'] | undefined, tunnelId: string): string | undefined {
  if (recording === undefined) return undefined;
  if (!recording.replay) return 'Replay is off on this server. Its operator can switch it on: inspector.replay = true.';
  if (recording.replay_tunnels === null || recording.replay_tunnels.includes(tunnelId)) return undefined;
  return 'Requests of this tunnel are not sent again. The operator of this server can add its id to inspector.replay_allow.';
}
