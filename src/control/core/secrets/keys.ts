/**
 * The server's signing keys (Ed25519) for access JWTs and for capability tokens: made on first start, rotated while the server runs. The
 * newest key of a purpose signs; the ones before it go on verifying until nothing that they signed can be valid any more, then they are
 * deleted. Private keys are stored sealed; public ones are served at /.well-known/jwks.json.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { and, eq, isNull, lte } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import type { AccessKey } from '../../../plane/access-keys.ts';
import { AppError } from '../../../base/errors.ts';
import { signingKeys } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { type Actor, allowOperator } from '../rules/actor.ts';
import { recordAudit } from '../rules/audit.ts';
import type { Sealer } from './sealing.ts';

export type KeyPurpose = 'access' | 'capability';

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly createdAt: number;
}

type KeyRow = typeof signingKeys.$inferSelect;

interface LoadedKey extends SigningKey {
  readonly purpose: KeyPurpose;
  readonly publicKey: KeyObject;
  readonly retired: boolean;
}

const PURPOSES: readonly KeyPurpose[] = ['access', 'capability'];
const SERVER: Actor = { kind: 'system', orgId: null };
/** Access keys rotate by themselves after this long. Capability keys rotate when an operator says so. */
const ROTATE_ACCESS_MS = 90 * DAY_MS;
/** A retired key verifies for this long: longer than anything that it signed is valid (15 minutes; 90 days, master keys 365). */
const VERIFY_MS: Readonly<Record<KeyPurpose, number>> = { access: DAY_MS, capability: 366 * DAY_MS };
/** Keys of one purpose at once: far above need; bounds the JWKS. Beyond it nothing rotates until an old key has gone. */
const MAX_KEYS = 16;

export class Keys {
  readonly #store: Store;
  readonly #sealer: Sealer;
  /** Oldest first. Replaced as a whole after each change of the table. */
  #keys: readonly LoadedKey[] = [];
  #listener: () => void = () => {};

  /** Use `loadKeys`. */
  constructor(store: Store, sealer: Sealer) {
    this.#store = store;
    this.#sealer = sealer;
  }

  /** Makes the keys that are missing, and reads all. Throws when the key file of the data folder is not the one they were sealed with. */
  load(): void {
    this.#store.inTx((tx) => {
      for (const purpose of PURPOSES) {
        if (!readRows(tx.db).some((row) => row.purpose === purpose && row.retiredAt === null))
          this.#insert(tx, purpose);
      }
    });
    this.#read();
  }

  /**
   * Makes a new key that signs from now on; what was signed before stays valid. Returns its id. For operators and the server itself.
   * Throws `forbidden`, `conflict` when too many old keys still verify.
   */
  rotate(actor: Actor, purpose: KeyPurpose): string {
    if (actor.kind !== 'system') allowOperator(actor);
    const id = this.#store.inTx((tx) => {
      const ofPurpose = eq(signingKeys.purpose, purpose);
      if (tx.db.select().from(signingKeys).where(ofPurpose).all().length >= MAX_KEYS) {
        throw new AppError(
          'conflict',
          `${MAX_KEYS} ${purpose} keys are in use, which is the limit. Wait until an old one expires.`,
        );
      }
      tx.db
        .update(signingKeys)
        .set({ retiredAt: tx.now })
        .where(and(ofPurpose, isNull(signingKeys.retiredAt)))
        .run();
      const made = this.#insert(tx, purpose);
      recordAudit(tx, actor, { action: 'key.rotate', resourceType: 'key', resourceId: made });
      return made;
    });
    this.#read();
    return id;
  }

  /** What the clock asks for: deletes keys whose signatures are all out of date, rotates the access key when it is old. */
  sweep(): void {
    const now = this.#store.clock.now();
    const gone = PURPOSES.map((purpose) =>
      and(eq(signingKeys.purpose, purpose), lte(signingKeys.retiredAt, now - VERIFY_MS[purpose])),
    );
    const deleted = this.#store.inTx((tx) =>
      gone.reduce((sum, where) => sum + tx.db.delete(signingKeys).where(where).run().changes, 0),
    );
    if (deleted > 0) this.#read();
    if (this.signing('access').createdAt <= now - ROTATE_ACCESS_MS) this.rotate(SERVER, 'access');
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
  jwks(): { keys: AccessKey[] } {
    return { keys: this.#keys.map(publicJwk) };
  }

  /** Those of them that access tokens are signed with, for data nodes. */
  accessKeys(): AccessKey[] {
    return this.#keys.filter((k) => k.purpose === 'access').map(publicJwk);
  }

  /** Calls `listener` after each change of the keys, once it is stored. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  #insert(tx: Tx, purpose: KeyPurpose): string {
    const row = makeRow(purpose, this.#sealer, tx.now);
    tx.db.insert(signingKeys).values(row).run();
    return row.id;
  }

  #read(): void {
    this.#keys = readRows(this.#store.db).map((row) => {
      const known = this.#keys.find((key) => key.id === row.id);
      const parts = known ?? openRow(row, this.#sealer);
      return { ...parts, createdAt: row.createdAt, retired: row.retiredAt !== null };
    });
    this.#listener();
  }
}

/** The keys of the data folder. Throws as `load`. */
export function loadKeys(store: Store, sealer: Sealer): Keys {
  const keys = new Keys(store, sealer);
  keys.load();
  return keys;
}

function publicJwk({ id, publicKey }: LoadedKey): AccessKey {
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'Ed25519', x, kid: id, alg: 'EdDSA', use: 'sig' };
}

function readRows(db: Db): ReadonlyArray<KeyRow> {
  return db.select().from(signingKeys).orderBy(signingKeys.createdAt, signingKeys.id).all();
}

function openRow(row: KeyRow, sealer: Sealer) {
  const der = sealer.open(sealPurpose(row.id), row.sealedPrivate);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey({ key: JSON.parse(row.publicJwk) as AccessKey, format: 'jwk' });
  return { id: row.id, purpose: row.purpose, privateKey, publicKey };
}

function makeRow(purpose: KeyPurpose, sealer: Sealer, now: number): KeyRow {
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

/** What private keys are sealed for. */
export function sealPurpose(id: string): string {
  return `signing_keys/${id}`;
}
