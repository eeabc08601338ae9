/**
 * The server's signing keys (Ed25519): one that signs access JWTs, one that signs capability tokens. Loaded once at start, made on
 * first start. Private keys are stored sealed; public ones are served at /.well-known/jwks.json.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { signingKeys } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import type { Sealer } from './sealing.ts';

export type KeyPurpose = 'access' | 'capability';

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** An entry of the JWKS document. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
  readonly alg: string;
  readonly use: string;
}

interface LoadedKey extends SigningKey {
  readonly purpose: KeyPurpose;
  readonly publicKey: KeyObject;
  readonly retired: boolean;
}

const PURPOSES: readonly KeyPurpose[] = ['access', 'capability'];

export class Keys {
  readonly #keys: readonly LoadedKey[];

  /** Use `loadKeys`. */
  constructor(keys: readonly LoadedKey[]) {
    this.#keys = keys;
  }

  /** The newest key of this purpose. */
  signing(purpose: KeyPurpose): SigningKey {
    const key = this.#keys.findLast((k) => k.purpose === purpose && !k.retired);
    if (key === undefined) throw new Error(`no ${purpose} key is loaded`);
    return key;
  }

  /** The public key with this id, if it is one of this purpose. */
  verifying(purpose: KeyPurpose, id: string): KeyObject | undefined {
    return this.#keys.find((k) => k.purpose === purpose && k.id === id)?.publicKey;
  }

  /** All public keys, retired ones too: what they signed may still be valid. */
  jwks(): { keys: PublicJwk[] } {
    return {
      keys: this.#keys.map((k) => {
        const { x = '' } = k.publicKey.export({ format: 'jwk' });
        return { kty: 'OKP', crv: 'Ed25519', x, kid: k.id, alg: 'EdDSA', use: 'sig' };
      }),
    };
  }
}

/** Reads the keys and makes those that are missing. Throws when the key file of the data folder is not the one they were sealed with. */
export function loadKeys(store: Store, sealer: Sealer): Keys {
  const rows = store.inTx((tx) => {
    const found = tx.db.select().from(signingKeys).orderBy(signingKeys.createdAt, signingKeys.id).all();
    for (const purpose of PURPOSES) {
      if (found.some((row) => row.purpose === purpose && row.retiredAt === null)) continue;
      const row = makeRow(purpose, sealer, tx.now);
      tx.db.insert(signingKeys).values(row).run();
      found.push(row);
    }
    return found;
  });
  return new Keys(
    rows.map((row) => {
      const der = sealer.open(sealPurpose(row.id), row.sealedPrivate);
      const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      const publicKey = createPublicKey({ key: JSON.parse(row.publicJwk) as PublicJwk, format: 'jwk' });
      return { id: row.id, purpose: row.purpose, privateKey, publicKey, retired: row.retiredAt !== null };
    }),
  );
}

function makeRow(purpose: KeyPurpose, sealer: Sealer, now: number): typeof signingKeys.$inferSelect {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const id = randomBytes(8).toString('hex');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    id,
    purpose,
    publicJwk: JSON.stringify(publicKey.export({ format: 'jwk' })),
    sealedPrivate: sealer.seal(sealPurpose(id), der),
    createdAt: now,
    retiredAt: null,
  };
}

function sealPurpose(id: string): string {
  return `signing_keys/${id}`;
}
