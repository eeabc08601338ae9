/**
 * Parts of a data node. Each function opens one from the settings and registers with `life` how it closes; node.ts has the order.
 */
import { NetworkSet } from '../base/net/addr.ts';
import type { PasswordHasher } from '../argon2/argon2-threads.ts';
import { cutFaulty, Sweeper, systemClock } from '../base/clock.ts';
import type { Lifecycle } from '../base/process/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { TurnEnd } from '../base/process/turn.ts';
import type { HeadLimits } from '../http1/head-limits.ts';
import type { MuxSession } from '../mux/session.ts';
import { WindowBudget } from '../mux/window.ts';
import type { Link } from '../plane/link.ts';
import { Admission } from './entrance/admission.ts';
import type { Drops } from './faults/drops.ts';
import { Entrance } from './entrance/entrance.ts';
import type { EdgeLimits } from './edge/exchange/context.ts';
import { HOLD_BOUNDS, Holds } from './edge/exchange/holds.ts';
import { type HttpEdge, type HttpEdgeDeps, startHttpEdge } from './edge/http.ts';
import { TcpEdge, type TcpEdgeDeps } from './edge/tcp/tcp.ts';
import type { TcpVisitor } from './edge/tcp/visitor.ts';
import { Gateway, type GatewayDeps } from './gateway/gateway.ts';
import { AccessLog } from './access-log/access-log.ts';
import { Recorder } from './inspect/recorder.ts';
import { LatencyRecorder } from './latency/latency-recorder.ts';
import type { NodeSettings } from './node-settings.ts';
import { BasicChecks } from './policy/password/checks.ts';
import { PolicyRegistry } from './policy/policy-registry.ts';
import { JwtCheck } from './policy/jwt/check.ts';
import { JwtSteps } from './policy/jwt/step.ts';
import { PolicyTester } from './policy/policy-tester.ts';
import { DryRunSlots } from './policy/dry-run-slots.ts';
import { VisitorPasses } from './policy/visitor-login/passes.ts';
import { KeySources } from './policy/jwt/key-sources.ts';
import { RelayRegistry } from './relay/relay-registry.ts';
import { DryRuns } from './report/dry-runs.ts';
import { UsageMeter } from './report/meter.ts';
import type { Outbox } from './report/outbox.ts';
import { TableFollower } from './routing/follow.ts';
import type { RouteTable } from './routing/table.ts';

/** What every part may need. */
export interface Common {
  readonly settings: NodeSettings;
  readonly link: Link;
  readonly log: Logger;
  readonly table: RouteTable;
  readonly drops: Drops;
  readonly outbox: Outbox;
}

/** Sockets of agents that have not shown a good token: enough for 1,000 agents that come back at once. */
const MAX_ANONYMOUS = 1_024;
const MAX_ANONYMOUS_PER_IP = 128;
/** Handshakes of one address that end without a good token: agents with one are not held up, however many come back at once. */
const UNKNOWN_HANDSHAKES = { perSecond: 50, burst: 200 };
const SWEEP_MS = 1_000;
/** How often visitors that were refused or cut are said in the log. */
const TELL_MS = 60_000;
/** The last usage is worth a short wait for a control plane that is going down too. */
const LAST_REPORT_MS = 2_000;
const MEGABYTE = 1 << 20;

/** Compiles the policies of routes from now on; `argon2` computes their passwords. */
export function openPolicies(life: Lifecycle, common: Common, argon2: PasswordHasher) {
  const { settings, log, table, drops, outbox } = common;
  life.onClose('password threads', () => argon2.close());
  const checks = new BasicChecks(
    (job) => argon2.run(job),
    () => drops.add('password_checks'),
  );
  const keys = new KeySources(settings.edge.issuerKeys, { clock: systemClock, log });
  const check = new JwtCheck(keys, systemClock);
  const jwts = new JwtSteps(check, systemClock);
  const dryRuns = new DryRuns(outbox);
  const parts = { log, checks, visitors: new VisitorPasses(systemClock), dryRunSlots: new DryRunSlots(log) };
  life.onClose('policies', table.subscribe(new PolicyRegistry({ ...parts, jwts, dryRuns })));
  return { dryRuns, tester: new PolicyTester({ parts, check, limits: headLimits(settings), log }) };
}

/** Opens the relays of private networks as routes name them. */
export function openRelays(life: Lifecycle, { settings, log, table, outbox }: Common): RelayRegistry {
  const { udpHost, udpBatches } = settings.edge;
  const relays = new RelayRegistry({ host: udpHost, batched: udpBatches }, { outbox, log });
  const deaf = table.subscribe(relays);
  life.onClose('relays', () => {
    deaf();
    relays.close();
  });
  return relays;
}

/** Fills the table. Resolves when the first snapshot is in it. */
export async function followRoutes(life: Lifecycle, { table, link, log }: Common): Promise<void> {
  const follower = new TableFollower(table, { link, log });
  life.onClose('routes', () => follower.close());
  await follower.start();
}

/** Reports usage; closing sends the last report. */
export function openReports(life: Lifecycle, { outbox, log }: Common, dryRuns: DryRuns) {
  const latency = new LatencyRecorder({ outbox, log });
  const meter = new UsageMeter(outbox, latency);
  life.onClose('reports', async () => {
    meter.close();
    latency.close();
    dryRuns.close();
    if (!(await outbox.flush(LAST_REPORT_MS))) log.warn({ waiting: outbox.waiting }, 'could not report the last usage');
    outbox.close();
  });
  return { meter, latency };
}

/** Lets visitors wait for agents. `end` reports the agents that are still awaited; it may be called twice. */
export function openHolds(life: Lifecycle, { settings, table, drops, outbox }: Common) {
  const holdMs = settings.edge.holdSeconds * 1_000;
  const holds = new Holds({ holdMs, ...HOLD_BOUNDS }, { drops, clock: systemClock });
  holds.watch(table, settings.awaited);
  const end = (): void => {
    const event = { kind: 'agent', agentId: '', online: false, restarting: true, at: systemClock.now() } as const;
    for (const tunnelId of holds.close(table)) outbox.addAgent({ ...event, tunnelId });
  };
  life.onClose('holds', end);
  return { holds, end };
}

/** Records requests; null: they are not recorded. */
export function openRecorder(life: Lifecycle, { settings, link, log }: Common): Recorder | null {
  const recorder = settings.inspector === null ? null : new Recorder(settings.inspector, { link, log });
  life.onClose('request records', async () => recorder?.close());
  return recorder;
}

/** Tells of finished requests. Closed behind the listeners, whose last requests end with them. */
export function openAccessLog(life: Lifecycle, { settings, link, log, table }: Common): AccessLog {
  const accessLog = new AccessLog(settings.accessLog, { link, log });
  const deaf = table.subscribe(accessLog);
  life.onClose('access log', async () => {
    deaf();
    await accessLog.close();
  });
  return accessLog;
}

/** Admits connections of visitors, and serves those of TCP tunnels. */
export function openEntrances(
  life: Lifecycle,
  { settings, log, table, drops }: Common,
  {
    sweepMs = SWEEP_MS,
    ...deps
  }: Pick<TcpEdgeDeps, 'holds' | 'slabs' | 'latency' | 'accessLog'> & { sweepMs: number | undefined },
) {
  const { limits, proxyProtocolFrom, tcpHost, trustedProxies } = settings.edge;
  const sweeper = new Sweeper<TcpVisitor>(sweepMs, { onFault: cutFaulty(log, 'a visitor') });
  life.onClose('TCP visitor sweeper', () => sweeper.close());
  logDrops(life, drops, log);
  const admission = new Admission({ total: limits.maxConnections, perAddress: limits.maxConnectionsPerIp }, drops);
  const entrance = new Entrance(
    {
      balancers: proxyProtocolFrom === null ? null : new NetworkSet(proxyProtocolFrom),
      proxies: new NetworkSet(trustedProxies),
      headerTimeoutMs: limits.headTimeoutSeconds * 1_000,
    },
    { admission, drops, log },
  );
  const tcp = new TcpEdge(
    { host: tcpHost, localTimeoutMs: limits.localTimeoutSeconds * 1_000 },
    { ...deps, table, entrance, drops, sweeper, turn: new TurnEnd(), log },
  );
  life.onClose('tcp ports', () => tcp.close());
  return { admission, entrance, tcp };
}

function logDrops(life: Lifecycle, drops: Drops, log: Logger): void {
  const telling = setInterval(() => drops.tell(log), TELL_MS);
  telling.unref();
  life.onClose('drop counters', () => {
    clearInterval(telling);
    drops.tell(log);
  });
}

/** Accepts agents. Resolves when it listens. */
export async function openGateway(
  life: Lifecycle,
  { settings, link, log, table, drops, outbox }: Common,
  deps: Pick<GatewayDeps, 'ports' | 'relays' | 'meter' | 'holds' | 'slabs' | 'onPresence'>,
) {
  const { agents, prices, serverVersion, serverId } = settings;
  const sweeper = new Sweeper<MuxSession>(SWEEP_MS, { onFault: cutFaulty(log, 'an agent session') });
  life.onClose('session sweeper', () => sweeper.close());
  const windows = new WindowBudget(agents.limits.maxBufferedMb * MEGABYTE);
  const limits = {
    ...agents.limits,
    maxAnonymous: MAX_ANONYMOUS,
    maxAnonymousPerIp: MAX_ANONYMOUS_PER_IP,
    unknownHandshakes: UNKNOWN_HANDSHAKES,
  };
  const gateway = new Gateway(
    { listen: agents.listen, tls: agents.tls, prices, serverVersion, serverId, limits },
    { ...deps, link, table, outbox, budget: windows, sweeper, drops, log },
  );
  life.onClose('agents', () => gateway.close());
  return { gateway, windows, address: await gateway.listen() };
}

/** Accepts visitors over HTTP. Resolves when it listens. */
export async function openHttp(
  life: Lifecycle,
  { settings, link, log, table, drops }: Common,
  {
    sweepMs = SWEEP_MS,
    ...deps
  }: Pick<HttpEdgeDeps, 'entrance' | 'holds' | 'recorder' | 'latency' | 'accessLog' | 'adoptAgent'> & {
    sweepMs: number | undefined;
  },
): Promise<HttpEdge> {
  const { http, https, tls, http2, httpsRedirectPort, api, trustedProxies, certificatesOnDemand } = settings.edge;
  const wantCertificate = certificatesOnDemand ? (host: string) => link.wantCertificate(host) : null;
  const edge = await startHttpEdge(
    { sweepMs, http, https, tls, http2, httpsRedirectPort, api, trustedProxies, limits: edgeLimits(settings) },
    { ...deps, table, drops, wantCertificate, log },
  );
  edge.setAgentCertificate(settings.agents.tls);
  life.onClose('http edge', () => edge.close());
  return edge;
}

function headLimits({ edge: { limits } }: NodeSettings): HeadLimits {
  return { headBytes: limits.maxHeadBytes, fields: limits.maxHeadFields, targetBytes: limits.maxUriBytes };
}

function edgeLimits(settings: NodeSettings): EdgeLimits {
  const { limits, maxResponseHeadBytes, maxResponseFields } = settings.edge;
  const head = headLimits(settings);
  return {
    headTimeoutMs: limits.headTimeoutSeconds * 1_000,
    idleTimeoutMs: limits.idleTimeoutSeconds * 1_000,
    bodyIdleTimeoutMs: limits.bodyIdleTimeoutSeconds * 1_000,
    minBytesPerSecond: limits.minBytesPerSecond,
    localTimeoutMs: limits.localTimeoutSeconds * 1_000,
    websocketIdleMs: limits.websocketIdleSeconds * 1_000,
    lingerTimeoutMs: limits.lingerTimeoutSeconds * 1_000,
    tlsHandshakeTimeoutMs: limits.tlsHandshakeTimeoutSeconds * 1_000,
    tlsHandshakes: { perSecond: limits.tlsHandshakesPerSecondPerIp, burst: limits.tlsHandshakesBurstPerIp },
    head,
    responseHead: { ...head, headBytes: maxResponseHeadBytes, fields: maxResponseFields },
    requestsPerAddress: limits.maxRequestsPerIp,
    http2MaxStreams: limits.http2MaxStreams,
    http2ResetsPerSecond: limits.http2ResetsPerSecond,
    http2MemoryBytes: limits.http2MemoryMb * MEGABYTE,
  };
}
