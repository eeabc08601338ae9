/** What owners and operators see of a certificate. */
import { type CertificateRow, isGood } from './rows.ts';

export const CERTIFICATE_STATES = ['none', 'pending', 'valid', 'failed'] as const;

export interface CertificateView {
  /** `valid` also while a renewal fails: then `lastError` says why. */
  readonly state: (typeof CERTIFICATE_STATES)[number];
  /** Instants are milliseconds since the epoch. */
  readonly expiresAt: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: number | null;
}

export interface OperatedCertificate extends CertificateView {
  readonly name: string;
  /** Attempts in a row that failed. */
  readonly failures: number;
  readonly lastAttemptAt: number | null;
}

export const NO_CERTIFICATE: CertificateView = { state: 'none', expiresAt: null, lastError: null, nextAttemptAt: null };

export function viewOf(
  row: CertificateRow | undefined,
  { isUnderWay, now }: { isUnderWay: boolean; now: number },
): CertificateView {
  if (row === undefined) return NO_CERTIFICATE;
  const state = isGood(row, now) ? 'valid' : isUnderWay || row.lastError === null ? 'pending' : 'failed';
  const expiresAt = isGood(row, now) ? row.expiresAt : null;
  return { state, expiresAt, lastError: isUnderWay ? null : row.lastError, nextAttemptAt: row.nextAt };
}
