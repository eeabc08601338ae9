/**
 * Settings and control plane → the API. Called by start.ts, and by admin.ts for a folder that no server runs on.
 */
import { NetworkSet } from '../base/net/addr.ts';
import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { apiAtEdge } from '../config/one-port.ts';
import type { Settings } from '../config/schema.ts';
import { buildApi } from '../control/core/http/app.ts';
import type { Api, Discovery } from '../control/core/http/context.ts';
import { ClientIps } from '../control/core/http/listener/client-ip.ts';
import { LiveFeedServer } from '../control/inspector/live-feed-routes.ts';
import type { ControlPlane } from '../control/open.ts';

export interface ApiParts {
  readonly control: ControlPlane;
  readonly version: string;
  readonly log: Logger;
  /** Asked at each use, for a listener on port 0 learns its own late. */
  readonly apiUrl: () => string;
  readonly discovery: () => Discovery | undefined;
}

export function makeApi(settings: Settings, { control, version, log, apiUrl, discovery }: ApiParts): Api {
  return buildApi({
    ...control,
    version,
    writes: control.store,
    discovery,
    publicUrl: apiUrl,
    bareHost: apiAtEdge(settings)?.bareHost,
    trustedProxies: new NetworkSet(settings.api.trusted_proxies),
    corsOrigins: settings.api.cors_origins,
    authLimit: { burst: settings.limits.auth_burst, refillSeconds: settings.limits.auth_refill_seconds },
    monotonic: () => systemClock.monotonic(),
    log: log.child({ part: 'api' }),
  });
}

/** Who takes the upgrades of the API's listener. */
export function makeLiveFeed(
  settings: Settings,
  { control, log, apiUrl }: Pick<ApiParts, 'control' | 'log' | 'apiUrl'>,
): LiveFeedServer {
  const part = log.child({ part: 'api' });
  return new LiveFeedServer({
    sessions: control.sessions,
    feed: control.liveFeed,
    clientIps: new ClientIps(new NetworkSet(settings.api.trusted_proxies), part),
    publicUrl: apiUrl,
    corsOrigins: settings.api.cors_origins,
    log: part,
  });
}
