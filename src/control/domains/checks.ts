/**
 * Verified domains are looked up again each day: a domain changes hands, and its tunnel must not go on answering for the next owner.
 * Called by control/core/jobs.ts.
 */
import { and, asc, eq, isNotNull, lte } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import { domains } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import type { Outbox } from '../core/mail/outbox.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import { membersOf } from '../organizations/membership-rows.ts';
import type { RouteMaker } from '../tunnels/plane/route-maker.ts';
import { labelOf } from '../tunnels/rows.ts';
import { findOrg } from '../organizations/rows.ts';
import type { TxtRecords } from '../providers/dns.ts';
import { challengeName } from './names.ts';
import { announceTunnel, type DomainRow, recordDomain, updateDomain } from './rows.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';

/** How often a domain is looked up. */
const EVERY_MS = DAY_MS;
/** A record that has been missing for this long was not lost by a mistake at its DNS provider that its owner is about to mend. */
const GONE_MS = 3 * DAY_MS;
/** Domains of one pass: some 1,200 an hour. */
const BATCH = 20;
/** A notice is worth delivering for as long as mail servers are usually tried. */
const NOTICE_SECONDS = 3 * 24 * 3600;

export interface DomainCheckDeps {
  readonly store: Store;
  readonly routeEvents: Pick<RouteEvents, 'put'>;
  readonly routes: RouteMaker;
  readonly records: TxtRecords;
  readonly outbox: Outbox;
}

export class DomainChecks {
  readonly #deps: DomainCheckDeps;

  constructor(deps: DomainCheckDeps) {
    this.#deps = deps;
  }

  /** Looks up a batch of those that are due. Returns how many. What is not known before the stop is left for the next start. */
  async checkDue(stopping: AbortSignal): Promise<number> {
    const { store } = this.#deps;
    const due = store.db
      .select()
      .from(domains)
      .where(and(isNotNull(domains.verifiedAt), lte(domains.checkedAt, store.clock.now() - EVERY_MS)))
      .orderBy(asc(domains.checkedAt))
      .limit(BATCH)
      .all();
    await Promise.all(due.map((row) => this.#check(row, stopping)));
    return due.length;
  }

  async #check(asked: DomainRow, stopping: AbortSignal): Promise<void> {
    const { store, records } = this.#deps;
    // A DNS that does not answer says nothing about whose the domain is.
    const found = await records.lookUp(challengeName(asked.domain)).catch(() => undefined);
    if (stopping.aborted) return;
    store.inTx((tx) => {
      const row = tx.db.select().from(domains).where(eq(domains.id, asked.id)).get();
      if (row === undefined || row.verifiedAt === null) return;
      if (found === undefined) updateDomain(tx, row, { checkedAt: tx.now });
      else if (found.includes(row.verificationToken)) updateDomain(tx, row, { checkedAt: tx.now, failingSince: null });
      else if (row.failingSince === null || tx.now - row.failingSince < GONE_MS)
        updateDomain(tx, row, { checkedAt: tx.now, failingSince: row.failingSince ?? tx.now });
      else this.#lose(tx, row);
    });
  }

  #lose(tx: Tx, row: DomainRow): void {
    const { outbox } = this.#deps;
    updateDomain(tx, row, { verifiedAt: null, checkedAt: tx.now, failingSince: null, tunnelId: null });
    const before = { verified: true, tunnel: labelOf(tx.db, row.tunnelId) };
    const changes = changesBetween(before, { verified: false, tunnel: null });
    recordDomain(tx, { kind: 'system', orgId: row.orgId }, { action: 'domain.lose', row, changes });
    announceTunnel(tx, row.tunnelId, this.#deps);
    const organization = findOrg(tx.db, row.orgId)?.name ?? '';
    for (const { role, email } of membersOf(tx.db, row.orgId)) {
      if (role !== 'owner') continue;
      const { domain } = row;
      const record = challengeName(domain);
      outbox.post(tx, { kind: 'domain_lost', to: email, organization, domain, record }, NOTICE_SECONDS);
    }
  }
}
