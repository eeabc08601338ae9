/** One slice on a database of its own, with only the slices that it uses: for tests of its rules, routes and events. */
import { rmSync } from 'node:fs';
import { OpenAPIHono } from '@hono/zod-openapi';
import { uuidv7 } from 'uuidv7';
import { silentLog } from '../../../base/log.ts';
import { newDataFolder } from '../../../../test/harness/data-folder.ts';
import type { Api, ApiEnv, ApiSettings } from '../http/context.ts';
import { ErrorLog } from '../http/error-log.ts';
import { answerError, refuseInvalid } from '../http/errors.ts';
import type { Handler } from '../../db/events.ts';
import { openDatabase, openStore } from '../../db/open.ts';
import { users } from '../../db/schema.ts';
import { Store, type Tx } from '../../db/tx.ts';
import type { UserActor } from '../rules/actor.ts';
import { insertOrganization } from '../../organizations/rows.ts';
import type { Core } from '../core.ts';
import { Drains } from '../drains.ts';
import { type Slice, Slices } from '../slice.ts';

export const START = Date.UTC(2026, 10, 21);

interface Options {
  /** Slices that it uses, from the ground up. */
  readonly below?: readonly Slice<unknown>[];
  /** In place of those of slices above it: for events that it emits. */
  readonly handlers?: ReadonlyArray<Handler<Tx>>;
}

export class OpenSlice<S> {
  /** Of the clock; tests move it. */
  now = START;
  readonly store: Store;
  readonly drains: Drains;
  readonly service: S;
  readonly #dataDir = newDataFolder();
  readonly #api: Api;

  constructor(slice: Slice<S>, { below = [], handlers = [] }: Options = {}) {
    const clock = { now: () => this.now, monotonic: () => this.now - START };
    const opened = openStore(openDatabase(this.#dataDir), this.#dataDir);
    this.store = new Store(opened, { clock, log: silentLog });
    this.drains = new Drains({ store: this.store, log: silentLog });
    // What a slice takes besides has no fake: a test of one that needs it takes a Plane.
    const core = { store: this.store, drains: this.drains } as Partial<Core> as Core;
    const slices = new Slices(core, [...below, slice]);
    this.store.handleEvents([...slices.handlers(), ...handlers]);
    this.service = slices.use(slice);
    this.#api = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid });
    const errors = new ErrorLog(silentLog, clock.monotonic);
    this.#api.onError((error, c) => answerError(error, c, { log: errors }));
    slices.mount(this.#api, {} as ApiSettings);
  }

  /** The owner of a new organization. */
  owner(email = 'ann@example.test'): UserActor {
    const userId = uuidv7();
    const orgId = this.store.inTx((tx) => {
      tx.db.insert(users).values({ id: userId, email, emailKey: email, createdAt: tx.now }).run();
      return insertOrganization(tx, { name: 'Ann', ownerId: userId }, { plan: 'enterprise', approval: 'approved' }).id;
    });
    return {
      kind: 'user',
      userId,
      email,
      orgId,
      role: 'owner',
      approval: 'approved',
      superadmin: false,
      sessionId: '',
      ipAddress: '192.0.2.1',
    };
  }

  /** A request of the API by this caller, without a socket. */
  async request(method: string, path: string, { as, body }: { as: UserActor; body?: object }): Promise<Response> {
    const app: Api = new OpenAPIHono<ApiEnv>();
    app.use(async (c, next) => {
      c.set('actor', as);
      c.set('actorNow', () => as);
      await next();
    });
    app.route('/', this.#api);
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return app.request(path, { method, headers: { 'content-type': 'application/json' }, ...sent });
  }

  close(): void {
    this.drains.close();
    this.store.close();
    rmSync(this.#dataDir, { recursive: true });
  }
}
