/** What the certificates of an ACME authority (RFC 8555) are ordered with: accounts, orders, challenges and errors. */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Secret } from '../../../base/secret.ts';

export type ChallengeType = 'http-01' | 'tls-alpn-01' | 'dns-01';

/** How one name is proven to be ours. */
export interface ChallengeAnswer {
  readonly type: ChallengeType;
  /** The name that is proven, without `*.`. */
  readonly name: string;
  /** http-01: the last part of the path below `/.well-known/acme-challenge/`. */
  readonly token: string;
  /** http-01: the body. tls-alpn-01: input of the digest in the certificate (`alpnCertificate`). */
  readonly keyAuthorization: string;
  /** dns-01: the TXT record of `_acme-challenge.<name>`; base64url SHA-256 of the key authorization. */
  readonly txtValue: string;
}

/** Publishes answers before the authority looks, and takes them back after. One name may have two at a time (`*.x` and `x`). */
export interface ChallengeSolver {
  /** Resolves when the authority may look. What it throws ends the order with `challenge_failed`. Calls overlap when an order has several names. */
  publish(answer: ChallengeAnswer, signal: AbortSignal): Promise<void>;
  /** Called once for each `publish` that began, also when that failed or the order was aborted. What it throws is logged. */
  withdraw(answer: ChallengeAnswer): Promise<void>;
}

export interface AcmeAccount {
  readonly accountUrl: string;
  /** PKCS#8 PEM. */
  readonly key: string;
}

export interface AcmeOrder {
  /** Lower case, `*.` allowed in front with dns-01. */
  readonly names: readonly string[];
  readonly challenge: ChallengeType;
  readonly solver: ChallengeSolver;
  readonly signal: AbortSignal;
  /** PEM of the certificate that this one replaces: such orders pass the rate limits of authorities that know RFC 9773. */
  readonly replaces?: string;
}

export interface IssuedCertificate {
  /** PEM, leaf first. */
  readonly chain: string;
  /** PKCS#8 PEM, a new one per certificate. */
  readonly key: string;
  /** ms since the epoch. */
  readonly notAfter: number;
  /** When the authority suggests renewal (RFC 9773), ms since the epoch; null: it does not say. */
  readonly renewAt: number | null;
}

export interface CertificateAuthority {
  /** Registers the account of this key, or finds it; a new key when none is given. Throws AcmeError. */
  register(of: { key?: string; email: string | null; signal: AbortSignal }): Promise<AcmeAccount>;
  /**
   * Proves the names and gets a certificate. Placing the order, the proof and the certificate get 90 s each; the solver takes its own time.
   * Rejects after the answers are taken back. Throws AcmeError.
   */
  issue(account: AcmeAccount, order: AcmeOrder): Promise<IssuedCertificate>;
  /** When to renew this certificate (PEM), ms since the epoch; null when the authority does not say. Throws AcmeError. */
  renewalTime(cert: string, signal: AbortSignal): Promise<number | null>;
}

/** Account of another kind that the authority wants to see (RFC 8555 §7.3.4), as commercial ones do. */
export interface ExternalAccount {
  readonly kid: string;
  /** base64url. */
  readonly hmacKey: Secret;
}

export interface AcmeOptions {
  readonly directoryUrl: string;
  /** PEM file of the roots that are trusted instead of the system's; null: the system's. */
  readonly caFile: string | null;
  readonly eab: ExternalAccount | null;
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * What failed. `message` is one line that an owner of the name may read. `code` is that of the authority's problem document without its
 * prefix `urn:ietf:params:acme:error:`, or one of: `network` (no answer), `timeout`, `bad_answer` (not ACME, or not what was asked for),
 * `challenge_failed` (the answer was not published or the authority did not like it), `aborted`.
 */
export class AcmeError extends Error {
  readonly code: string;
  /** From Retry-After, ms from now; null when the authority did not say. */
  readonly retryAfterMs: number | null;

  constructor(code: string, message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AcmeError';
    this.code = code;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
