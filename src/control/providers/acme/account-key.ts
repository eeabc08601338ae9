/** The key of an account: P-256, signs every request (RFC 8555 §6.2), and its thumbprint is in every answer to a challenge. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type FlattenedJWS, type JWK } from 'jose';
import { AcmeError, type ExternalAccount } from './contract.ts';

export interface AccountKey {
  readonly pem: string;
  readonly privateKey: KeyObject;
  /** Of the public half. */
  readonly jwk: JWK;
  /** RFC 7638. */
  readonly thumbprint: string;
}

/** A new key as PKCS#8 PEM. */
export function newAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' });
}

export async function readAccountKey(pem: string): Promise<AccountKey> {
  const privateKey = openKey(pem);
  const jwk = await exportJWK(createPublicKey(privateKey));
  return { pem, privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
}

function openKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  } catch {
    // What it says may quote the key: only the error below is reported.
  }
  throw new AcmeError('badPublicKey', 'the key of the ACME account is not a P-256 key');
}

/** Proves to the authority that the holder of `account` takes this key for it (RFC 8555 §7.3.4). */
export function bindExternalAccount(account: ExternalAccount, key: AccountKey, url: string): Promise<FlattenedJWS> {
  return new FlattenedSign(new TextEncoder().encode(JSON.stringify(key.jwk)))
    .setProtectedHeader({ alg: 'HS256', kid: account.kid, url })
    .sign(Buffer.from(account.hmacKey.reveal(), 'base64url'));
}
