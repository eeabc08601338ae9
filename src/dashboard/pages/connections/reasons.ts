/** Why agents disconnect: a short name, its severity, and what to do. The server's own message stands beside it. Pure. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type EndReason = Schemas['EndedConnection']['reason'];

interface Told {
  readonly name: string;
  readonly tone: Tone;
  /** What to do, where there is something to do. */
  readonly advice?: string;
}

const REASONS: Readonly<Record<EndReason, Told>> = {
  agent_left: { name: 'Stopped', tone: 'quiet' },
  connection_lost: { name: 'Lost', tone: 'warn', advice: 'A running agent reconnects automatically.' },
  heartbeat_lost: {
    name: 'Timed out',
    tone: 'warn',
    advice: 'It reconnects when its machine is back on the network.',
  },
  disconnected: { name: 'Disconnected', tone: 'info' },
  token_revoked: { name: 'Key revoked', tone: 'bad', advice: 'To reconnect it, give it another key.' },
  token_expired: { name: 'Key expired', tone: 'bad', advice: 'Create a key, or rotate keys before they expire.' },
  superseded: {
    name: 'Replaced',
    tone: 'info',
    advice: 'Another agent with the same key now serves the name. If you did not start it, revoke the key.',
  },
  tunnel_deleted: { name: 'Tunnel deleted', tone: 'quiet' },
  tunnel_expired: { name: 'Tunnel expired', tone: 'warn', advice: 'Start the tunnel, then the agent.' },
  network_deleted: { name: 'Network deleted', tone: 'quiet' },
  drained: { name: 'Server stopped', tone: 'quiet', advice: 'It reconnects when the server is back.' },
  forbidden: { name: 'Not allowed', tone: 'bad', advice: 'Ask an operator of this server.' },
  overloaded: { name: 'Overloaded', tone: 'bad', advice: 'It retries automatically. An operator can raise the limit.' },
  protocol_error: {
    name: 'Protocol error',
    tone: 'bad',
    advice: 'Agent and server may have different versions. Update the older one.',
  },
  internal: { name: 'Server error', tone: 'bad', advice: "See the server's log." },
};

/** A newer server may know more reasons than this page. */
export function reasonOf(reason: string): Told {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as EndReason] : { name: reason, tone: 'quiet' };
}

interface Findable {
  readonly hostname: string;
  readonly remote_ip: string;
  readonly message: string;
  readonly reason: string;
}

/** Whether the search text `text` matches this one. */
export function matches({ hostname, remote_ip: ip, message, reason }: Findable, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [hostname, ip, message, reasonOf(reason).name].some((one) => one.toLowerCase().includes(wanted));
}
