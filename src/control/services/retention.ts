/**
 * What the tables forget, and when. Called by control/jobs.ts.
 */
import { and, inArray, lt, ne, or } from 'drizzle-orm';
import {
  auditEvents,
  deviceLogins,
  emailCodes,
  nodeCursors,
  passwordResets,
  refreshTokens,
  restingNames,
  sessions,
} from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { sweepSpent } from './spent-once.ts';
import { REST_MS } from './tunnel-rows.ts';

const DAY = 24 * 3600 * 1000;
const AUDIT_DAYS = 365;
/** A dead session is kept this long for the list of the person whom it belonged to. */
const SESSION_DAYS = 7;
/** A node that has said nothing for this long will not repeat a batch. */
const CURSOR_DAYS = 7;
/** Sessions per pass, with all their refresh tokens: keeps the write lock short. */
const BATCH = 200;

export class Retention {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Deletes what is past its time. */
  sweep(): void {
    this.#store.inTx((tx) => {
      const { db, now } = tx;
      sweepSpent(tx);
      db.delete(restingNames)
        .where(lt(restingNames.deletedAt, now - REST_MS))
        .run();
      db.delete(nodeCursors)
        .where(lt(nodeCursors.updatedAt, now - CURSOR_DAYS * DAY))
        .run();
      db.delete(auditEvents)
        .where(lt(auditEvents.at, now - AUDIT_DAYS * DAY))
        .run();
      db.delete(emailCodes).where(lt(emailCodes.expiresAt, now)).run();
      db.delete(passwordResets).where(lt(passwordResets.expiresAt, now)).run();
      // A used code is remembered for a while, so that it can't be approved a second time; a key that nobody fetched is not kept.
      db.delete(deviceLogins)
        .where(lt(deviceLogins.expiresAt, now - DAY))
        .run();
      db.update(deviceLogins)
        .set({ sealedWire: '' })
        .where(and(lt(deviceLogins.expiresAt, now), ne(deviceLogins.sealedWire, '')))
        .run();
      const past = now - SESSION_DAYS * DAY;
      const dead = db
        .select({ id: sessions.id })
        .from(sessions)
        .where(or(lt(sessions.expiresAt, past), lt(sessions.revokedAt, past)))
        .limit(BATCH)
        .all();
      const ids = dead.map((row) => row.id);
      if (ids.length === 0) return;
      db.delete(refreshTokens).where(inArray(refreshTokens.sessionId, ids)).run();
      db.delete(sessions).where(inArray(sessions.id, ids)).run();
    });
  }
}
