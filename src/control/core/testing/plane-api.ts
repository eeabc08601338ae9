/**
 * The API over HTTP on the clock of a Plane: for rules that depend on time and must hold against requests that race.
 */
import { LOOPBACK, NetworkSet } from '../../../base/net/addr.ts';
import { silentLog } from '../../../base/log.ts';
import { type ApiDeps, buildApi } from '../http/app.ts';
import { ClientIps } from '../http/listener/client-ip.ts';
import { LiveFeedServer } from '../../inspector/live-feed-routes.ts';
import { listenApi } from '../http/listener/listener.ts';
import type { LiveFeed } from '../../inspector/live-feed.ts';
import { callerOf, type Harness } from './harness.ts';
import type { Plane } from './plane.ts';

export interface PlaneApi {
  readonly call: Harness['call'];
  readonly port: number;
  readonly liveFeed: LiveFeedServer;
  /** Cuts what is open; the plane is left as it is. */
  close(): Promise<void>;
}

/** `changes`: settings that differ from a limit that is never reached and no CORS; `feedPingMs` from 30 s; `feed` from the plane's own. */
export async function servePlane(
  plane: Plane,
  { feedPingMs, feed, ...changes }: Partial<ApiDeps> & { readonly feedPingMs?: number; readonly feed?: LiveFeed } = {},
): Promise<PlaneApi> {
  const trustedProxies = new NetworkSet(['127.0.0.1']);
  const publicUrl = () => 'http://api.test';
  const app = buildApi({
    ...plane.control,
    version: '9.9.9',
    writes: plane.control.store,
    discovery: () => undefined,
    publicUrl,
    trustedProxies,
    corsOrigins: [],
    authLimit: { burst: 1000, refillSeconds: 1 },
    monotonic: () => plane.clock.monotonic(),
    log: silentLog,
    ...changes,
  });
  const liveFeed = new LiveFeedServer({
    sessions: plane.control.sessions,
    feed: feed ?? plane.control.liveFeed,
    clientIps: new ClientIps(trustedProxies, silentLog),
    publicUrl,
    corsOrigins: changes.corsOrigins ?? [],
    log: changes.log ?? silentLog,
    ...(feedPingMs === undefined ? {} : { pingMs: feedPingMs }),
  });
  const listener = await listenApi(
    app,
    { host: '127.0.0.1', port: 0 },
    {
      exempt: new NetworkSet(LOOPBACK),
      monotonic: () => plane.clock.monotonic(),
      log: silentLog,
      upgrades: liveFeed,
    },
  );
  const { port } = listener.address;
  const close = async (): Promise<void> => {
    liveFeed.cut();
    await listener.close();
  };
  return { call: callerOf(`http://127.0.0.1:${port}`), port, liveFeed, close };
}
