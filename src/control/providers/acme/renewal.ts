/**
 * When to renew, as the authority suggests it (ACME Renewal Information, RFC 9773): a window per certificate, which moves to the past when
 * the certificate is about to be revoked.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { AcmeError } from './contract.ts';
import { readObject } from './answers.ts';
import { isRecord, refusalOf } from './problem.ts';
import type { Transport } from './transport.ts';

/** RFC 9773 §4.1: base64url of the authority key identifier, a dot, base64url of the serial. Undefined when the certificate has none or can't be read. */
export async function renewalIdOf(pem: string): Promise<string | undefined> {
  await import('reflect-metadata');
  const { AuthorityKeyIdentifierExtension, X509Certificate } = await import('@peculiar/x509');
  let leaf: InstanceType<typeof X509Certificate>;
  try {
    leaf = new X509Certificate(pem);
  } catch {
    return undefined;
  }
  const keyId = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  if (keyId === undefined) return undefined;
  const [authority, serial] = [keyId, derOf(leaf.serialNumber)].map((hex) =>
    Buffer.from(hex, 'hex').toString('base64url'),
  );
  return `${authority}.${serial}`;
}

/** The content of a positive INTEGER: whole bytes, with a zero in front where the first bit would mean a minus. */
function derOf(hex: string): string {
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return Number.parseInt(even.slice(0, 2), 16) > 0x7f ? `00${even}` : even;
}

export interface RenewalQuestion {
  /** From the directory; null: the authority suggests nothing. */
  readonly renewalInfo: string | null;
  /** PEM. */
  readonly cert: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * A time in the window, the same one for the same window and certificate, ms since the epoch; in the past: renew now. Null when the
 * authority says nothing about the certificate.
 */
export async function fetchRenewalTime(transport: Transport, question: RenewalQuestion): Promise<number | null> {
  const { renewalInfo, cert, signal, clock } = question;
  const renewalId = renewalInfo === null ? undefined : await renewalIdOf(cert);
  if (renewalInfo === null || renewalId === undefined) return null;
  const url = `${renewalInfo.replace(/\/$/, '')}/${renewalId}`;
  const reply = await transport.ask({ method: 'GET', url, signal });
  if (reply.status === 404) return null;
  if (reply.status !== 200) throw refusalOf(reply, clock.now());
  const { suggestedWindow } = readObject(reply, 'renewal information');
  const start = isRecord(suggestedWindow) ? timeOf(suggestedWindow['start']) : Number.NaN;
  const end = isRecord(suggestedWindow) ? timeOf(suggestedWindow['end']) : Number.NaN;
  if (!(start < end)) throw new AcmeError('bad_answer', "the authority's renewal information has no window");
  return Math.floor(start + shareOf(renewalId) * (end - start));
}

function timeOf(value: unknown): number {
  return typeof value === 'string' && value.length <= 64 ? Date.parse(value) : Number.NaN;
}

/** 0..1, evenly over certificates: so that those of one day are not all renewed in one minute. */
function shareOf(renewalId: string): number {
  return createHash('sha256').update(renewalId).digest().readUInt32BE(0) / 2 ** 32;
}
