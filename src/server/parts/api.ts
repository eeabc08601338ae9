/** The API's listener with its live feeds, and the listener for scrapers. */
import type { AddressInfo } from 'node:net';
import { LOOPBACK, NetworkSet } from '../../base/net/addr.ts';
import { systemClock } from '../../base/clock.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import type { Api } from '../../control/core/http/context.ts';
import { ConnectionBound } from '../../control/core/http/listener/connection-bound.ts';
import { type ApiListener, listenApi } from '../../control/core/http/listener/listener.ts';
import { listenRelayed, type RelayedListener } from '../../control/core/http/listener/relayed.ts';
import type { LiveFeedServer } from '../../control/inspector/live-feed-routes.ts';
import type { ControlPlane } from '../../control/open.ts';
import { makeApi, makeLiveFeed } from '../api.ts';
import type { ApiTls } from '../certificates/api-tls.ts';
import { listenOn } from '../data-node.ts';
import { serveMetrics } from '../metrics/metrics.ts';
import { learnApiUrl, type Starting } from './starting.ts';

export interface ApiPart {
  readonly app: Api;
  readonly api: ApiListener;
  /** Takes the connections that came to the edge; undefined: none come there. */
  readonly relayed: RelayedListener | undefined;
  readonly liveFeed: LiveFeedServer;
  /** Null: scrapers have no listener. */
  readonly metrics: AddressInfo | null;
}

/** Rejects when a listener can't bind. */
export async function serveApi(
  life: Lifecycle,
  starting: Starting,
  {
    control,
    apiTls,
    apiSocket,
  }: { readonly control: ControlPlane; readonly apiTls: ApiTls; readonly apiSocket: string | undefined },
): Promise<ApiPart> {
  const { settings, options, log, late } = starting;
  const { version } = options;
  life.onClose('refused webhook counters', () => control.refusals.foldAll());
  const apiUrl = () => late.apiUrl;
  const discovery = () => late.discovery && { ...late.discovery, api_url: late.apiUrl, ...late.pin };
  const app = makeApi(settings, { control, version, log, apiUrl, discovery });
  const liveFeed = makeLiveFeed(settings, { control, log, apiUrl });
  const connections = {
    exempt: new NetworkSet([...settings.api.trusted_proxies, ...LOOPBACK]),
    monotonic: () => systemClock.monotonic(),
    log: log.child({ part: 'api' }),
    handshakes: {
      perSecond: settings.edge.limits.tls_handshakes_per_second_per_ip,
      burst: settings.edge.limits.tls_handshakes_burst_per_ip,
    },
  };
  const rules = { ...connections, upgrades: liveFeed, bound: new ConnectionBound(connections) };
  const api = await listenApi(app, listenOn(settings.api.listen, options.held?.api), {
    ...rules,
    tls: settings.api.tls ? apiTls.certificate : null,
  });
  apiTls.show(api);
  life.onClose('API', () => api.close());
  const relayed = apiSocket === undefined ? undefined : await listenRelayed(app, apiSocket, rules);
  life.onClose('API at the edge', async () => relayed?.close());
  life.onClose('live feeds', () => liveFeed.cut());
  life.onClose('pending CLI logins', () => control.deviceLogins.endWaits());
  life.onClose('webhook queue readers', () => control.mailbox.endWaits());
  learnApiUrl(starting, api.address.port);
  const metrics = await serveMetrics(settings, { control, version, log });
  life.onClose('metrics', async () => metrics?.close());
  return { app, api, relayed, liveFeed, metrics: metrics?.address ?? null };
}
