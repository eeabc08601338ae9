/** Traffic policies of tunnels: read, replace, remove. The data plane has the new one before the answer leaves. */
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import type { Actions } from '../../../plane/policy.ts';
import { tunnelPolicies } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { type AuditChange, changesBetween, MAX_CHANGES, partlySecretChange } from '../../core/rules/audit-changes.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import { type DryRunView, dryRunsOf, forgetDryRuns } from './dry-runs.ts';
import { keyPlaceWarnings, type KeyPlaceRules } from './key-places.ts';
import { policyFrom } from './input.ts';
import { policyOf, type RouteMaker } from '../plane/route-maker.ts';
import { ownTunnel, recordTunnel, type TunnelRow } from '../rows.ts';

export interface PolicyDeps {
  readonly store: Store;
  readonly routeEvents: RouteEvents;
  readonly routes: RouteMaker;
  readonly keyPlaces: KeyPlaceRules;
}

export interface PolicyView {
  readonly policy: Actions | null;
  readonly dryRuns: readonly DryRunView[];
}

export class Policies {
  readonly #deps: PolicyDeps;

  constructor(deps: PolicyDeps) {
    this.#deps = deps;
  }

  /** `policy` null: the tunnel has none. Throws `not_found`. */
  get(actor: Actor, tunnelId: string): PolicyView {
    allow(actor, 'read', 'tunnel');
    const { db } = this.#deps.store;
    const row = ownTunnel(db, actor.orgId, tunnelId);
    const policy = policyOf(db.select().from(tunnelPolicies).where(eq(tunnelPolicies.tunnelId, row.id)).get());
    return { policy, dryRuns: policy === null ? [] : dryRunsOf(db, row.id, policy) };
  }

  /** The policy as it was stored, and its parts that block all visitors. Throws `bad_policy`, `not_found`, `forbidden`. */
  put(actor: Actor, tunnelId: string, input: unknown): { policy: Actions; warnings: readonly string[] } {
    allow(actor, 'change', 'tunnel');
    return this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const policy = policyFor(row, input);
      const before = policyOf(tx.db.select().from(tunnelPolicies).where(eq(tunnelPolicies.tunnelId, row.id)).get());
      const next = { policy, updatedAt: tx.now };
      tx.db
        .insert(tunnelPolicies)
        .values({ tunnelId: row.id, ...next })
        .onConflictDoUpdate({ target: tunnelPolicies.tunnelId, set: next })
        .run();
      forgetDryRuns(tx, [row.id]);
      const details = { actions: policy.actions.map(({ kind }) => kind).join(' ') };
      recordTunnel(tx, actor, { action: 'tunnel.policy', row, details, changes: changesOf(before, policy) });
      this.#announce(tx, row);
      return { policy, warnings: keyPlaceWarnings(policy, this.#deps.keyPlaces) };
    });
  }

  /** Throws `not_found`, `forbidden`. None to remove is no error. */
  remove(actor: Actor, tunnelId: string): void {
    allow(actor, 'change', 'tunnel');
    this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const before = policyOf(tx.db.select().from(tunnelPolicies).where(eq(tunnelPolicies.tunnelId, row.id)).get());
      if (before === null) return;
      tx.db.delete(tunnelPolicies).where(eq(tunnelPolicies.tunnelId, row.id)).run();
      forgetDryRuns(tx, [row.id]);
      recordTunnel(tx, actor, { action: 'tunnel.policy_remove', row, changes: changesOf(before, null) });
      this.#announce(tx, row);
    });
  }

  #announce(tx: Tx, row: TunnelRow): void {
    const route = this.#deps.routes.routeOf(tx.db, row);
    tx.onCommit(() => this.#deps.routeEvents.put(route));
  }
}

type Action = Actions['actions'][number];

/** How many actions, and each that differs, by its place: `actions.0`. Entries go to other servers too: values of headers may be keys. */
function changesOf(before: Actions | null, after: Actions | null): readonly AuditChange[] {
  const [was, now] = [before?.actions ?? [], after?.actions ?? []];
  const places = Array.from({ length: Math.max(was.length, now.length) }, (_, at) => at);
  const textOf = (action: Action | undefined): string | null => (action === undefined ? null : JSON.stringify(action));
  const shown = (text: string): string => actionText(JSON.parse(text) as Action);
  return [
    ...changesBetween({ policy: countText(before) }, { policy: countText(after) }),
    ...places.flatMap((at) => partlySecretChange(`actions.${at}`, [textOf(was[at]), textOf(now[at])], shown)),
  ].slice(0, MAX_CHANGES);
}

function countText(policy: Actions | null): string | null {
  if (policy === null) return null;
  return policy.actions.length === 1 ? '1 action' : `${policy.actions.length} actions`;
}

/** `rate_limit: requests 10, per minute`; of a header its name alone. */
function actionText({ kind, ...action }: Action): string {
  const rest = kind === 'header_set' || kind === 'response_header_set' ? { ...action, value: '…' } : action;
  const parts = Object.entries(rest).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return `${kind}: ${parts.join(', ')}`;
}

/** The policy as it would be taken for this tunnel. Throws `bad_policy`. */
export function policyFor({ protocol }: Pick<TunnelRow, 'protocol'>, input: unknown): Actions {
  const policy = policyFrom(input);
  if (protocol === 'tcp') requireAddressRules(policy);
  return policy;
}

/** A raw connection has an address and nothing else that could be looked at: an action that would do nothing must not look like a lock. */
function requireAddressRules({ actions }: Actions): void {
  const other = actions.find(({ kind }) => kind !== 'ip_allow' && kind !== 'ip_deny');
  if (other === undefined) return;
  throw new AppError(
    'bad_policy',
    `The policy is invalid: a tcp tunnel supports only ip_allow and ip_deny. Remove ${other.kind}.`,
  );
}
