/**
 * The API over HTTP on the clock of a Plane: for rules that depend on time and must hold against requests that race.
 */
import { LOOPBACK, NetworkSet } from '../../src/base/addr.ts';
import { silentLog } from '../../src/base/log.ts';
import { buildApi } from '../../src/control/api/app.ts';
import type { ApiDeps } from '../../src/control/api/context.ts';
import { listenApi } from '../../src/control/api/listener.ts';
import { callerOf, type Harness } from './harness.ts';
import type { Plane } from './plane.ts';

export interface PlaneApi {
  readonly call: Harness['call'];
  readonly port: number;
  /** Cuts what is open; the plane is left as it is. */
  close(): Promise<void>;
}

/** `changes`: settings that differ from a limit that nobody reaches and no CORS. */
export async function servePlane(plane: Plane, changes: Partial<ApiDeps> = {}): Promise<PlaneApi> {
  const app = buildApi({
    ...plane.control,
    version: '9.9.9',
    ping: () => {},
    discovery: () => undefined,
    publicUrl: () => 'http://api.test',
    trustedProxies: new NetworkSet(['127.0.0.1']),
    corsOrigins: [],
    authLimit: { burst: 1000, refillSeconds: 1 },
    monotonic: () => plane.clock.monotonic(),
    log: silentLog,
    ...changes,
  });
  const listener = await listenApi(
    app,
    { host: '127.0.0.1', port: 0 },
    { exempt: new NetworkSet(LOOPBACK), monotonic: () => plane.clock.monotonic(), log: silentLog },
  );
  const { port } = listener.address;
  return { call: callerOf(`http://127.0.0.1:${port}`), port, close: () => listener.close() };
}
