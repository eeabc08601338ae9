/**
 * Custom domains as people handle them: add, verify by a TXT record, bind to a tunnel. Several organizations may add
 * one domain; the first to verify it has it, until it deletes it or its record has been gone for days (checks.ts).
 */
import { randomBytes } from 'node:crypto';
import { inArray } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { domains } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { checkRoom } from '../core/rules/daily-limit.ts';
import type { PendingWork } from '../core/pending-rows.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import { callerNow } from '../core/rules/caller.ts';
import { isResting, letAllRest } from '../subdomains/free-names.ts';
import type { RouteMaker } from '../tunnels/plane/route-maker.ts';
import { labelOf, ownTunnel } from '../tunnels/rows.ts';
import type { DomainChallenges } from './challenges.ts';
import { challengeName, domainFrom } from './names.ts';
import {
  announceTunnel,
  type DomainRow,
  domainsOf,
  ownDomain,
  recordDomain,
  updateDomain,
  verifierOf,
} from './rows.ts';

/** Of one organization: a bound for lists and for the work of checking them again, far above need. */
export const MAX_DOMAINS = 100;
/** Domains that one person adds in a day, those deleted again too. */
const MAX_PER_DAY = 200;
const ROOM = { action: 'domain.create', most: MAX_DOMAINS, perDay: MAX_PER_DAY, what: 'domains' } as const;
/** Characters of a foreign record that a message repeats. */
const MAX_SHOWN = 80;

export interface DomainDeps {
  readonly store: Store;
  readonly routeEvents: Pick<RouteEvents, 'put'>;
  readonly routes: RouteMaker;
  readonly challenges: DomainChallenges;
  /** Hosts of this server. Asked at each use, for the API learns its own late. */
  readonly ownHosts: () => readonly string[];
}

/** What the owner of a domain puts into the DNS. */
export interface DnsRecord {
  readonly type: 'TXT';
  readonly name: string;
  readonly value: string;
}

export function dnsRecordOf(row: DomainRow): DnsRecord {
  return { type: 'TXT', name: challengeName(row.domain), value: row.verificationToken };
}

export class Domains {
  readonly #deps: DomainDeps;

  constructor(deps: DomainDeps) {
    this.#deps = deps;
  }

  /** Of the actor's organization, newest first. */
  list(actor: Actor): readonly DomainRow[] {
    allow(actor, 'read', 'domain');
    return domainsOf(this.#deps.store.db, actor.orgId);
  }

  /** Throws `invalid_domain`, `duplicate_name`, `conflict` beyond the bound, `rate_limited`, `forbidden`. */
  create(actor: Actor, text: string): DomainRow {
    allow(actor, 'create', 'domain');
    const domain = domainFrom(text, this.#deps.ownHosts());
    return this.#deps.store.inTx((tx) => {
      const own = domainsOf(tx.db, actor.orgId);
      if (own.some((row) => row.domain === domain)) {
        throw new AppError('duplicate_name', `Your organization already has ${domain}. Verify or bind it.`);
      }
      checkRoom(tx, actor, { ...ROOM, has: own.length });
      requireFree(tx, domain, actor.orgId);
      const row: DomainRow = {
        id: uuidv7(),
        orgId: actor.orgId,
        domain,
        verificationToken: randomBytes(24).toString('base64url'),
        verifiedAt: null,
        checkedAt: null,
        failingSince: null,
        tunnelId: null,
        createdAt: tx.now,
      };
      tx.db.insert(domains).values(row).run();
      recordDomain(tx, actor, { action: 'domain.create', row });
      return row;
    });
  }

  /** Its requests are answered by no tunnel any more; a domain that was verified rests. Throws `not_found`, `forbidden`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'domain');
    this.#deps.store.inTx((tx) => this.#remove(tx, actor, ownDomain(tx.db, actor.orgId, id)));
  }

  /** The domains of an organization that was deleted, which has MAX_DOMAINS at most. A Drain. */
  drain(tx: Tx, { scope, actor }: PendingWork, limit: number): number {
    const rows = domainsOf(tx.db, scope).slice(0, limit);
    deleteDomains(tx, actor, rows);
    return rows.length;
  }

  /**
   * Looks the TXT record up. One that is verified stays so, unasked. Throws `invalid_request` when the record is missing or says something
   * else, `duplicate_name` when another organization was first, `unavailable` when the DNS does not answer, `rate_limited`, `not_found`,
   * `forbidden`.
   */
  async verify(actor: Actor, id: string): Promise<DomainRow> {
    allow(actor, 'change', 'domain');
    const { store, challenges } = this.#deps;
    const asked = ownDomain(store.db, actor.orgId, id);
    if (asked.verifiedAt !== null) return asked;
    const found = await challenges.ask(asked);
    return store.inTx((tx) => {
      // The DNS took its time: the user may have left meanwhile, and the domain may be gone or another owner's.
      const now = callerNow(tx, actor);
      allow(now, 'change', 'domain');
      const row = ownDomain(tx.db, actor.orgId, id);
      if (row.verifiedAt !== null) return row;
      if (!found.includes(row.verificationToken)) throw notProven(row, found);
      requireFree(tx, row.domain, actor.orgId);
      const next = updateDomain(tx, row, { verifiedAt: tx.now, checkedAt: tx.now, failingSince: null });
      recordDomain(tx, now, {
        action: 'domain.verify',
        row,
        changes: changesBetween({ verified: false }, { verified: true }),
      });
      return next;
    });
  }

  /** The tunnel answers for the domain, and the one that did so before does no more. Throws `invalid_request`, `not_found`, `forbidden`. */
  bind(actor: Actor, id: string, tunnelId: string): DomainRow {
    allow(actor, 'change', 'domain');
    return this.#deps.store.inTx((tx) => {
      const row = ownDomain(tx.db, actor.orgId, id);
      const tunnel = ownTunnel(tx.db, actor.orgId, tunnelId);
      if (row.verifiedAt === null) {
        throw new AppError('invalid_request', `${row.domain} is not verified. Verify it first.`);
      }
      if (tunnel.protocol === 'tcp') {
        const why = 'A tcp tunnel has no host name. Bind the domain to a tunnel of another protocol.';
        throw new AppError('invalid_request', why, { details: [{ path: 'tunnel_id', message: why }] });
      }
      return row.tunnelId === tunnel.id ? row : this.#rebind(tx, actor, { row, tunnelId: tunnel.id });
    });
  }

  /** Nothing to unbind is no error. Throws `not_found`, `forbidden`. */
  unbind(actor: Actor, id: string): DomainRow {
    allow(actor, 'change', 'domain');
    return this.#deps.store.inTx((tx) => {
      const row = ownDomain(tx.db, actor.orgId, id);
      return row.tunnelId === null ? row : this.#rebind(tx, actor, { row, tunnelId: null });
    });
  }

  #rebind(tx: Tx, actor: Actor, { row, tunnelId }: { row: DomainRow; tunnelId: string | null }): DomainRow {
    const next = updateDomain(tx, row, { tunnelId });
    const tunnel = tunnelId ?? row.tunnelId;
    recordDomain(tx, actor, {
      action: tunnelId === null ? 'domain.unbind' : 'domain.bind',
      row,
      more: { tunnel },
      changes: changesBetween({ tunnel: labelOf(tx.db, row.tunnelId) }, { tunnel: labelOf(tx.db, tunnelId) }),
    });
    announceTunnel(tx, row.tunnelId, this.#deps);
    announceTunnel(tx, tunnelId, this.#deps);
    return next;
  }

  #remove(tx: Tx, actor: Actor & { readonly orgId: string }, row: DomainRow): void {
    deleteDomains(tx, actor, [row]);
    announceTunnel(tx, row.tunnelId, this.#deps);
  }
}

function deleteDomains(tx: Tx, actor: Actor, rows: readonly DomainRow[]): void {
  const ids = rows.map(({ id }) => id);
  tx.db.delete(domains).where(inArray(domains.id, ids)).run();
  // Only what was shown to be theirs: else a stranger could keep a domain from its owner by adding and deleting it.
  const shown = rows.filter(({ verifiedAt }) => verifiedAt !== null);
  letAllRest(
    tx,
    shown.map(({ domain, orgId }) => ({ label: domain, orgId })),
  );
  for (const row of rows) recordDomain(tx, actor, { action: 'domain.delete', row });
}

/** Throws `duplicate_name` while another organization has the domain, or let it go within the last day. */
function requireFree(tx: Tx, domain: string, orgId: string): void {
  const verifier = verifierOf(tx.db, domain);
  if ((verifier !== undefined && verifier !== orgId) || isResting(tx, domain, orgId)) {
    throw new AppError(
      'duplicate_name',
      `Another organization has ${domain}, or deleted it in the last 24 hours. It must delete the domain, and you must then wait 24 hours.`,
    );
  }
}

function notProven(row: DomainRow, found: readonly string[]): AppError {
  const { name, value } = dnsRecordOf(row);
  const shown = found.slice(0, 3).map((text) => `"${text.slice(0, MAX_SHOWN)}"`);
  const said = found.length === 0 ? 'there is none' : `there is ${shown.join(', ')}`;
  return new AppError(
    'invalid_request',
    `${row.domain} is not verified: the TXT record ${name} must be "${value}", but ${said}. A new record can take a few minutes to become visible.`,
  );
}
