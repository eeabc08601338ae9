/** Recorded requests that were shared: public links that end by themselves. The token of a link is stored as a hash. */
import { randomBytes } from 'node:crypto';
import { and, count, desc, eq, gt } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import type { InspectedRequest } from '../../../plane/inspection.ts';
import type { NodeControl } from '../../../plane/link.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { auditOf } from '../../core/rules/audit.ts';
import { callerNow } from '../../core/rules/caller.ts';
import { ownRow } from '../../core/rules/own-row.ts';
import { hashOf } from '../../core/secrets/secret-hash.ts';
import { notGone } from '../../db/gone.ts';
import { inspectorShares } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import type { RecordStore } from '../../db/usage/records.ts';
import { withoutCredentials } from './credentials.ts';

/** Live ones of an organization. */
export const MAX_SHARES = 200;
const TOKEN_BYTES = 32;

type ShareRow = typeof inspectorShares.$inferSelect;

export interface ShareView {
  readonly id: string;
  readonly recordId: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface SharedRequest {
  readonly record: InspectedRequest;
  readonly expiresAt: number;
}

export interface ShareDeps {
  readonly store: Store;
  readonly records: Pick<RecordStore, 'find'>;
  readonly nodes: Pick<NodeControl, 'flushInspections'>;
}

const recordShare = auditOf('tunnel');

export class Shares {
  readonly #deps: ShareDeps;

  constructor(deps: ShareDeps) {
    this.#deps = deps;
  }

  /** `token` is shown once. Throws `forbidden`, `not_found`, `conflict` (too many), `rate_limited`, `unavailable`. */
  async create(actor: Actor, recordId: string, seconds: number): Promise<ShareView & { readonly token: string }> {
    allow(actor, 'create', 'record');
    await this.#deps.nodes.flushInspections();
    const record = await this.#deps.records.find(actor.orgId, recordId);
    if (record === undefined) throw gone();
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    return this.#deps.store.inTx((tx) => {
      const now = callerNow(tx, actor);
      allow(now, 'create', 'record');
      const [live] = tx.db.select({ n: count() }).from(inspectorShares).where(liveIn(now.orgId, tx.now)).all();
      if ((live?.n ?? 0) >= MAX_SHARES)
        throw new AppError(
          'conflict',
          `Your organization has ${MAX_SHARES} links to requests, which is the limit. Revoke one, or wait until one expires.`,
        );
      const row: ShareRow = {
        id: uuidv7(),
        orgId: now.orgId,
        recordId: record.id,
        tunnelId: record.tunnelId,
        tokenHash: hashOf(token),
        createdBy: now.email,
        createdAt: tx.now,
        expiresAt: tx.now + seconds * 1_000,
      };
      tx.db.insert(inspectorShares).values(row).run();
      const details = { record: row.recordId, share: row.id, seconds };
      recordShare(tx, now, { action: 'inspector.share', row: { id: row.tunnelId }, details });
      return { ...view(row), token };
    });
  }

  /** Live ones, newest first. Throws `forbidden`. */
  list(actor: Actor): readonly ShareView[] {
    allow(actor, 'read', 'record');
    const { db, clock } = this.#deps.store;
    return db
      .select()
      .from(inspectorShares)
      .where(liveIn(actor.orgId, clock.now()))
      .orderBy(desc(inspectorShares.createdAt))
      .limit(MAX_SHARES)
      .all()
      .map(view);
  }

  /** Throws `forbidden`, `not_found`. */
  revoke(actor: Actor, id: string): void {
    allow(actor, 'delete', 'record');
    this.#deps.store.inTx((tx) => {
      const row = ownRow(tx.db, inspectorShares, { orgId: actor.orgId, id, what: 'link to a request' });
      tx.db.delete(inspectorShares).where(eq(inspectorShares.id, row.id)).run();
      const details = { record: row.recordId, share: row.id };
      recordShare(tx, actor, { action: 'inspector.unshare', row: { id: row.tunnelId }, details });
    });
  }

  /** For a reader without an account. Throws `not_found`, alike for what never was, ended, was revoked or is no longer kept. */
  async view(token: string): Promise<SharedRequest> {
    const { store, records } = this.#deps;
    const live = and(
      eq(inspectorShares.tokenHash, hashOf(token)),
      gt(inspectorShares.expiresAt, store.clock.now()),
      notGone(inspectorShares.orgId),
    );
    const row = store.db.select().from(inspectorShares).where(live).get();
    const record = row === undefined ? undefined : await records.find(row.orgId, row.recordId);
    if (row === undefined || record === undefined)
      throw new AppError(
        'not_found',
        'This link has expired, was revoked or is incomplete. Ask the sender for a new one.',
      );
    return { record: withoutCredentials(record), expiresAt: row.expiresAt };
  }
}

function liveIn(orgId: string, now: number) {
  return and(eq(inspectorShares.orgId, orgId), gt(inspectorShares.expiresAt, now));
}

function view({ id, recordId, createdBy, createdAt, expiresAt }: ShareRow): ShareView {
  return { id, recordId, createdBy, createdAt, expiresAt };
}

function gone(): AppError {
  return new AppError(
    'not_found',
    'Your organization has no record with this id, or your plan no longer keeps it. Check the id.',
  );
}
