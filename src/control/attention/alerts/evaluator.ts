/**
 * Looks at all alert rules every ten seconds: what is wrong, what has recovered, and what messages are due. All of it is in the database: a
 * restart sends nothing twice. Organizations take turns, so that no pass holds the thread for long.
 */
import { setImmediate } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import type { Logger } from '../../../base/log.ts';
import type { ConnectionInfo, NodeControl } from '../../../plane/link.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { knownOf, rememberAddresses, type SeenAgent, seenAgents } from './address-rows.ts';
import { connectionsByOrg, type FindingSources } from './findings.ts';
import {
  type IncidentRow,
  insertIncidents,
  openIncidents,
  removeIncidents,
  trimIncidents,
  updateIncident,
} from './incident-rows.ts';
import { queueMessage } from './channels/message-rows.ts';
import { type NoticeEvent, type NoticeHead, noticeOf } from './channels/notices.ts';
import { isQuiet } from './quiet-hours.ts';
import { channelsOf, enabledRules, type RuleRow, watchedOrgs } from './rows.ts';
import { type Due, due, type Findings, type Step, step, told } from './steps.ts';

export const EVERY_MS = 10_000;
/** After a start agents get this long to come back, or as long as the rule waits: between the two. */
const GRACE_MS = { least: 60_000, most: 5 * 60_000 } as const;
/** Messages of one rule in an hour. What comes beyond waits, and then goes out together. */
const MAX_PER_HOUR = 12;
/** Rules whose messages are counted. A restart, and being forgotten, forgive. */
const MAX_COUNTED = 10_000;
/** Objects without anything to judge them by stay as they are for so long. */
const UNKNOWN_MS = 10 * 60_000;
const MAX_UNKNOWN = 10_000;
/** An ended session is looked at for so long: it is reported some seconds late. */
const ENDED_MS = 5 * 60_000;
/** Starts at once to a service that takes a message per incident. */
const MAX_SINGLE = 50;
/** Of names in the audit log. */
const MAX_NAMES = 200;

export interface EvaluatorDeps {
  readonly store: Store;
  readonly nodes: Pick<NodeControl, 'connections'>;
  readonly sources: FindingSources;
  readonly log: Logger;
}

interface Org {
  readonly id: string;
  readonly name: string;
}

/** What there is to judge a rule by. */
interface Looked {
  readonly open: readonly IncidentRow[];
  readonly findings: Findings;
  readonly now: number;
}

interface RuleStep {
  readonly rule: RuleRow;
  readonly step: Step;
  readonly due: Due;
}

export class AlertEvaluator {
  readonly #deps: EvaluatorDeps;
  /** When each rule has sent in the last hour. */
  readonly #sent = new RecentMap<string, readonly number[]>({ max: MAX_COUNTED });
  /** Since when incidents are without anything to judge them by. */
  readonly #unknown = new RecentMap<string, number>({ max: MAX_UNKNOWN });
  #startedAt: number | undefined;

  constructor(deps: EvaluatorDeps) {
    this.#deps = deps;
  }

  async run(stopping: AbortSignal): Promise<void> {
    const { store, nodes, log } = this.#deps;
    this.#startedAt ??= store.clock.now();
    const orgs = watchedOrgs(store.db);
    if (orgs.length === 0) return;
    const connections = connectionsByOrg(nodes);
    for (const org of orgs) {
      try {
        this.#evaluate(org, connections.get(org.id) ?? []);
      } catch (error) {
        // The others are looked at all the same.
        log.error({ err: error, organization: org.id }, 'alert rules could not be evaluated: retrying');
      }
      await setImmediate();
      if (stopping.aborted) return;
    }
  }

  #evaluate(org: Org, live: readonly ConnectionInfo[]): void {
    const { store, sources } = this.#deps;
    const now = store.clock.now();
    const asked = { orgId: org.id, now };
    const rules = enabledRules(store.db, org.id);
    const watchesAddresses = rules.some(({ kind }) => kind === 'new_address');
    const agents = watchesAddresses ? seenAgents(store.db, live, { ...asked, since: now - ENDED_MS }) : [];
    const found = sources.of(rules, { ...asked, agents });
    const incidents = Map.groupBy(openIncidents(store.db, org.id), ({ ruleId }) => ruleId);
    const steps = rules.map((rule) =>
      this.#step(rule, { open: incidents.get(rule.id) ?? [], findings: found.get(rule.id) ?? NOTHING_FOUND, now }),
    );
    const changed = steps.filter(isChange);
    const seen = watchesAddresses ? toRemember(store, org.id, agents) : [];
    if (changed.length === 0 && seen.length === 0) return;
    store.inTx((tx) => {
      for (const one of changed) this.#apply(tx, org, one);
      if (seen.length > 0) rememberAddresses(tx, org.id, seen);
    });
  }

  #step(rule: RuleRow, of: Looked): RuleStep {
    const { open, now } = of;
    const done = step(rule, { open, now, findings: this.#patient(of), notBefore: this.#notBefore(rule) });
    const changed = new Map([...done.inserted, ...done.updated].map((row) => [row.id, row]));
    const removed = new Set(done.removed);
    const rows = [...open.filter(({ id }) => !changed.has(id) && !removed.has(id)), ...changed.values()];
    const mayTell = !isQuiet(rule.quietHours, now) && this.#sentLately(rule.id, now).length < MAX_PER_HOUR;
    return { rule, step: done, due: mayTell ? due(rows, now) : NOTHING_DUE };
  }

  /** What was unknown for too long counts as well. */
  #patient({ open, findings, now }: Looked): Findings {
    const unknown = new Set<string>();
    for (const { id, objectId } of open) {
      if (!findings.isUnknown(objectId)) {
        this.#unknown.delete(id);
        continue;
      }
      const since = this.#unknown.get(id) ?? now;
      this.#unknown.set(id, since);
      if (now - since < UNKNOWN_MS) unknown.add(objectId);
    }
    return { ...findings, isUnknown: (objectId) => unknown.has(objectId) };
  }

  #notBefore({ kind, forMinutes }: RuleRow): number {
    if (kind !== 'tunnel_offline' || this.#startedAt === undefined) return 0;
    return this.#startedAt + Math.max(GRACE_MS.least, Math.min(forMinutes * 60_000, GRACE_MS.most));
  }

  #sentLately(ruleId: string, now: number): readonly number[] {
    return (this.#sent.get(ruleId) ?? []).filter((at) => at > now - HOUR_MS && at <= now);
  }

  #apply(tx: Tx, org: Org, { rule, step: done, due: messages }: RuleStep): void {
    insertIncidents(tx, done.inserted);
    for (const row of done.updated) updateIncident(tx, row);
    removeIncidents(tx, done.removed);
    record(tx, rule, { action: 'alert.fire', rows: done.fired });
    record(tx, rule, { action: 'alert.recover', rows: done.recovered });
    for (const row of told(messages, tx.now)) updateIncident(tx, row);
    const head = { ruleId: rule.id, kind: rule.kind, organization: org, at: tx.now };
    const isAny = [
      send(tx, head, { event: 'fired', rows: messages.fired }),
      send(tx, head, { event: 'reminder', rows: messages.reminded }),
      send(tx, head, { event: 'recovered', rows: messages.recovered }),
    ].some(Boolean);
    if (done.recovered.length > 0 || done.fired.length > 0) trimIncidents(tx, org.id);
    if (isAny) tx.onCommit(() => this.#sent.set(rule.id, [...this.#sentLately(rule.id, tx.now), tx.now]));
  }
}

const NOTHING_FOUND: Findings = { bad: [], isUnknown: () => false, areEvents: false, countsFromStart: false };
const NOTHING_DUE: Due = { fired: [], reminded: [], recovered: [] };

function isChange({ step: { inserted, updated, removed }, due: { fired, reminded, recovered } }: RuleStep): boolean {
  return [inserted, updated, removed, fired, reminded, recovered].some((list) => list.length > 0);
}

/** Addresses that are new, or were not used today. */
function toRemember({ db, clock }: Store, orgId: string, agents: readonly SeenAgent[]): readonly string[] {
  const addresses = agents.map(({ address }) => address);
  const known = knownOf(db, orgId, addresses);
  return addresses.filter((address) => (known.get(address) ?? 0) < clock.now() - DAY_MS);
}

function record(
  tx: Tx,
  { id, orgId, kind }: RuleRow,
  { action, rows }: { readonly action: 'alert.fire' | 'alert.recover'; readonly rows: readonly IncidentRow[] },
): void {
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  const details = {
    kind,
    objects: names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES)}…` : names,
    count: rows.length,
  };
  recordAudit(tx, { kind: 'system', orgId }, { action, resourceType: 'alert', resourceId: id, details });
}

/** Returns whether there was anything to say. */
function send(
  tx: Tx,
  head: NoticeHead,
  { event, rows }: { readonly event: NoticeEvent; readonly rows: readonly IncidentRow[] },
): boolean {
  if (rows.length === 0) return false;
  for (const { id: channelId, type, confirmHash } of channelsOf(tx.db, [head.ruleId])) {
    if (confirmHash !== null) continue;
    const own = type === 'pagerduty' ? singlesOf(event, rows) : [rows];
    for (const some of own)
      queueMessage(tx, { orgId: head.organization.id, channelId, notice: noticeOf(head, event, some) });
  }
  return true;
}

/** Each is an incident of its own there, which a reminder changes nothing of. All that ended are said: one that is left out stays open there. */
function singlesOf(event: NoticeEvent, rows: readonly IncidentRow[]): ReadonlyArray<readonly IncidentRow[]> {
  if (event === 'reminder') return [];
  return (event === 'fired' ? rows.slice(0, MAX_SINGLE) : rows).map((row) => [row]);
}
