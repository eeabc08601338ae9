/**
 * The certificate that answers tls-alpn-01 (RFC 8737): self-signed, for the name that is proven, with a digest of the key authorization
 * in an extension. It is shown to an authority that offers the protocol `acme-tls/1`, and to no other client.
 */
import { createHash, KeyObject, webcrypto } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts';
import type { ChallengeAnswer } from './contract.ts';

/** The protocol by which an authority asks for this certificate. */
export const ACME_TLS_PROTOCOL = 'acme-tls/1';

/** id-pe-acmeIdentifier. */
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
/** DER of an OCTET STRING of 32 bytes. */
const OCTETS_32 = Buffer.from([0x04, 0x20]);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface AlpnCertificate {
  /** PEM. */
  readonly cert: string;
  /** PKCS#8 PEM. */
  readonly key: string;
}

/** Takes a few milliseconds, and 120 more at the first call. The dates are for show: authorities look at name and digest. */
export async function alpnCertificate(
  answer: Pick<ChallengeAnswer, 'name' | 'keyAuthorization'>,
): Promise<AlpnCertificate> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const digest = createHash('sha256').update(answer.keyAuthorization).digest();
  const now = Date.now();
  const made = await x509.X509CertificateGenerator.createSelfSigned(
    {
      // Not as a common name: that has room for 64 characters only, and no client reads it.
      name: [{ CN: ['acme-tls/1'] }],
      notBefore: new Date(now - HOUR_MS),
      notAfter: new Date(now + DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: answer.name }]),
        new x509.Extension(ACME_IDENTIFIER, true, Buffer.concat([OCTETS_32, digest])),
      ],
    },
    webcrypto,
  );
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: `${made.toString('pem')}\n`, key };
}
