/**
 * How a policy, saved or not, would have treated the requests of a tunnel that were recorded last. The steps are asked at a data node, with the time of
 * the records (plane/policy-test.ts); nothing is changed.
 */
import type { NodeControl } from '../../../plane/link.ts';
import { type Actions, ruleOf } from '../../../plane/policy.ts';
import type { TestRefusal, TestVerdict, UnknownReason } from '../../../plane/policy-test.ts';
import type { Store } from '../../db/tx.ts';
import { MAX_LIST, type RecordItem, type RecordStore } from '../../db/usage/records.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { callerNow } from '../../core/rules/caller.ts';
import { policyFor } from './service.ts';
import { playable } from './recorded-credentials.ts';
import { type Entrant, PolicyTestQueue, tooManyTests } from './test-queue.ts';
import { ownTunnel } from '../rows.ts';

export const MAX_TESTED_REQUESTS = 1_000;
/** Of the refused ones, the newest. */
export const MAX_SHOWN = 100;
/** Lists end when their time is up, also without a record: then there is much between that was forgotten. */
const MAX_PAGES = 20;

/** What an action of the tested policy would have done. */
export interface ActionResult {
  readonly index: number;
  readonly kind: Actions['actions'][number]['kind'];
  /** What it says beside its kind. */
  readonly rule: string;
  readonly enforce: boolean;
  readonly wouldRefuse: number;
}

export interface RequestResult extends TestRefusal {
  readonly item: RecordItem;
  /** False: the action is only tried, and the request passes. */
  readonly enforce: boolean;
}

export interface PolicyTestResult {
  /** Requests that were judged. */
  readonly tested: number;
  readonly wouldRefuse: number;
  readonly notTested: ReadonlyArray<{ readonly reason: UnknownReason; readonly count: number }>;
  /** When the oldest and the newest of them came, milliseconds since the epoch; null: none was recorded. */
  readonly span: { readonly from: number; readonly to: number } | null;
  readonly byAction: readonly ActionResult[];
  /** Newest first, MAX_SHOWN at most. */
  readonly requests: readonly RequestResult[];
}

export interface PolicyTestInput {
  readonly policy: unknown;
  readonly limit: number;
  readonly gone: AbortSignal;
}

export interface PolicyTestDeps {
  readonly store: Store;
  readonly records: Pick<RecordStore, 'list' | 'heads'>;
  readonly nodes: Pick<NodeControl, 'testPolicy' | 'flushInspections'>;
}

/** Policy tests of an organization on the recorded requests of its tunnels. */
export class PolicyTests {
  readonly #deps: PolicyTestDeps;
  readonly #queue: PolicyTestQueue;

  constructor(deps: PolicyTestDeps) {
    this.#deps = deps;
    this.#queue = new PolicyTestQueue({ clock: deps.store.clock });
  }

  /**
   * Looks at the last `limit` recorded requests of the tunnel (1 to MAX_TESTED_REQUESTS), once it is the organization's turn. A user who may see them
   * may ask. `gone`: the caller gave up. Throws `forbidden`, `not_found`, `bad_policy`, `rate_limited`, `unavailable`.
   */
  async test(actor: Actor, tunnelId: string, input: PolicyTestInput): Promise<PolicyTestResult> {
    const { orgId, userId, policy } = this.#asked(actor, tunnelId, input.policy);
    const leave = await this.#queue.enter({ orgId, userId }, input.gone);
    try {
      // They may have been removed while they waited, or the tunnel.
      this.#asked(this.#now(actor), tunnelId, input.policy);
      const items = await this.#newest(orgId, tunnelId, input.limit);
      if (items.length === 0) return resultOf(policy, items, []);
      const requests = await playable({ orgId, items, policy }, this.#deps.records);
      const answer = await this.#deps.nodes.testPolicy({ orgId, policy, requests: requests.toReversed() });
      if (!answer.ok) throw tooManyTests();
      return resultOf(policy, items, answer.verdicts);
    } finally {
      leave();
    }
  }

  #asked(actor: Actor, tunnelId: string, policy: unknown): Entrant & { readonly policy: Actions } {
    allow(actor, 'read', 'tunnel');
    allow(actor, 'read', 'record');
    const { orgId, userId } = actor;
    return { orgId, userId, policy: policyFor(ownTunnel(this.#deps.store.db, orgId, tunnelId), policy) };
  }

  #now(actor: Actor): Actor {
    const { db, clock } = this.#deps.store;
    return actor.kind === 'user' ? callerNow({ db, now: clock.now() }, actor) : actor;
  }

  async #newest(orgId: string, tunnelId: string, limit: number): Promise<RecordItem[]> {
    const { records, nodes } = this.#deps;
    await nodes.flushInspections();
    const items: RecordItem[] = [];
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES && items.length < limit; page++) {
      const wanted = Math.min(MAX_LIST, limit - items.length);
      const { items: more, stoppedAt } = await records.list(orgId, { tunnelId, limit: wanted, before });
      items.push(...more);
      if (stoppedAt === null && more.length < wanted) break;
      before = stoppedAt ?? more.at(-1)?.id;
    }
    return items;
  }
}

/** `items`: newest first. */
function resultOf(policy: Actions, items: readonly RecordItem[], verdicts: readonly TestVerdict[]): PolicyTestResult {
  const said = new Map(verdicts.map((verdict) => [verdict.id, verdict]));
  const counts = policy.actions.map(() => 0);
  const requests: RequestResult[] = [];
  const unknown = new Map<UnknownReason, number>();
  let wouldRefuse = 0;
  for (const item of items) {
    const verdict = said.get(item.id);
    if (verdict === undefined) continue;
    if (verdict.unknown !== null) unknown.set(verdict.unknown, (unknown.get(verdict.unknown) ?? 0) + 1);
    if (verdict.refused !== null) wouldRefuse++;
    const refusals = verdict.refused === null ? verdict.tried : [verdict.refused, ...verdict.tried];
    for (const { index } of refusals) counts[index] = (counts[index] ?? 0) + 1;
    const [first] = refusals;
    if (first !== undefined && requests.length < MAX_SHOWN)
      requests.push({ ...first, item, enforce: verdict.refused !== null });
  }
  const notTested = [...unknown].map(([reason, count]) => ({ reason, count }));
  const [newest, oldest] = [items[0], items.at(-1)];
  return {
    tested: items.length - notTested.reduce((sum, { count }) => sum + count, 0),
    wouldRefuse,
    notTested,
    span: newest === undefined || oldest === undefined ? null : { from: oldest.at, to: newest.at },
    byAction: policy.actions.flatMap((action, index) => {
      const { kind, enforce } = action;
      if (kind === 'header_set' || kind === 'response_header_set') return [];
      return [{ index, kind, rule: ruleOf(action), enforce, wouldRefuse: counts[index] ?? 0 }];
    }),
    requests,
  };
}
