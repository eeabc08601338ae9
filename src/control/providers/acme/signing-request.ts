/** A new key and the request to certify it for some names (RFC 2986, RFC 8555 §7.4). */
import { KeyObject, webcrypto } from 'node:crypto';

/** Every client takes P-256, and its handshakes cost the server a fraction of RSA's. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface SigningRequest {
  /** DER in base64url, as `finalize` takes it. */
  readonly csr: string;
  /** PKCS#8 PEM. */
  readonly key: string;
}

export async function makeSigningRequest(names: readonly string[]): Promise<SigningRequest> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  // No common name: it has room for 64 signs only, and browsers have not read it for years.
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    {
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))],
    },
    webcrypto,
  );
  return {
    csr: Buffer.from(request.rawData).toString('base64url'),
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }),
  };
}
