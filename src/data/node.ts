/**
 * One data node: routing table, agents, public listeners and reports, built from settings and a Link. Called by server/start.ts; it
 * runs the same in a thread of its own or on another host, so it reads no file, no environment and no database.
 */
import { randomUUID, X509Certificate } from 'node:crypto';
import { Argon2Threads, type PasswordHasher } from '../argon2/argon2-threads.ts';
import { systemClock } from '../base/clock.ts';
import { Lifecycle } from '../base/process/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { SlabPool } from '../base/bytes/slab.ts';
import type { EdgeStats } from '../plane/edge-stats.ts';
import type { Link, LocalNode, NodePulse } from '../plane/link.ts';
import type { PresenceEvent } from '../plane/presence.ts';
import type { HttpEdgeDeps } from './edge/http.ts';
import { Drops } from './faults/drops.ts';
import { NO_RECORDS } from './inspect/recorder.ts';
import {
  type Common,
  followRoutes,
  openAccessLog,
  openEntrances,
  openGateway,
  openHolds,
  openHttp,
  openPolicies,
  openRecorder,
  openRelays,
  openReports,
} from './node-parts.ts';
import type { NodeSettings } from './node-settings.ts';
import { Outbox } from './report/outbox.ts';
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

/** Opens all listeners of a node. When one does not open, those that did are closed again and the promise rejects. */
export async function startNode(settings: NodeSettings, deps: NodeDeps): Promise<DataNode> {
  const life = new Lifecycle();
  try {
    return nodeOf(await open(settings, deps, life), life);
  } catch (error) {
    await life.close();
    throw error;
  }
}

type Parts = Awaited<ReturnType<typeof open>>;

/** Each part needs those before it, and closes before them. */
async function open(settings: NodeSettings, deps: NodeDeps, life: Lifecycle) {
  const { link, log, makeHasher = () => new Argon2Threads(), onPresence = () => undefined, sweepMs } = deps;
  const outbox = new Outbox({ node: `${settings.nodeId}/${randomUUID()}` }, { link, log });
  const common: Common = {
    settings,
    link,
    log,
    table: new RouteTable(settings.edge.domain),
    drops: new Drops(),
    outbox,
  };
  const slabs = new SlabPool();
  const argon2 = makeHasher();
  // Before the first snapshot: no route is ever without its policy.
  const { tester, dryRuns } = openPolicies(life, common, argon2);
  const relays = openRelays(life, common);
  const accessLog = openAccessLog(life, common);
  await followRoutes(life, common);
  const { meter, latency } = openReports(life, common, dryRuns);
  // Closed before the last report: it names the agents that were still awaited, and has what the relays have carried.
  const { holds, end: endHolds } = openHolds(life, common);
  life.onClose('relay ports', () => relays.close());
  const recorder = openRecorder(life, common);
  const since = systemClock.now();
  const { admission, entrance, tcp } = openEntrances(life, common, { holds, latency, accessLog, slabs, sweepMs });
  const ofAgents = { ports: tcp, relays, meter, holds, slabs, onPresence };
  const { gateway, windows, address } = await openGateway(life, common, ofAgents);
  const adoptAgent: HttpEdgeDeps['adoptAgent'] = (socket, ip) => gateway.adopt(socket, ip);
  const http = await openHttp(life, common, { entrance, holds, recorder, latency, accessLog, adoptAgent, sweepMs });
  const agentsAddress = address ?? http.https;
  if (agentsAddress === null) throw new Error('agents have neither a listener of their own nor the https listener');
  return {
    settings,
    drops: common.drops,
    outbox,
    argon2,
    tester,
    relays,
    meter,
    holds,
    endHolds,
    recorder,
    accessLog,
    since,
    admission,
    tcp,
    gateway,
    windows,
    agentsAddress,
    http,
  };
}

function nodeOf(parts: Parts, life: Lifecycle): DataNode {
  const { settings, gateway, http, relays, recorder, tester } = parts;
  const { edge, agents } = settings;
  // The certificates for clients that name no other host.
  const shown = { edge: edge.https === null ? null : (edge.tls?.cert ?? null), agents: agents.tls.cert };
  const [edgeEnd, agentsEnd] = [endOfLast(), endOfLast()];
  const pulse = (): NodePulse => ({ edgeEndsAt: edgeEnd(shown.edge), agentsEndsAt: agentsEnd(shown.agents) });
  return {
    pulse,
    addresses: () => ({ http: http.http, https: http.https, agents: parts.agentsAddress }),
    connections: () => gateway.registry.connections(),
    disconnect: (agentId, reason) => gateway.registry.disconnect(agentId, reason),
    setCertificates: (list) => {
      http.setCertificates(list);
      shown.edge = list[0]?.cert ?? null;
    },
    setChallenges: (list) => http.setChallenges(list),
    setAgentCertificate: (tls) => {
      gateway.setCertificate(tls);
      http.setAgentCertificate(tls);
      shown.agents = tls.cert;
    },
    isOnline: (tunnelId) => gateway.registry.isOnline(tunnelId),
    // What is bound is bound in the turn of the answer.
    adviceOf: (tunnelId) => gateway.registry.adviceOf(tunnelId),
    isTaken: (tunnelId) => gateway.registry.isOnline(tunnelId),
    narrowingOf: (tunnelId) => gateway.registry.narrowingOf(tunnelId),
    isCarried: (networkId) => relays.info(networkId) !== undefined,
    relay: (networkId) => relays.info(networkId),
    stats: () => statsOf(parts, pulse()),
    send: (request) => http.send(request),
    testPolicy: (question) => tester.run(question),
    flushInspections: async () => recorder?.flush(),
    drain: (graceMs) => drain(parts, graceMs),
    close: () => life.close(),
  };
}

function statsOf(parts: Parts, certificates: NodePulse): EdgeStats {
  const { admission, gateway, http, outbox, tcp, windows } = parts;
  return {
    since: parts.since,
    connections: {
      open: admission.open,
      http: http.connections,
      tcp: tcp.visitors,
      addresses: admission.addresses,
      admitted: admission.admitted,
    },
    dropped: parts.drops.counts(),
    answered: http.faults.counts(),
    inspector: parts.recorder?.stats() ?? NO_RECORDS,
    access: parts.accessLog.stats(),
    relays: parts.relays.stats(),
    holds: parts.holds.stats(),
    threads: [],
    load: {
      agents: {
        ...gateway.registry.load(),
        handshakes: gateway.anonymous.size,
        refused: gateway.anonymous.refused,
      },
      windows: { usedBytes: windows.bytes - windows.left, budgetBytes: windows.bytes },
      traffic: { ...parts.meter.totals },
      reports: { waiting: outbox.waiting, dropped: outbox.dropped },
      passwordsWaiting: parts.argon2.waiting,
      certificates,
    },
  };
}

async function drain({ tcp, http, holds, endHolds, gateway }: Parts, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  tcp.stopListening();
  // Agents are still accepted, and notified last: connections that are in use bring one more request, and visitors may be waiting for an agent.
  await http.leave(graceMs);
  await holds.idle(until - performance.now());
  endHolds();
  await gateway.drain();
  await Promise.all([tcp.drain(until - performance.now()), http.drain(until - performance.now())]);
}

/** When a certificate ends, in milliseconds since the epoch. One that is asked for again is not parsed again: that takes half a millisecond. */
function endOfLast(): (pem: string | null) => number | null {
  let last: string | null = null;
  let end: number | null = null;
  return (pem) => {
    if (pem !== last) end = pem === null ? null : new X509Certificate(pem).validToDate.getTime();
    last = pem;
    return end;
  };
}
