/** What is wrong in an organization now, by rule: read from the tables and services of other slices. Nothing is written. */
import { and, asc, eq, exists, gt } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import type { ConnectionInfo, NodeControl } from '../../../plane/link.ts';
import type { Spend } from '../../access-keys/spend.ts';
import { budgetItem, certificateItem, receiverItem, type AttentionItem } from '../items.ts';
import { failingReceivers } from '../rows.ts';
import type { Certificates } from '../../certificates/service.ts';
import { plain } from '../../core/mail/email-parts.ts';
import { liveTunnels } from '../../db/gone.ts';
import { domains, tunnels, webhookDeliveries, webhookForwards } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import { endsIn } from '../../tunnels/connections/ended-sessions.ts';
import { stateOf } from '../../tunnels/connections/state.ts';
import type { Maintenance } from '../../tunnels/maintenance.ts';
import { keyName, knownOf, type SeenAgent } from './address-rows.ts';
import { newAddressFinding, offlineFinding, type OfflineTunnel, requestFinding } from './messages.ts';
import { recentRequests, type RequestFigures } from './recent-requests.ts';
import type { RuleRow } from './rows.ts';
import type { Finding, Findings } from './steps.ts';

export interface FindingDeps {
  readonly db: Db;
  readonly nodes: Pick<NodeControl, 'isOnline'>;
  readonly maintenance: Pick<Maintenance, 'messageOf'>;
  readonly spend: Pick<Spend, 'nearCaps'>;
  readonly certificates: Pick<Certificates, 'troubles'>;
  readonly edgeDomain: string;
}

interface Asked {
  readonly orgId: string;
  readonly now: number;
  /** Agents that were seen since the last evaluation. */
  readonly agents: readonly SeenAgent[];
}

/** Of one rule: an evaluation reads all that it has found. */
const MAX_FOUND = 200;
/** A tunnel that went offline so long before the rule was made is news still. */
const RECENT_MS = 10 * 60_000;
/** Rates are of the last five minutes, or of as many as the rule waits. */
const RATE_MINUTES = 5;

export class FindingSources {
  readonly #deps: FindingDeps;

  constructor(deps: FindingDeps) {
    this.#deps = deps;
  }

  /** By the id of the rule. */
  of(rules: readonly RuleRow[], asked: Asked): ReadonlyMap<string, Findings> {
    const found = new Map<string, Findings>();
    // Read once for all rules that watch tunnels.
    let offline: readonly OfflineTunnel[] | undefined;
    const traffic = new TrafficReader(this.#deps.db, asked);
    for (const rule of rules) {
      if (rule.kind === 'tunnel_offline') {
        offline ??= offlineTunnels(this.#deps, asked);
        const own = offline.filter((one) => isWatched(rule, one, asked.now)).slice(0, MAX_FOUND);
        found.set(rule.id, { ...PLAIN, bad: own.map(offlineFinding), countsFromStart: true });
      } else found.set(rule.id, this.#ofRule(rule, asked, traffic));
    }
    return found;
  }

  #ofRule(rule: RuleRow, asked: Asked, traffic: TrafficReader): Findings {
    switch (rule.kind) {
      case 'error_rate':
      case 'latency_p95':
        return ratesOf(rule, traffic);
      case 'webhook_failing':
        return { ...PLAIN, bad: this.#receivers(rule, asked) };
      case 'certificate':
        return { ...PLAIN, bad: this.#certificates(rule, asked) };
      case 'budget':
        return { ...PLAIN, bad: this.#budgets(rule, asked) };
      default:
        return { ...PLAIN, bad: this.#newAddresses(asked), areEvents: true };
    }
  }

  #receivers(rule: RuleRow, { orgId, now }: Asked): Finding[] {
    const { db } = this.#deps;
    return failingReceivers(db, { orgId, now, limit: MAX_FOUND })
      .filter((one) => rule.tunnelId === null || one.tunnelId === rule.tunnelId)
      .filter((one) => !isDeliveredSince(db, one))
      .map((one) => asFinding(receiverItem(one), one.name));
  }

  #certificates(rule: RuleRow, { orgId, now }: Asked): Finding[] {
    const { db, certificates, edgeDomain } = this.#deps;
    const names = rule.tunnelId === null ? null : namesOf(db, { orgId, tunnelId: rule.tunnelId, edgeDomain });
    return certificates
      .troubles({ orgId, now, limit: MAX_FOUND })
      .filter(({ name }) => names === null || names.has(name))
      .map((one) => asFinding(certificateItem(one), one.name));
  }

  #budgets(rule: RuleRow, { orgId, now }: Asked): Finding[] {
    const share = (rule.threshold ?? 0) / 100;
    return this.#deps.spend
      .nearCaps(this.#deps.db, { orgId, now, share, limit: MAX_FOUND })
      .map((one) => asFinding(budgetItem(one), one.name));
  }

  #newAddresses({ orgId, agents }: Asked): Finding[] {
    const { db } = this.#deps;
    const known = knownOf(
      db,
      orgId,
      agents.map(({ address }) => address),
    );
    return agents
      .filter(({ address }) => !known.has(address))
      .map((agent) => newAddressFinding(agent, keyName(db, agent.tokenId)));
  }
}

/** What rules ask about traffic at one evaluation: read once for all that ask the same, for each tunnel is a query of its own. */
class TrafficReader {
  readonly #db: Db;
  readonly #asked: Asked;
  readonly #figures = new Map<string, ReadonlyMap<string, RequestFigures>>();
  #labels: ReadonlyMap<string, string> | undefined;

  constructor(db: Db, asked: Asked) {
    this.#db = db;
    this.#asked = asked;
  }

  /** Of live tunnels. */
  get labels(): ReadonlyMap<string, string> {
    this.#labels ??= labelsOf(this.#db, this.#asked.orgId);
    return this.#labels;
  }

  figures(minutes: number, tunnelId: string | null): ReadonlyMap<string, RequestFigures> {
    const key = `${minutes} ${tunnelId ?? ''}`;
    const { orgId, now } = this.#asked;
    const figures = this.#figures.get(key) ?? recentRequests(this.#db, orgId, { minutes, now, tunnelId });
    this.#figures.set(key, figures);
    return figures;
  }
}

function ratesOf(rule: RuleRow, traffic: TrafficReader): Findings {
  const { labels } = traffic;
  const minutes = Math.min(rule.forMinutes, RATE_MINUTES);
  const figures = traffic.figures(minutes, rule.tunnelId);
  const bad = Array.from(figures, ([id, one]): readonly Finding[] => {
    const label = labels.get(id);
    if (label === undefined || !isOver(rule, one)) return [];
    return [requestFinding(rule, { id, label, minutes, figures: one })];
  });
  return { ...PLAIN, bad: bad.flat(), isUnknown: (id) => labels.has(id) && !figures.has(id) };
}

const PLAIN: Omit<Findings, 'bad'> = { isUnknown: () => false, areEvents: false, countsFromStart: false };

/** Those that were first come first. Not those that are paused, expired or in maintenance, and no unnamed one whose agent was stopped: it is about to go. */
function offlineTunnels({ db, nodes, maintenance }: FindingDeps, { orgId, now }: Asked): OfflineTunnel[] {
  const ends = endsIn(db, orgId);
  const rows = db
    .select()
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), liveTunnels()))
    .orderBy(asc(tunnels.agentAt))
    .all();
  return rows.flatMap((row) => {
    const { state, since, reason } = stateOf(row, { online: nodes.isOnline(row.id), ends, now });
    if (state !== 'offline' || since === null || maintenance.messageOf(row.id) !== null) return [];
    if (row.ephemeral && row.agentLeft === 'stopped') return [];
    return [{ id: row.id, label: row.label, since, reason, trafficAt: row.trafficAt }];
  });
}

/** A rule for all tunnels leaves those alone that were given up before it was made. */
function isWatched(rule: RuleRow, { id, since, trafficAt }: OfflineTunnel, now: number): boolean {
  if (rule.tunnelId !== null) return rule.tunnelId === id;
  return since >= rule.activeSince - RECENT_MS || (trafficAt ?? 0) > now - DAY_MS;
}

function isOver({ kind, threshold }: RuleRow, { count, errors, p95Ms }: RequestFigures): boolean {
  const value = kind === 'error_rate' ? errors / count : p95Ms;
  return value !== null && value > (threshold ?? Infinity);
}

/** Live tunnels. */
function labelsOf(db: Db, orgId: string): ReadonlyMap<string, string> {
  const { id, label } = tunnels;
  const rows = db
    .select({ id, label })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), liveTunnels()))
    .all();
  return new Map(rows.map((row) => [row.id, row.label]));
}

/** A delivery that came after the last one that fails was delivered. */
function isDeliveredSince(db: Db, { id, sequence }: { readonly id: string; readonly sequence: number }): boolean {
  const delivered = db
    .select({ sequence: webhookForwards.sequence })
    .from(webhookForwards)
    .where(and(eq(webhookForwards.sequence, webhookDeliveries.sequence), eq(webhookForwards.state, 'delivered')));
  const later = db
    .select({ sequence: webhookDeliveries.sequence })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.receiverId, id), gt(webhookDeliveries.sequence, sequence), exists(delivered)))
    .limit(1)
    .get();
  return later !== undefined;
}

/** Host names of a tunnel. */
function namesOf(
  db: Db,
  { orgId, tunnelId, edgeDomain }: { orgId: string; tunnelId: string; edgeDomain: string },
): ReadonlySet<string> {
  const label = labelsOf(db, orgId).get(tunnelId);
  const { domain } = domains;
  const bound = db
    .select({ domain })
    .from(domains)
    .where(and(eq(domains.orgId, orgId), eq(domains.tunnelId, tunnelId)))
    .all();
  return new Set([...(label === undefined ? [] : [`${label}.${edgeDomain}`]), ...bound.map((row) => row.domain)]);
}

function asFinding({ object, title, detail, since, action }: AttentionItem, name: string): Finding {
  return { object, name: plain(name), title, detail, since, href: action.href };
}

/** By organization. */
export function connectionsByOrg(nodes: Pick<NodeControl, 'connections'>): ReadonlyMap<string, ConnectionInfo[]> {
  return Map.groupBy(nodes.connections(), ({ orgId }) => orgId);
}
