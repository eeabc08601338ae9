/** Audit of what agents add in front of tunnels by flags: an entry when it changes, none for an agent that reconnects. */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../../../base/clock.ts';
import { Allowance } from '../../../base/limits/allowance.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import type { AuditDetails } from '../../core/rules/audit.ts';
import type { TokenActor } from '../../core/rules/actor.ts';
import type { Tx } from '../../db/tx.ts';
import { recordTunnel } from '../rows.ts';

/** Tunnels whose last flags are remembered. One that is forgotten costs an entry at its next claim. */
const MAX_KNOWN = 10_000;
/** Entries of one organization: all its tunnels at once after a restart, and as many again in a day. A key may claim with other flags each time. */
const MAX_PER_DAY = 5_000;
const MAX_ORGS = 10_000;
/** Characters of a list that the audit log keeps. */
const MAX_NOTE = 1_000;
const NOTHING = '';

export class NarrowedTunnels {
  /** By tunnel: a digest of what was last asked for. */
  readonly #known = new RecentMap<string, string>({ max: MAX_KNOWN });
  /** By organization. */
  readonly #allowances = new RecentMap<string, Allowance>({ max: MAX_ORGS });

  /** Within the transaction of a claim that is granted. False: it can't be recorded, for the flags of the organization changed too often. */
  note(tx: Tx, actor: TokenActor, { tunnelId, narrowing }: { tunnelId: string; narrowing: Narrowing | null }): boolean {
    const digest = narrowing === null ? NOTHING : digestOf(narrowing);
    if ((this.#known.get(tunnelId) ?? NOTHING) === digest) return true;
    // An agent without flags is always recorded, which happens once for each entry with flags.
    if (narrowing !== null && !this.#spend(actor.orgId, tx.now)) return false;
    const details = narrowing === null ? { flags: 'none' } : detailsOf(narrowing);
    recordTunnel(tx, actor, { action: 'tunnel.agent_flags', row: { id: tunnelId }, details });
    tx.onCommit(() => this.#known.set(tunnelId, digest));
    return true;
  }

  /** False: the organization has had its entries. */
  #spend(orgId: string, now: number): boolean {
    let allowance = this.#allowances.get(orgId);
    if (allowance === undefined) {
      allowance = new Allowance({ perSecond: (MAX_PER_DAY * 1_000) / DAY_MS, burst: MAX_PER_DAY }, now);
      this.#allowances.set(orgId, allowance);
    }
    if (!allowance.hasOne(now)) return false;
    allowance.spend();
    return true;
  }
}

/** The end of an agent's time is another at each start. */
function digestOf({ endsAt: _endsAt, ...narrowing }: Narrowing): string {
  return createHash('sha256').update(JSON.stringify(narrowing)).digest('base64');
}

function detailsOf(narrowing: Narrowing): AuditDetails {
  const { allow, deny, gate, policy, visitors, endsAt, domain, remotePort, webhook } = narrowing;
  const all = {
    allow_cidr: listed(allow),
    deny_cidr: listed(deny),
    basic_auth: gate?.username ?? '',
    policy: listed(policy?.actions.map(({ kind }) => kind) ?? []),
    visitor_login: listed([...(visitors?.allowedDomains ?? []), ...(visitors?.allowedEmails ?? [])]),
    domain: domain ?? '',
    remote_port: remotePort ?? '',
    webhook_verify: webhook?.kind ?? '',
    ends_at: endsAt === null ? '' : new Date(endsAt).toISOString(),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

function listed(entries: readonly string[]): string {
  const text = entries.join(', ');
  return text.length <= MAX_NOTE ? text : `${text.slice(0, MAX_NOTE)}…`;
}
