/**
 * Checks what an authority issued before it is served: that it is for our key, for the names that were asked for and for now. Whether
 * a root that browsers know stands behind it is not checked: that is why the operator chose this authority.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { HOUR_MS } from '../../../base/clock.ts';
import { AcmeError } from './contract.ts';
import { oneLine } from './problem.ts';

export interface CheckedChain {
  /** PEM of the certificates alone, leaf first. */
  readonly chain: string;
  readonly notAfter: number;
}

/** Three is usual, five is known; each is sent in every full handshake. */
const MAX_CERTIFICATES = 8;
const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
/** Authorities date certificates back by an hour, so that clocks may be wrong by as much. */
const MAX_AHEAD_MS = HOUR_MS;

export function checkChain(
  pem: string,
  of: { readonly key: string; readonly names: readonly string[]; readonly nowMs: number },
): CheckedChain {
  const certificates = readCertificates(pem);
  const [leaf, issuer] = certificates;
  if (leaf === undefined) throw wrong('contains no certificate');
  if (!leaf.checkPrivateKey(createPrivateKey(of.key))) throw wrong('is not for the key that was sent');
  const missing = compareNames(leaf, of.names);
  if (missing !== undefined) throw wrong(missing);
  if (issuer !== undefined && !isSignedBy(leaf, issuer)) throw wrong('is not signed by the one after it');
  const notBefore = leaf.validFromDate.getTime();
  const notAfter = leaf.validToDate.getTime();
  const dates = `is valid from ${isoOf(notBefore)} to ${isoOf(notAfter)}`;
  if (!(notBefore < notAfter)) throw wrong(dates);
  if (notBefore > of.nowMs + MAX_AHEAD_MS || notAfter <= of.nowMs) {
    throw wrong(`${dates}, but the clock of this server shows ${isoOf(of.nowMs)}. Correct the clock`);
  }
  return { chain: certificates.map((certificate) => certificate.toString()).join(''), notAfter };
}

function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(PEM) ?? [];
  if (blocks.length > MAX_CERTIFICATES)
    throw wrong(`comes with a chain of ${blocks.length - 1} certificates, which is too long`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw wrong("can't be read", error);
  }
}

function isSignedBy(leaf: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return leaf.verify(issuer.publicKey);
  } catch {
    // A key of a kind that is not known here.
    return false;
  }
}

/** Exactly those: a certificate is found by its names, and one more could take the place of another's. */
function compareNames(leaf: X509Certificate, names: readonly string[]): string | undefined {
  const has = new Set((leaf.subjectAltName ?? '').split(', '));
  const isSame = has.size === names.length && names.every((name) => has.has(`DNS:${name}`));
  return isSame ? undefined : `is for ${oneLine([...has].join(', '))} and not for ${names.join(', ')}`;
}

function isoOf(ms: number): string {
  return Number.isNaN(ms) ? 'no date' : new Date(ms).toISOString();
}

function wrong(what: string, cause?: unknown): AcmeError {
  return new AcmeError('bad_answer', `the certificate that the authority issued ${what}`, { cause });
}
