/**
 * One data node: routing table, agents, public listeners and reports, built from settings and a Link. Called by server/start.ts; it
 * runs the same in a thread of its own or on another host, so it reads no file, no environment and no database.
 */
import { randomUUID, X509Certificate } from 'node:crypto';
import { NetworkSet } from '../base/net/addr.ts';
import { Argon2Threads, type PasswordHasher } from '../argon2/argon2-threads.ts';
import { cutFaulty, Sweeper, systemClock } from '../base/clock.ts';
import { Lifecycle } from '../base/process/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { SlabPool } from '../base/bytes/slab.ts';
import { TurnEnd } from '../base/process/turn.ts';
import type { MuxSession } from '../mux/session.ts';
import { WindowBudget } from '../mux/window.ts';
import type { EdgeStats } from '../plane/edge-stats.ts';
import type { Link, LocalNode, NodePulse } from '../plane/link.ts';
import type { PresenceEvent } from '../plane/presence.ts';
import { Admission } from './entrance/admission.ts';
import { Drops } from './faults/drops.ts';
import { Entrance } from './entrance/entrance.ts';
import { HOLD_BOUNDS, Holds } from './edge/exchange/holds.ts';
import { startHttpEdge } from './edge/http.ts';
import { TcpEdge } from './edge/tcp/tcp.ts';
import type { TcpVisitor } from './edge/tcp/visitor.ts';
import { Gateway } from './gateway/gateway.ts';
import { NO_RECORDS, Recorder } from './inspect/recorder.ts';
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
import { Outbox } from './report/outbox.ts';
import { TableFollower } from './routing/follow.ts';
import { RouteTable } from './routing/table.ts';

export interface NodeDeps {
  readonly link: Link;
  readonly log: Logger;
  /** Computes the passwords of visitors; threads of its own unless it is given. Called once, and closed with the node. */
  readonly makeHasher?: (() => PasswordHasher) | undefined;
  /** Hears of each agent that comes or goes, and of what it serves, right when it happens. */
  readonly onPresence?: (event: PresenceEvent) => void;
  /** How often deadlines of visitors are looked at; each second when not given. */
  readonly sweepMs?: number;
}

/** A node of this thread: it answers at once, and throws what NodeAccess rejects with. */
export interface DataNode extends LocalNode {
  stats(): EdgeStats;
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

/** Opens all listeners of a node. When one does not open, those that did are closed again and the promise rejects. */
export async function startNode(settings: NodeSettings, deps: NodeDeps): Promise<DataNode> {
  const life = new Lifecycle();
  try {
    return await open(settings, deps, life);
  } catch (error) {
    await life.close();
    throw error;
  }
}

async function open(settings: NodeSettings, deps: NodeDeps, life: Lifecycle): Promise<DataNode> {
  const { link, log, makeHasher = () => new Argon2Threads(), onPresence = () => undefined, sweepMs = SWEEP_MS } = deps;
  const { edge, agents } = settings;

  const table = new RouteTable(edge.domain);
  // Before the first snapshot: no route is ever without its policy.
  const argon2 = makeHasher();
  life.onClose('password threads', () => argon2.close());
  const drops = new Drops();
  const checks = new BasicChecks(
    (job) => argon2.run(job),
    () => drops.add('password_checks'),
  );
  const keys = new KeySources(edge.issuerKeys, { clock: systemClock, log });
  const jwtCheck = new JwtCheck(keys, systemClock);
  const jwts = new JwtSteps(jwtCheck, systemClock);
  const visitors = new VisitorPasses(systemClock);
  const outbox = new Outbox({ node: `${settings.nodeId}/${randomUUID()}` }, { link, log });
  const dryRuns = new DryRuns(outbox);
  const policyParts = { log, checks, visitors, dryRunSlots: new DryRunSlots(log) };
  life.onClose('policies', table.subscribe(new PolicyRegistry({ ...policyParts, jwts, dryRuns })));
  const relays = new RelayRegistry({ host: edge.udpHost, batched: edge.udpBatches }, { outbox, log });
  const deaf = table.subscribe(relays);
  life.onClose('relays', () => {
    deaf();
    relays.close();
  });
  const follower = new TableFollower(table, { link, log });
  life.onClose('routes', () => follower.close());
  await follower.start();

  const holds = new Holds({ holdMs: edge.holdSeconds * 1_000, ...HOLD_BOUNDS }, { drops, clock: systemClock });
  holds.watch(table, settings.awaited);

  const meter = new UsageMeter(outbox);
  life.onClose('reports', async () => {
    meter.close();
    dryRuns.close();
    if (!(await outbox.flush(LAST_REPORT_MS)))
      log.warn({ waiting: outbox.waiting }, 'the last usage could not be reported');
    outbox.close();
  });

  // Before the last report: the next process is to know of agents that this one still waited for.
  const endHolds = (): void => {
    const event = { kind: 'agent', agentId: '', online: false, restarting: true, at: systemClock.now() } as const;
    for (const tunnelId of holds.close(table)) outbox.addAgent({ ...event, tunnelId });
  };
  life.onClose('holds', endHolds);

  // Before the last report: what the relays have carried is in it.
  life.onClose('relay ports', () => relays.close());

  const recorder = settings.inspector === null ? null : new Recorder(settings.inspector, { link, log });
  life.onClose('records of requests', async () => recorder?.close());

  const slabs = new SlabPool();
  const sessions = new Sweeper<MuxSession>(SWEEP_MS, { onFault: cutFaulty(log, 'the session of an agent') });
  const tcpVisitors = new Sweeper<TcpVisitor>(sweepMs, { onFault: cutFaulty(log, 'a visitor') });
  life.onClose('sweepers', () => {
    sessions.close();
    tcpVisitors.close();
  });

  const since = systemClock.now();
  const telling = setInterval(() => drops.tell(log), TELL_MS);
  telling.unref();
  life.onClose('what was dropped', () => {
    clearInterval(telling);
    drops.tell(log);
  });
  const { maxConnections: total, maxConnectionsPerIp: perAddress } = edge.limits;
  const admission = new Admission({ total, perAddress }, drops);
  const { proxyProtocolFrom, trustedProxies } = edge;
  const entrance = new Entrance(
    {
      balancers: proxyProtocolFrom === null ? null : new NetworkSet(proxyProtocolFrom),
      proxies: new NetworkSet(trustedProxies),
      headerTimeoutMs: edge.limits.headTimeoutSeconds * 1_000,
    },
    { admission, drops, log },
  );
  const tcp = new TcpEdge(
    { host: edge.tcpHost, localTimeoutMs: edge.limits.localTimeoutSeconds * 1_000 },
    { table, entrance, drops, holds, sweeper: tcpVisitors, slabs, turn: new TurnEnd(), log },
  );
  life.onClose('tcp ports', () => tcp.close());

  const windows = new WindowBudget(agents.limits.maxBufferedMb * MEGABYTE);
  const gateway = new Gateway(
    {
      listen: agents.listen,
      tls: agents.tls,
      prices: settings.prices,
      serverVersion: settings.serverVersion,
      serverId: settings.serverId,
      limits: {
        ...agents.limits,
        maxAnonymous: MAX_ANONYMOUS,
        maxAnonymousPerIp: MAX_ANONYMOUS_PER_IP,
        unknownHandshakes: UNKNOWN_HANDSHAKES,
      },
    },
    {
      link,
      table,
      ports: tcp,
      relays,
      meter,
      holds,
      outbox,
      slabs,
      budget: windows,
      sweeper: sessions,
      drops,
      log,
      onPresence,
    },
  );
  life.onClose('agents', () => gateway.close());
  const agentsAddress = await gateway.listen();

  const { limits } = edge;
  const head = { headBytes: limits.maxHeadBytes, fields: limits.maxHeadFields, targetBytes: limits.maxUriBytes };
  const policyTester = new PolicyTester({ parts: policyParts, check: jwtCheck, limits: head, log });
  const http = await startHttpEdge(
    {
      sweepMs,
      http: edge.http,
      https: edge.https,
      tls: edge.tls,
      http2: edge.http2,
      httpsRedirectPort: edge.httpsRedirectPort,
      trustedProxies: edge.trustedProxies,
      limits: {
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
        responseHead: { ...head, headBytes: edge.maxResponseHeadBytes, fields: edge.maxResponseFields },
        requestsPerAddress: limits.maxRequestsPerIp,
        http2MaxStreams: limits.http2MaxStreams,
        http2ResetsPerSecond: limits.http2ResetsPerSecond,
        http2MemoryBytes: limits.http2MemoryMb * MEGABYTE,
      },
    },
    {
      table,
      entrance,
      drops,
      holds,
      recorder,
      wantCertificate: edge.certificatesOnDemand ? (host) => link.wantCertificate(host) : null,
      log,
    },
  );
  life.onClose('http edge', () => http.close());

  // The certificates for clients that name no other host.
  const shown = { edge: edge.https === null ? null : (edge.tls?.cert ?? null), agents: agents.tls.cert };
  const pulse = (): NodePulse => ({ edgeEndsAt: endOf(shown.edge), agentsEndsAt: endOf(shown.agents) });
  return {
    pulse,
    addresses: () => ({ http: http.http, https: http.https, agents: agentsAddress }),
    connections: () => gateway.registry.connections(),
    disconnect: (agentId, reason) => gateway.registry.disconnect(agentId, reason),
    setCertificates: (list) => {
      http.setCertificates(list);
      shown.edge = list[0]?.cert ?? null;
    },
    setChallenges: (list) => http.setChallenges(list),
    setAgentCertificate: (tls) => {
      gateway.setCertificate(tls);
      shown.agents = tls.cert;
    },
    isOnline: (tunnelId) => gateway.registry.isOnline(tunnelId),
    // What is bound is bound in the turn of the answer.
    isTaken: (tunnelId) => gateway.registry.isOnline(tunnelId),
    isCarried: (networkId) => relays.info(networkId) !== undefined,
    relay: (networkId) => relays.info(networkId),
    stats: () => ({
      since,
      connections: {
        open: admission.open,
        http: http.connections,
        tcp: tcp.visitors,
        addresses: admission.addresses,
        admitted: admission.admitted,
      },
      dropped: drops.counts(),
      answered: http.faults.counts(),
      inspector: recorder?.stats() ?? NO_RECORDS,
      relays: relays.stats(),
      holds: holds.stats(),
      threads: [],
      load: {
        agents: {
          ...gateway.registry.load(),
          handshakes: gateway.anonymous.size,
          refused: gateway.anonymous.refused,
        },
        windows: { usedBytes: windows.bytes - windows.left, budgetBytes: windows.bytes },
        traffic: { ...meter.totals },
        reports: { waiting: outbox.waiting, dropped: outbox.dropped },
        passwordsWaiting: argon2.waiting,
        certificates: pulse(),
      },
    }),
    send: (request) => http.send(request),
    testPolicy: (question) => policyTester.run(question),
    flushInspections: async () => recorder?.flush(),
    drain: async (graceMs) => {
      const until = performance.now() + graceMs;
      tcp.stopListening();
      // Agents are still accepted, and notified last: connections that are in use bring one more request, and visitors may be waiting for an agent.
      await http.leave(graceMs);
      await holds.idle(until - performance.now());
      endHolds();
      await gateway.drain();
      await Promise.all([tcp.drain(until - performance.now()), http.drain(until - performance.now())]);
    },
    close: () => life.close(),
  };
}

/** Milliseconds since the epoch. */
function endOf(pem: string | null): number | null {
  return pem === null ? null : new X509Certificate(pem).validToDate.getTime();
}
