/** An authority of a test: a root, and certificates that it signs, right or wrong as the test wants them. */
import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface CertificateOptions {
  readonly names: readonly string[];
  /** Whose certificate it is; a new key when not given. */
  readonly publicKey?: x509.PublicKey;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Hex. */
  readonly serial?: string;
}

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  /** PKCS#8 PEM; empty when the key is not ours. */
  readonly key: string;
}

export interface TestCa {
  /** PEM. */
  readonly root: string;
  issue(options: CertificateOptions): Promise<TestCertificate>;
}

/** `keyId`: hex, of the root's key as its certificates name it. */
export async function makeTestCa(keyId?: string): Promise<TestCa> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const now = Date.now();
  const root = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Culvert test root',
      notBefore: new Date(now - HOUR_MS),
      notAfter: new Date(now + 7 * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    },
    webcrypto,
  );
  return {
    root: `${root.toString('pem')}\n`,
    issue: async ({ names, publicKey, notBefore, notAfter, serial }) => {
      const own =
        publicKey === undefined ? await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) : undefined;
      const certified = publicKey ?? own?.publicKey;
      if (certified === undefined) throw new Error('no key to certify');
      const made = await x509.X509CertificateGenerator.create(
        {
          ...(serial === undefined ? {} : { serialNumber: serial }),
          subject: `CN=${names[0] ?? 'none'}`,
          issuer: root.subject,
          notBefore: notBefore ?? new Date(now - HOUR_MS),
          notAfter: notAfter ?? new Date(now + DAY_MS),
          signingKey: keys.privateKey,
          signingAlgorithm: ALGORITHM,
          publicKey: certified,
          extensions: [
            new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
            keyId === undefined
              ? await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey, false, webcrypto)
              : new x509.AuthorityKeyIdentifierExtension(keyId),
          ],
        },
        webcrypto,
      );
      const key = own === undefined ? '' : KeyObject.from(own.privateKey).export({ type: 'pkcs8', format: 'pem' });
      return { cert: `${made.toString('pem')}\n`, key };
    },
  };
}

/** The key that a signing request (DER) is for. */
export function keyInRequest(csr: Buffer): x509.PublicKey {
  return new x509.Pkcs10CertificateRequest(csr).publicKey;
}
