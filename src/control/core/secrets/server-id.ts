/**
 * The identity of the server: made once per database, so that it survives restarts, moves and restores, and no other server has it. It is
 * public and proves nothing; agents tell by it a statement of their own server from that of another one at the same address.
 */
import { randomUUID } from 'node:crypto';
import { serverIdentity } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';

/** The server's id, which is made when the database has none yet. */
export function loadServerId(store: Store): string {
  return store.inTx((tx) => {
    const row = tx.db.select().from(serverIdentity).limit(1).get();
    if (row !== undefined) return row.id;
    const id = randomUUID();
    tx.db.insert(serverIdentity).values({ id, createdAt: tx.now }).run();
    return id;
  });
}
