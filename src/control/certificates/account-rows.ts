/** The accounts at certificate authorities, their keys sealed, and which authority is asked. Not to be called from outside certificates/. */
import { desc, eq, isNotNull, max } from 'drizzle-orm';
import { acmeAccounts, certificates } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import type { AcmeAccount } from '../providers/acme/contract.ts';
import type { Sealer } from '../core/secrets/sealing.ts';

export function findAccount(db: Db, directoryUrl: string, sealer: Sealer): AcmeAccount | undefined {
  const row = db.select().from(acmeAccounts).where(eq(acmeAccounts.directoryUrl, directoryUrl)).get();
  if (row === undefined) return undefined;
  return { accountUrl: row.accountUrl, key: sealer.open(accountPurpose(directoryUrl), row.sealedKey).toString() };
}

export function storeAccount(
  tx: Tx,
  of: { readonly directoryUrl: string; readonly account: AcmeAccount; readonly sealer: Sealer },
): void {
  const { directoryUrl, sealer } = of;
  const { accountUrl, key } = of.account;
  const sealedKey = sealer.seal(accountPurpose(directoryUrl), Buffer.from(key));
  const createdAt = lastOfAll(tx);
  tx.db
    .insert(acmeAccounts)
    .values({ directoryUrl, accountUrl, sealedKey, createdAt })
    .onConflictDoUpdate({ target: acmeAccounts.directoryUrl, set: { accountUrl, sealedKey, createdAt } })
    .run();
}

/** The authority that was last changed to; undefined before the first account. */
export function lastDirectory(db: Db): string | undefined {
  const { directoryUrl, createdAt } = acmeAccounts;
  return db.select({ directoryUrl }).from(acmeAccounts).orderBy(desc(createdAt)).limit(1).get()?.directoryUrl;
}

/** Another authority is asked from now on: what the others issued is asked for anew. Returns how many there were. */
export function changeAuthority(tx: Tx, directoryUrl: string): number {
  tx.db
    .update(acmeAccounts)
    .set({ createdAt: lastOfAll(tx) })
    .where(eq(acmeAccounts.directoryUrl, directoryUrl))
    .run();
  return tx.db.delete(certificates).where(isNotNull(certificates.chain)).run().changes;
}

/** Now, and later than all accounts there are, also when the clock was set back: the last one tells which authority is asked. */
function lastOfAll(tx: Tx): number {
  const { createdAt } = acmeAccounts;
  const last =
    tx.db
      .select({ at: max(createdAt) })
      .from(acmeAccounts)
      .get()?.at ?? 0;
  return Math.max(tx.now, last + 1);
}

export function forgetAccount(tx: Tx, directoryUrl: string): void {
  tx.db.delete(acmeAccounts).where(eq(acmeAccounts.directoryUrl, directoryUrl)).run();
}

function accountPurpose(directoryUrl: string): string {
  return `acme_accounts/${directoryUrl}`;
}
