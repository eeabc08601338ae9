/**
 * Time-based codes as every authenticator app makes them: SHA-1, six digits, 30 seconds, a secret of 160 bits (RFC 6238, RFC 4226). The
 * only file that imports otplib.
 */
import { generateSecret, generateURI, verifySync } from 'otplib';

const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const ISSUER = 'Culvert';
const CODE = /^[0-9]{6}$/;

/** A new secret, base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: SECRET_BYTES });
}

/** What an authenticator app reads from a QR code. */
export function otpauthUri(account: string, secret: string): string {
  return generateURI({ issuer: ISSUER, label: account, secret });
}

/** Could it be right for some secret? What could not is no guess. */
export function isCode(typed: string): boolean {
  return CODE.test(typed);
}

/** The number of the period of 30 seconds that this instant is in. */
export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / 1000 / STEP_SECONDS);
}

/**
 * The step to which a code of six digits belongs: the current one, or one beside it, for clocks differ and typing takes time. Undefined
 * when it fits none of the three. Compares in constant time.
 */
export function matchingStep(secret: string, code: string, nowMs: number): number | undefined {
  const epoch = Math.floor(nowMs / 1000);
  const found = verifySync({ secret, token: code, epoch, period: STEP_SECONDS, epochTolerance: STEP_SECONDS });
  return found.valid ? stepAt(nowMs) + found.delta : undefined;
}
