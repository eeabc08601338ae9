/**
 * What the tables forget, and when. Called by control/core/jobs.ts. Each table gives up a bounded batch per pass, in a transaction of its own,
 * so that no pass holds the write lock or the loop for long; what is left goes in the next one.
 */
import { setImmediate } from 'node:timers/promises';
import { and, inArray, lt, ne, or, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../base/clock.ts';
import {
  auditEvents,
  billingEvents,
  capabilityTokens,
  deviceLogins,
  emailCodes,
  invitations,
  nodeCursors,
  passwordResets,
  refreshTokens,
  restingNames,
  sessions,
  spentOnce,
  tokenSpend,
  tunnels,
} from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { REST_MS } from '../subdomains/free-names.ts';
import { forgetEndedSessions } from '../tunnels/connections/ended-sessions.ts';
import { forgetNonces } from '../access-keys/revoked-nonces.ts';
import { forgetTokens } from '../access-keys/room.ts';
import { forgetBuckets } from '../metrics/usage-buckets.ts';
import { forgetDeliveries } from '../webhooks/delivery-rows.ts';
import { forgetUnproven } from '../auth/accounts/unproven-accounts.ts';

const AUDIT_DAYS = 365;
/** A dead session is kept this long for questions about its end. */
const SESSION_DAYS = 7;
/** A node that has said nothing for this long will not repeat a batch. */
const CURSOR_DAYS = 7;
/** An invitation that was accepted, revoked or has run out is shown to admins for this long. */
const INVITATION_DAYS = 30;
/** A deleted tunnel keeps its counters for this long, for the bill of the month. */
const TUNNEL_DAYS = 30;
/** A payment provider sends an event again for some days. */
const BILLING_EVENT_DAYS = 30;
/** What a key spent in a month is kept for a year behind it, for comparison. */
const SPEND_DAYS = 365;
/** A dead token is listed for this long; the audit log keeps what it was. */
const TOKEN_DAYS = 30;

/** Rows of one table per pass. */
const BATCH = 1_000;
/** Each session takes its refresh cookie along. */
const SESSION_BATCH = 200;
/** Of each token its children and its tunnels are looked up. */
const TOKEN_BATCH = 200;

export class Retention {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Deletes what is past its time: one batch of each table, with a turn of the loop for others in between. */
  async run(stopping: AbortSignal): Promise<void> {
    for (const step of STEPS) {
      this.#forget(step);
      await setImmediate();
      if (stopping.aborted) return;
    }
  }

  /** The same at once. */
  sweep(): void {
    for (const step of STEPS) this.#forget(step);
  }

  #forget(step: (tx: Tx) => void): void {
    // Relaxed: what a power cut brings back is deleted once more.
    this.#store.inTx(step, { relaxed: true });
  }
}

interface Rule {
  readonly table: SQLiteTable;
  /** Its primary key. */
  readonly key: SQLiteColumn;
  readonly isPast: (now: number) => SQL;
}

/** Tables whose rows go by their own columns alone. */
const RULES: readonly Rule[] = [
  { table: spentOnce, key: spentOnce.id, isPast: (now) => lt(spentOnce.expiresAt, now) },
  { table: emailCodes, key: emailCodes.userId, isPast: (now) => lt(emailCodes.expiresAt, now) },
  { table: passwordResets, key: passwordResets.hash, isPast: (now) => lt(passwordResets.expiresAt, now) },
  { table: restingNames, key: restingNames.label, isPast: (now) => lt(restingNames.deletedAt, now - REST_MS) },
  // A used code is remembered for a day, so that it can't be approved a second time.
  { table: deviceLogins, key: deviceLogins.codeHash, isPast: (now) => lt(deviceLogins.expiresAt, now - DAY_MS) },
  { table: nodeCursors, key: nodeCursors.node, isPast: (now) => lt(nodeCursors.updatedAt, now - CURSOR_DAYS * DAY_MS) },
  {
    table: billingEvents,
    key: billingEvents.id,
    isPast: (now) => lt(billingEvents.receivedAt, now - BILLING_EVENT_DAYS * DAY_MS),
  },
  { table: auditEvents, key: auditEvents.id, isPast: (now) => lt(auditEvents.at, now - AUDIT_DAYS * DAY_MS) },
  { table: tunnels, key: tunnels.id, isPast: (now) => lt(tunnels.deletedAt, now - TUNNEL_DAYS * DAY_MS) },
  ...[invitations.acceptedAt, invitations.revokedAt, invitations.expiresAt].map(
    (end): Rule => ({
      table: invitations,
      key: invitations.id,
      isPast: (now) => lt(end, now - INVITATION_DAYS * DAY_MS),
    }),
  ),
];

/** The rest. Tokens come after the tunnels that name them. */
const STEPS: ReadonlyArray<(tx: Tx) => void> = [
  ...RULES.map((rule) => (tx: Tx) => forget(tx, rule)),
  emptyDeviceLogins,
  forgetSessions,
  forgetSpend,
  forgetDeadTokens,
  forgetNonces,
  forgetDeliveries,
  forgetBuckets,
  forgetEndedSessions,
  forgetUnproven,
];

function forget(tx: Tx, { table, key, isPast }: Rule): void {
  const batch = tx.db.select({ key }).from(table).where(isPast(tx.now)).limit(BATCH);
  tx.db.delete(table).where(inArray(key, batch)).run();
}

/** A key that was not fetched in time is not kept. */
function emptyDeviceLogins({ db, now }: Tx): void {
  db.update(deviceLogins)
    .set({ sealedWire: '' })
    .where(and(lt(deviceLogins.expiresAt, now), ne(deviceLogins.sealedWire, '')))
    .run();
}

function forgetSessions({ db, now }: Tx): void {
  const past = now - SESSION_DAYS * DAY_MS;
  const dead = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(or(lt(sessions.expiresAt, past), lt(sessions.revokedAt, past)))
    .limit(SESSION_BATCH)
    .all();
  const ids = dead.map((row) => row.id);
  db.delete(refreshTokens).where(inArray(refreshTokens.sessionId, ids)).run();
  db.delete(sessions).where(inArray(sessions.id, ids)).run();
}

/** By rowid: its key is two columns. */
function forgetSpend({ db, now }: Tx): void {
  const past = now - SPEND_DAYS * DAY_MS;
  const batch = sql`SELECT rowid FROM ${tokenSpend} WHERE ${tokenSpend.updatedAt} < ${past} LIMIT ${BATCH}`;
  db.delete(tokenSpend).where(sql`rowid IN (${batch})`).run();
}

/** Also one that is revoked and has not run out: the list of revocations has a table of its own. */
function forgetDeadTokens(tx: Tx): void {
  const past = tx.now - TOKEN_DAYS * DAY_MS;
  const { expiresAt, revokedAt } = capabilityTokens;
  forgetTokens(tx, or(lt(expiresAt, past), lt(revokedAt, past)), TOKEN_BATCH);
}
