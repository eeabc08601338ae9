/** The login of a command line. */
import { and, eq, gt, isNull, lt, ne } from 'drizzle-orm';
import { accessKeys } from '../../access-keys/index.ts';
import { DAY_MS } from '../../../base/clock.ts';
import { forgetRows } from '../../core/retention.ts';
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { deviceLogins as table } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { sessionsEnding } from '../sessions/events.ts';
import { mountDevice } from './routes.ts';
import { DeviceLogins } from './service.ts';

export interface CliLoginServices {
  readonly deviceLogins: DeviceLogins;
}

export const cliLogins: Slice<CliLoginServices> = {
  name: 'CLI logins',
  service: ({ store, sealer }, use) => {
    const { tokens, tokenEnds } = use(accessKeys);
    return { deviceLogins: new DeviceLogins({ store, tokens, tokenEnds, sealer }) };
  },
  routes: (api, services, { log }) => mountDevice(api, { ...services, log }),
  on: () => [on(sessionsEnding, (tx, { userId }) => endUnfetched(tx, userId))],
  forget: [
    // A used code is remembered for a day, so that it can't be approved a second time.
    forgetRows(table, table.codeHash, (now) => lt(table.expiresAt, now - DAY_MS)),
    emptyKeys,
  ],
};

/** A command line that was authorized and has not come back yet: an attacker may have authorized it. */
function endUnfetched({ db, now }: Tx, userId: string): void {
  db.update(table)
    .set({ expiresAt: now, sealedWire: '' })
    .where(and(eq(table.userId, userId), isNull(table.fetchedAt), gt(table.expiresAt, now)))
    .run();
}

/** A key that was not fetched in time is not kept. */
function emptyKeys({ db, now }: Tx): void {
  db.update(table)
    .set({ sealedWire: '' })
    .where(and(lt(table.expiresAt, now), ne(table.sealedWire, '')))
    .run();
}
