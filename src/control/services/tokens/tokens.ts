/**
 * Capability tokens: mint, list, revoke, and recognise one that an agent presents. A text key is stored as its SHA-256, the wire form
 * not at all: it is verified by its signature and looked up by its nonce.
 */
import { createHash, randomBytes } from 'node:crypto';
import { and, count, desc, eq, gt, isNull, or } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import { capabilityTokens, projects } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, type UserActor } from '../actor.ts';
import { recordDeed } from '../audit.ts';
import { MAX_WIRE_BYTES, signCwt, verifyCwt } from './cwt.ts';
import type { Keys } from '../keys/keys.ts';
import { isSubdomainPattern } from '../tunnels/names.ts';
import type { RouteNews } from '../news.ts';
import { readActor } from '../sessions/session-rows.ts';

export type TokenRow = typeof capabilityTokens.$inferSelect;

/** 90 days, in hours. More is cut, not refused. */
export const MAX_TTL_HOURS = 2160;
/** Patterns in one token; also bounds its wire form. */
export const MAX_SUBDOMAIN_PATTERNS = 100;
/** Unexpired tokens of one organization: a bound for lists, far above need. */
const MAX_LIVE_TOKENS = 1_000;
const TOKEN_VERSION = 1;
const ISSUER = 'culvert';

/** Registered claims (RFC 8392 §3.1) and ours, in the private range. */
const CLAIM = {
  iss: 1,
  sub: 2,
  exp: 4,
  iat: 6,
  cti: 7,
  version: -65537,
  kind: -65538,
  subdomains: -65539,
  quota: -65540,
  mbps: -65541,
} as const;

export interface MintInput {
  readonly name: string;
  readonly ttlHours: number;
  readonly allowedSubdomains: readonly string[];
  readonly bandwidthLimitMbps: number;
  readonly tunnelQuota: number;
}

/** The safe shape of a list. Seconds where the specification says so. */
export interface TokenView {
  readonly row: TokenRow;
  readonly projectSlug: string | null;
}

export interface MintedToken extends TokenView {
  readonly apiKey: string;
  readonly wire: Uint8Array;
  readonly signature: Uint8Array;
}

export class Tokens {
  readonly #store: Store;
  readonly #keys: Keys;
  readonly #news: RouteNews;

  constructor(deps: { store: Store; keys: Keys; news: RouteNews }) {
    this.#store = deps.store;
    this.#keys = deps.keys;
    this.#news = deps.news;
  }

  /** Tokens of the actor's organization, newest first. */
  list(actor: Actor): readonly TokenView[] {
    allow(actor, 'read', 'token');
    return this.#store.db
      .select({ row: capabilityTokens, projectSlug: projects.slug })
      .from(capabilityTokens)
      .leftJoin(projects, eq(projects.id, capabilityTokens.projectId))
      .where(eq(capabilityTokens.orgId, actor.orgId))
      .orderBy(desc(capabilityTokens.issuedAt), desc(capabilityTokens.id))
      .all();
  }

  /** A new agent token. The key and the wire form exist in the answer alone. Throws `forbidden`, `invalid_request`, `conflict`. */
  mint(actor: Actor, input: MintInput): MintedToken {
    return this.#store.inTx((tx) => this.mintIn(tx, actor, { ...input, kind: 'agent' }));
  }

  /** The same inside the transaction of a service that has more to store with it. */
  mintIn(tx: Tx, actor: Actor, input: MintInput & { kind: 'agent' | 'cli' }): MintedToken {
    allow(actor, 'create', 'token');
    // Asked again: a request whose body dawdles is older than the log-out, lock or removal that ends all keys, and must not add one.
    const now = readActor(tx.db, actor, { now: tx.now, ipAddress: actor.ipAddress });
    if (now === undefined) throw new AppError('unauthorized', 'The session is over. Log in again.');
    allow(now, 'create', 'token');
    const patterns = checkedPatterns(input.allowedSubdomains);
    checkRoom(tx, actor.orgId);
    const minted = this.#make(tx, actor, { ...input, allowedSubdomains: patterns });
    tx.db.insert(capabilityTokens).values(minted.row).run();
    recordDeed(tx, actor, { action: 'token.mint', resourceType: 'token', resourceId: minted.row.nonce });
    return minted;
  }

  /** Ends a token and all that it minted; their agents are cut off after the commit. Returns how many ended. Throws `not_found`. */
  revoke(actor: Actor, nonce: string): number {
    allow(actor, 'delete', 'token');
    return this.#store.inTx((tx) => {
      const own = eq(capabilityTokens.orgId, actor.orgId);
      const token = tx.db
        .select()
        .from(capabilityTokens)
        .where(and(own, eq(capabilityTokens.nonce, nonce)))
        .get();
      if (token === undefined) throw new AppError('not_found', 'No such token in your organization.');
      const doomed = tx.db
        .select()
        .from(capabilityTokens)
        .where(
          and(
            own,
            isNull(capabilityTokens.revokedAt),
            or(eq(capabilityTokens.id, token.id), eq(capabilityTokens.parentId, token.id)),
          ),
        )
        .all();
      for (const row of doomed) {
        this.endIn(tx, row, `The token ${row.name} was revoked.`);
        recordDeed(tx, actor, { action: 'token.revoke', resourceType: 'token', resourceId: row.nonce });
      }
      return doomed.length;
    });
  }

  /** Ends one token; its agents are cut off after the commit and told `message`. Whoever calls has checked that it may, and writes the trail. */
  endIn(tx: Tx, row: TokenRow, message: string): void {
    tx.db.update(capabilityTokens).set({ revokedAt: tx.now }).where(eq(capabilityTokens.id, row.id)).run();
    tx.onCommit(() => this.#news.revokeToken(row.id, message));
  }

  /**
   * Ends the live tokens of the actor's organization: those that one person made, with all that came of them, or (null) every one. Told as by `endIn`.
   * Whoever calls has checked that it may. Returns how many ended.
   */
  endAllIn(tx: Tx, actor: UserActor, what: { createdBy: string | null; message: string }): number {
    const live = tx.db
      .select()
      .from(capabilityTokens)
      .where(
        and(
          eq(capabilityTokens.orgId, actor.orgId),
          isNull(capabilityTokens.revokedAt),
          gt(capabilityTokens.expiresAt, tx.now),
        ),
      )
      .all();
    const made = (row: TokenRow): boolean => what.createdBy === null || row.createdBy === what.createdBy;
    const parents = new Set(live.filter(made).map(({ id }) => id));
    const doomed = live.filter((row) => made(row) || (row.parentId !== null && parents.has(row.parentId)));
    for (const row of doomed) {
      this.endIn(tx, row, what.message);
      recordDeed(tx, actor, { action: 'token.revoke', resourceType: 'token', resourceId: row.nonce });
    }
    return doomed.length;
  }

  /** The token that this text key or base64 wire form stands for, live or not; undefined when it is none of ours. */
  recognise(presented: string): TokenRow | undefined {
    if (presented.startsWith('mtk_')) return byColumn(this.#store.db, eq(capabilityTokens.keyHash, hashKey(presented)));
    return this.recogniseWire(presented);
  }

  /** The same for the wire form alone. */
  recogniseWire(presented: string): TokenRow | undefined {
    if (presented.length > MAX_WIRE_BYTES * 2) return undefined;
    const wire = Buffer.from(presented, 'base64');
    const claims = verifyCwt(wire, (kid) => this.#keys.verifying('capability', kid));
    const nonce = claims?.get(CLAIM.cti);
    if (!(nonce instanceof Uint8Array)) return undefined;
    return byColumn(this.#store.db, eq(capabilityTokens.nonce, Buffer.from(nonce).toString('hex')));
  }

  /** Notes that an agent used the token. */
  touch(tokenId: string): void {
    this.#store.inTx(
      (tx) =>
        void tx.db.update(capabilityTokens).set({ lastUsedAt: tx.now }).where(eq(capabilityTokens.id, tokenId)).run(),
      { relaxed: true },
    );
  }

  #make(tx: Tx, actor: UserActor, input: MintInput & { kind: 'agent' | 'cli' }): MintedToken {
    const apiKey = `mtk_${base62(randomBytes(32))}`;
    const nonce = randomBytes(16);
    const issuedAt = Math.floor(tx.now / 1000);
    const expiresAt = issuedAt + Math.min(input.ttlHours, MAX_TTL_HOURS) * 3600;
    const subject = `org:${actor.orgId}`;
    const key = this.#keys.signing('capability');
    const { wire, signature } = signCwt(
      new Map<number, unknown>([
        [CLAIM.iss, ISSUER],
        [CLAIM.sub, subject],
        [CLAIM.exp, expiresAt],
        [CLAIM.iat, issuedAt],
        [CLAIM.cti, nonce],
        [CLAIM.version, TOKEN_VERSION],
        [CLAIM.kind, input.kind],
        [CLAIM.subdomains, input.allowedSubdomains],
        [CLAIM.quota, input.tunnelQuota],
        [CLAIM.mbps, input.bandwidthLimitMbps],
      ]),
      key.id,
      key.privateKey,
    );
    const id = uuidv7();
    const row: TokenRow = {
      id,
      orgId: actor.orgId,
      projectId: null,
      parentId: null,
      lineageId: id,
      createdBy: actor.userId,
      kind: input.kind,
      version: TOKEN_VERSION,
      name: input.name,
      nonce: nonce.toString('hex'),
      subject,
      keyHash: hashKey(apiKey),
      wireBytesLen: wire.length,
      tunnelQuota: input.tunnelQuota,
      bandwidthLimitMbps: input.bandwidthLimitMbps,
      allowedSubdomains: input.allowedSubdomains,
      monthlyBudgetUsdCents: null,
      issuedAt: issuedAt * 1000,
      expiresAt: expiresAt * 1000,
      graceEndsAt: null,
      revokedAt: null,
      lastUsedAt: null,
    };
    return { row, projectSlug: null, apiKey, wire, signature };
  }
}

function checkedPatterns(patterns: readonly string[]): readonly string[] {
  const details = patterns
    .map((text, i) => ({
      path: `allowedSubdomains.${i}`,
      message: 'must be "*", a subdomain, or a prefix that ends in "-*"',
      text,
    }))
    .filter(({ text }) => !isSubdomainPattern(text))
    .map(({ path, message }) => ({ path, message }));
  if (details.length > 0)
    throw new AppError('invalid_request', 'allowedSubdomains holds something that is no subdomain.', { details });
  return [...new Set(patterns)];
}

function checkRoom(tx: Tx, orgId: string): void {
  const live = tx.db
    .select({ n: count() })
    .from(capabilityTokens)
    .where(
      and(
        eq(capabilityTokens.orgId, orgId),
        isNull(capabilityTokens.revokedAt),
        gt(capabilityTokens.expiresAt, tx.now),
      ),
    )
    .get();
  if ((live?.n ?? 0) >= MAX_LIVE_TOKENS) {
    throw new AppError('conflict', `Your organization has ${MAX_LIVE_TOKENS} live tokens. Revoke some first.`);
  }
}

/** Keys have 256 bits of chance and are looked up by hash: the time of the look-up tells nothing about the key. */
function byColumn(db: Db, where: ReturnType<typeof eq>): TokenRow | undefined {
  return db.select().from(capabilityTokens).where(where).get();
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Digits that 32 bytes need: 256 / log2(62), rounded up. Padded, so that all keys have one length. */
const KEY_DIGITS = 43;

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let out = '';
  for (let i = 0; i < KEY_DIGITS; i++) {
    out = (BASE62[Number(rest % 62n)] ?? '') + out;
    rest /= 62n;
  }
  return out;
}
