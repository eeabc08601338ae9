/**
 * The log-in of a command line (after RFC 8628, with a code that the device makes itself): the agent makes a code, a person who is signed in
 * approves it, the agent fetches its key with the code, once. An unapproved code is not stored, so that strangers can't fill a table.
 */
import { and, eq, gt, isNull, type SQL } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { checkPhrase } from '../../../wire/check-phrase.ts';
import { liveTokens } from '../../db/gone.ts';
import { capabilityTokens, deviceLogins, users } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, can } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { Waits } from '../../../base/limits/waits.ts';
import { type OrgRow, orgsOf } from '../../organizations/rows.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { hashOf } from '../../core/secrets/secret-hash.ts';
import { openSession } from '../sessions/rows.ts';
import type { UserRow } from '../accounts/rows.ts';
import { asActor, type Visit } from '../../core/rules/caller.ts';
import { lineageOf } from '../../access-keys/spend.ts';
import type { TokenEnds } from '../../access-keys/ends/service.ts';
import type { MintedToken } from '../../access-keys/maker.ts';
import { sameLineage, type TokenRow } from '../../access-keys/rows.ts';
import { MAX_TTL_HOURS, type Tokens } from '../../access-keys/service.ts';

/** From the approval until the agent has fetched its key. */
const FETCH_SECONDS = 10 * 60;
/** 90 days: the longest that any token lives. */
const TTL_HOURS = MAX_TTL_HOURS;
/** As for a token that is minted without saying more. */
const SCOPE = { allowedSubdomains: ['*'], bandwidthLimitMbps: 100, tunnelQuota: 5 } as const;

/** The limit of `/auth/*` lets one address hold about eight of them, so that this takes many addresses. */
const MAX_WAITS = 200;

type Row = typeof deviceLogins.$inferSelect;

export interface Approved {
  readonly wire: Uint8Array;
  readonly label: string;
}

export interface Handed extends Approved {
  /** With `session`: a session of the approving person, for commands that act as a person. */
  readonly session?: {
    readonly refreshToken: string;
    readonly email: string;
    readonly organization: string;
    /** Of the token, milliseconds. */
    readonly expiresAt: number;
  };
}

export interface FetchInput {
  readonly deviceCode: string;
  readonly waitSeconds: number;
  readonly session: boolean;
}

export class DeviceLogins {
  readonly #store: Store;
  readonly #tokens: Tokens;
  readonly #tokenEnds: TokenEnds;
  readonly #sealer: Sealer;
  readonly #waits = new Waits({ total: MAX_WAITS, perKey: MAX_WAITS });

  constructor(deps: { store: Store; tokens: Tokens; tokenEnds: TokenEnds; sealer: Sealer }) {
    this.#store = deps.store;
    this.#tokens = deps.tokens;
    this.#tokenEnds = deps.tokenEnds;
    this.#sealer = deps.sealer;
  }

  /**
   * Authorizes the command line with this code: mints its key in the actor's organization and keeps it for the agent. A request that waits for the
   * code is answered after the commit. Throws `forbidden`, and `conflict` for a code that was approved before.
   */
  authorize(actor: Actor, deviceCode: string): Approved {
    allow(actor, 'create', 'token');
    const codeHash = hashOf(deviceCode);
    const label = `cli-${checkPhrase(deviceCode)}`;
    return this.#store.inTx((tx) => {
      const before = tx.db.select().from(deviceLogins).where(eq(deviceLogins.codeHash, codeHash)).get();
      if (before !== undefined) {
        throw new AppError('conflict', 'The code is already approved. Run `culvert login` again for a new one.');
      }
      const minted = this.#tokens.mintIn(tx, actor, { ...SCOPE, name: label, ttlHours: TTL_HOURS, kind: 'cli' });
      tx.db
        .insert(deviceLogins)
        .values({
          codeHash,
          userId: actor.userId,
          orgId: actor.orgId,
          tokenId: minted.row.id,
          label,
          sealedWire: this.#seal(codeHash, minted),
          approvedAt: tx.now,
          expiresAt: tx.now + FETCH_SECONDS * 1000,
        })
        .run();
      recordAudit(tx, actor, { action: 'auth.cli_authorize', resourceType: 'token', resourceId: minted.row.nonce });
      tx.onCommit(() => this.#waits.wake(codeHash));
      return { wire: minted.wire, label };
    });
  }

  /**
   * Hands the key over, to the first who asks. Throws `authorization_pending` alike for a code that is not approved yet, one that was
   * fetched or has run out, and one whose approval no longer holds. `gone`: the caller has left, who then gets nothing.
   */
  async fetch(input: FetchInput, visit: Visit, gone: AbortSignal): Promise<Handed> {
    const codeHash = hashOf(input.deviceCode);
    const handed = this.#take(codeHash, input, visit) ?? (await this.#takeLater(codeHash, { input, visit, gone }));
    if (handed !== undefined) return handed;
    throw new AppError(
      'authorization_pending',
      'The code is not approved yet. Approve it in the browser, then try again.',
    );
  }

  /**
   * Ends the token of a command line, and those that rotation made of it: to hold it is the right to end it. Agents are cut off. Throws
   * `unauthorized` for everything else.
   */
  logout(wireBase64: string): void {
    const token = this.#tokens.recogniseWire(wireBase64);
    const ended =
      token?.kind === 'cli' &&
      this.#store.inTx((tx) => {
        if (findLive(tx, eq(capabilityTokens.id, token.id)) === undefined) return false;
        const actor: Actor = { kind: 'token', tokenId: token.id, name: token.name, orgId: token.orgId };
        const keys = tx.db
          .select()
          .from(capabilityTokens)
          .where(and(sameLineage(lineageOf(token)), liveTokens(tx.now)))
          .all();
        for (const key of keys) {
          this.#tokenEnds.endIn(tx, key, 'The command line has logged out.');
          recordAudit(tx, actor, { action: 'auth.cli_logout', resourceType: 'token', resourceId: key.nonce });
        }
        return true;
      });
    if (!ended)
      throw new AppError(
        'unauthorized',
        'The key of this command line has expired or was revoked. Run `culvert login`.',
      );
  }

  /** Answers all waiting requests, and holds none any more: the server stops. */
  endWaits(): void {
    this.#waits.end();
  }

  /** How many requests are held now. */
  get waiting(): number {
    return this.#waits.size;
  }

  async #takeLater(
    codeHash: string,
    held: { input: FetchInput; visit: Visit; gone: AbortSignal },
  ): Promise<Handed | undefined> {
    if (held.input.waitSeconds === 0) return undefined;
    await this.#waits.until(codeHash, held.input.waitSeconds * 1000, held.gone);
    return held.gone.aborted ? undefined : this.#take(codeHash, held.input, held.visit);
  }

  #take(codeHash: string, { session }: FetchInput, visit: Visit): Handed | undefined {
    const waiting = and(
      eq(deviceLogins.codeHash, codeHash),
      isNull(deviceLogins.fetchedAt),
      gt(deviceLogins.expiresAt, this.#store.clock.now()),
    );
    // Most ask too early: a read, so that they don't queue for the write lock.
    if (this.#store.db.select().from(deviceLogins).where(waiting).get() === undefined) return undefined;
    return this.#store.inTx((tx) => {
      const row = tx.db.select().from(deviceLogins).where(waiting).get();
      if (row === undefined) return undefined;
      // Also where the approval no longer holds: the code is used up in either case.
      tx.db
        .update(deviceLogins)
        .set({ fetchedAt: tx.now, sealedWire: '' })
        .where(eq(deviceLogins.codeHash, codeHash))
        .run();
      const approver = approverOf(tx, row);
      if (approver === undefined) return undefined;
      const { user, org, token } = approver;
      const given = { wire: this.#sealer.open(sealPurpose(codeHash), row.sealedWire), label: row.label };
      if (!session) return given;
      const { refreshToken } = openSession(tx, { user, org, visit, tokenId: token.id });
      return {
        ...given,
        session: { refreshToken, email: user.email, organization: org.name, expiresAt: token.expiresAt },
      };
    });
  }

  #seal(codeHash: string, { wire }: MintedToken): string {
    return this.#sealer.seal(sealPurpose(codeHash), Buffer.from(wire));
  }
}

/** The person behind an approval, if they could still give it and the token that came of it still lives. */
function approverOf(tx: Tx, row: Row): { user: UserRow; org: OrgRow; token: TokenRow } | undefined {
  const user = tx.db.select().from(users).where(eq(users.id, row.userId)).get();
  const org = orgsOf(tx.db, row.userId).find(({ id }) => id === row.orgId);
  // One that was rotated meanwhile is in other hands.
  const token = findLive(tx, and(eq(capabilityTokens.id, row.tokenId), isNull(capabilityTokens.graceEndsAt)));
  if (user === undefined || user.lockedAt !== null || org === undefined || token === undefined) return undefined;
  const actor = asActor(user, org, { sessionId: '', ipAddress: '' });
  return can(actor, 'create', 'token') ? { user, org, token } : undefined;
}

function findLive(tx: Tx, which: SQL | undefined): TokenRow | undefined {
  return tx.db
    .select()
    .from(capabilityTokens)
    .where(and(which, liveTokens(tx.now)))
    .get();
}

function sealPurpose(codeHash: string): string {
  return `device_logins/${codeHash}`;
}
