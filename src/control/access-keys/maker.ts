/**
 * Makes tokens: the text key, the signed wire form and the row. Permissions are checked by the callers (service.ts,
 * master/keys.ts, master/project-keys.ts, rotation.ts). A text key is stored as its SHA-256, the wire form not at all.
 */
import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { isTokenGone } from '../db/gone.ts';
import { capabilityTokens } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import type { Keys } from '../core/secrets/keys.ts';
import { newTextKey } from '../core/secrets/text-key.ts';
import type { ProjectRow } from '../projects/rows.ts';
import { isSubdomainPattern } from '../core/rules/labels.ts';
import { signCwt } from './wire/cwt.ts';
import { forgetOldest } from './room.ts';
import type { TokenRow, TokenView } from './rows.ts';
import { NOTHING_SERVED } from './serving.ts';
import { claimsOf, NONCE_BYTES, subjectOf, TOKEN_VERSION, type TokenKind } from './wire/wire-form.ts';

/** A token that was just made: the only time that its secrets are known. */
export interface MintedToken extends TokenView {
  readonly apiKey: string;
  readonly wire: Uint8Array;
  readonly signature: Uint8Array;
}

export interface TokenSpec {
  readonly orgId: string;
  /** Whose removal ends it: the person who gets to see its secrets. */
  readonly createdBy: string | null;
  readonly kind: TokenKind;
  readonly name: string;
  readonly project: Pick<ProjectRow, 'id' | 'slug' | 'isDefault'> | null;
  /** The master key that mints it. */
  readonly parent: Pick<TokenRow, 'id' | 'nonce'> | null;
  /** Null: the first of its own. */
  readonly lineageId: string | null;
  readonly allowedSubdomains: readonly string[];
  readonly tunnelQuota: number;
  readonly bandwidthLimitMbps: number;
  readonly monthlyBudgetUsdCents: number | null;
  /** Milliseconds; kept in whole seconds. */
  readonly expiresAt: number;
}

const STILL_ENDING = 'Earlier access keys of this account are still being revoked. Try again in a few seconds.';

export class TokenMaker {
  readonly #keys: Keys;

  constructor(deps: { keys: Keys }) {
    this.#keys = deps.keys;
  }

  /**
   * Makes and stores a token. The caller has checked that there may be one more. Throws `invalid_request` for patterns that are none,
   * `unavailable` while other keys are being ended with which it would end.
   */
  makeIn(tx: Tx, spec: TokenSpec): MintedToken {
    checkPatterns(spec.allowedSubdomains);
    forgetOldest(tx, spec.orgId);
    const made = this.#make(spec, tx.now);
    // Its maker's keys are being ended: it would end with them.
    if (isTokenGone(tx.db, made.row)) throw new AppError('unavailable', STILL_ENDING, { retryAfterSeconds: 1 });
    tx.db.insert(capabilityTokens).values(made.row).run();
    return made;
  }

  #make(spec: TokenSpec, now: number): MintedToken {
    const { project, parent, ...shared } = spec;
    const apiKey = newTextKey(spec.kind === 'master' ? 'mtk_master_' : 'mtk_');
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const issuedAt = Math.floor(now / 1000);
    const expiresAt = Math.floor(spec.expiresAt / 1000);
    const allowedSubdomains = [...new Set(spec.allowedSubdomains)];
    const key = this.#keys.signing('capability');
    const { wire, signature } = signCwt(
      claimsOf({
        ...shared,
        nonce,
        parentNonce: parent?.nonce ?? null,
        project: project === null ? null : { slug: project.slug, suffix: project.isDefault ? '' : `-${project.slug}` },
        allowedSubdomains,
        issuedAt,
        expiresAt,
      }),
      key.id,
      key.privateKey,
    );
    const id = uuidv7();
    const row: TokenRow = {
      ...shared,
      id,
      lineageId: spec.lineageId ?? id,
      projectId: project?.id ?? null,
      parentId: parent?.id ?? null,
      version: TOKEN_VERSION,
      nonce,
      subject: subjectOf(spec.orgId),
      keyHash: hashKey(apiKey),
      wireBytesLen: wire.length,
      allowedSubdomains,
      issuedAt: issuedAt * 1000,
      expiresAt: expiresAt * 1000,
      graceEndsAt: null,
      replacedBy: null,
      revokedAt: null,
      lastUsedAt: null,
      lastUsedIp: null,
    };
    const view = {
      row,
      isRevoked: false,
      projectSlug: project?.slug ?? null,
      parentNonce: parent?.nonce ?? null,
      spentUsdCents: 0,
      serving: NOTHING_SERVED,
    };
    return { ...view, apiKey, wire, signature };
  }
}

/** Keys have 256 bits of chance and are looked up by hash: the time of the look-up tells nothing about the key. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function checkPatterns(patterns: readonly string[]): void {
  const details = [...patterns.entries()]
    .filter(([, text]) => !isSubdomainPattern(text))
    .map(([i]) => ({
      path: `allowedSubdomains.${i}`,
      message: 'must be "*", a subdomain, or a prefix that ends in "-*"',
    }));
  if (details.length > 0)
    throw new AppError('invalid_request', 'The allowed subdomains have an invalid entry. Correct it.', { details });
}
