/**
 * Identity checks in front of tunnels: visitors that an identity provider must vouch for. Set, replace, read, remove. The lists stay here; the data plane
 * learns that there is a gate and its version. Who comes in is decided by sign-in.ts.
 */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { visitorGates } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { changesBetween } from '../../core/rules/audit-changes.ts';
import { type BillingMode, requireEntitlement } from '../../core/rules/plan-gate.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import type { RouteMaker } from '../plane/route-maker.ts';
import { ownTunnel, recordTunnel, type TunnelRow } from '../rows.ts';
import { findOrg } from '../../organizations/rows.ts';

/** Domains and addresses of one gate together. */
export const MAX_VISITOR_ENTRIES = 100;

/** Characters of a list that the audit log keeps. */
const MAX_NOTE = 1_000;

/** Lower case. */
export interface VisitorLists {
  readonly allowedDomains: readonly string[];
  readonly allowedEmails: readonly string[];
}

export interface VisitorGateDeps {
  readonly store: Store;
  readonly routeEvents: Pick<RouteEvents, 'put'>;
  readonly routes: RouteMaker;
  readonly billing: BillingMode;
  /** Of `edge_auth.provider`: how the settings call it, and whether it is set up. */
  readonly provider: { readonly id: string; readonly isSetUp: boolean };
}

export class VisitorGates {
  readonly #deps: VisitorGateDeps;

  constructor(deps: VisitorGateDeps) {
    this.#deps = deps;
  }

  /** The lists of a tunnel's gate, null when it has none. Throws `not_found`, `forbidden`. */
  get(actor: Actor, tunnelId: string): VisitorLists | null {
    allow(actor, 'read', 'tunnel');
    const { db } = this.#deps.store;
    const row = ownTunnel(db, actor.orgId, tunnelId);
    return db.select().from(visitorGates).where(eq(visitorGates.tunnelId, row.id)).get() ?? null;
  }

  /**
   * Visitors of older lists must log in again, also when these are the same. Throws `not_found`, `forbidden`, `upgrade_required`,
   * `invalid_request`: a `tcp` tunnel, lists that are empty or too long.
   */
  put(actor: Actor, tunnelId: string, input: VisitorLists): VisitorLists {
    allow(actor, 'change', 'tunnel');
    const lists = tidied(input);
    return this.#deps.store.inTx((tx) => {
      const row = httpTunnel(tx.db, actor.orgId, tunnelId);
      requireEntitlement(findOrg(tx.db, actor.orgId)?.plan ?? 'free', 'edgeAuth', this.#deps.billing);
      const before = tx.db.select().from(visitorGates).where(eq(visitorGates.tunnelId, row.id)).get();
      const next = { ...lists, version: randomUUID(), updatedAt: tx.now };
      tx.db
        .insert(visitorGates)
        .values({ tunnelId: row.id, ...next })
        .onConflictDoUpdate({ target: visitorGates.tunnelId, set: next })
        .run();
      const details = {
        allowed_domains: listed(lists.allowedDomains),
        allowed_emails: listed(lists.allowedEmails),
      };
      recordTunnel(tx, actor, {
        action: 'tunnel.edge_auth',
        row,
        details,
        changes: changesBetween(before === undefined ? {} : fieldsOf(before), fieldsOf(lists)),
      });
      this.#announce(tx, row);
      return lists;
    });
  }

  /** On any plan: a gate outlives a plan that had it, and may then only be taken away. Throws `not_found`, `forbidden`. None to remove is no error. */
  remove(actor: Actor, tunnelId: string): void {
    allow(actor, 'change', 'tunnel');
    this.#deps.store.inTx((tx) => {
      const row = ownTunnel(tx.db, actor.orgId, tunnelId);
      const before = tx.db.select().from(visitorGates).where(eq(visitorGates.tunnelId, row.id)).get();
      if (before === undefined) return;
      tx.db.delete(visitorGates).where(eq(visitorGates.tunnelId, row.id)).run();
      recordTunnel(tx, actor, {
        action: 'tunnel.edge_auth_remove',
        row,
        changes: changesBetween(fieldsOf(before), {}),
      });
      this.#announce(tx, row);
    });
  }

  /** What its owner should hear of a gate that is put, or before: one that no visitor can pass closes the tunnel, and only the operator can open it. */
  warnings(): readonly string[] {
    const { id, isSetUp } = this.#deps.provider;
    if (isSetUp) return [];
    return [
      `Visitors cannot log in: this server has no identity provider for them. The operator must set oauth.${id}.client_id and client_secret, or another edge_auth.provider.`,
    ];
  }

  #announce(tx: Tx, row: TunnelRow): void {
    const route = this.#deps.routes.routeOf(tx.db, row);
    tx.onCommit(() => this.#deps.routeEvents.put(route));
  }
}

/** For the audit log, which keeps short notes. */
function listed(entries: readonly string[]): string {
  const text = entries.join(', ');
  return text.length <= MAX_NOTE ? text : `${text.slice(0, MAX_NOTE)}…`;
}

function tidied({ allowedDomains, allowedEmails }: VisitorLists): VisitorLists {
  const count = allowedDomains.length + allowedEmails.length;
  if (count === 0) {
    throw new AppError(
      'invalid_request',
      'The list is empty. Add a domain or an email address. To block all visitors, use maintenance mode; to remove the login, use DELETE.',
    );
  }
  if (count > MAX_VISITOR_ENTRIES) {
    throw new AppError(
      'invalid_request',
      `The list has more than ${MAX_VISITOR_ENTRIES} domains and addresses. Remove some.`,
    );
  }
  const tidy = (entries: readonly string[]): string[] =>
    [...new Set(entries.map((entry) => entry.toLowerCase()))].sort();
  return { allowedDomains: tidy(allowedDomains), allowedEmails: tidy(allowedEmails) };
}

/** A tcp tunnel carries bytes, without a login page. */
function httpTunnel(db: Db, orgId: string, tunnelId: string): TunnelRow {
  const row = ownTunnel(db, orgId, tunnelId);
  if (row.protocol === 'tcp')
    throw new AppError('invalid_request', 'Visitors cannot log in to a tcp tunnel. Use a tunnel of another protocol.');
  return row;
}

/** For the audit log, by the names of the API. */
function fieldsOf({ allowedDomains, allowedEmails }: VisitorLists) {
  return { allowed_domains: allowedDomains, allowed_emails: allowedEmails };
}
