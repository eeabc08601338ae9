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
  connection_lost: { name: 'Lost', tone: 'warn', advice: 'An agent that runs comes back by itself.' },
  heartbeat_lost: {
    name: 'Silent',
    tone: 'warn',
    advice: 'It comes back by itself once its machine has a network again.',
  },
  disconnected: { name: 'Disconnected', tone: 'info' },
  token_revoked: { name: 'Key revoked', tone: 'bad', advice: 'Give it another key, if it is to come back.' },
  token_expired: { name: 'Key ran out', tone: 'bad', advice: 'Create another key, or rotate one before it ends.' },
  superseded: {
    name: 'Taken over',
    tone: 'info',
    advice: 'Another agent with the same key serves the name now. If you did not start one, revoke the key.',
  },
  tunnel_deleted: { name: 'Tunnel deleted', tone: 'quiet' },
  tunnel_expired: { name: 'Tunnel ended', tone: 'warn', advice: 'Start the tunnel again, then the agent.' },
  network_deleted: { name: 'Network deleted', tone: 'quiet' },
  drained: { name: 'Server stopped', tone: 'quiet', advice: 'It comes back once the server does.' },
  forbidden: { name: 'Not allowed', tone: 'bad', advice: 'Ask an operator of this server.' },
  overloaded: { name: 'Overloaded', tone: 'bad', advice: 'It tries again by itself; an operator can raise the bound.' },
  protocol_error: {
    name: 'Not understood',
    tone: 'bad',
    advice: 'Agent and server may be of different versions: update the older one.',
  },
  internal: { name: 'Fault', tone: 'bad', advice: 'The log of the server says more.' },
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
