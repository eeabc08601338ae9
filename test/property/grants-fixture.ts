/**
 * What the property of live grants runs on. Real: the control plane on its database, the API over HTTP, the routing table, the gateway
 * with TLS listener and multiplexer, and the agents' sockets. Not real: the clock, which the steps move; the timers of jobs and sweeps, which
 * `aSecondLater` runs; the visitors, of whom only the counters are there.
 */
import { Drops } from '../../src/data/faults/drops.ts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, Sweeper } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { SlabPool } from '../../src/base/bytes/slab.ts';
import { tokenSpend } from '../../src/control/db/schema.ts';
import type { UserActor } from '../../src/control/core/rules/actor.ts';
import { TestAgent } from '../../src/data/fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../../src/data/fixtures/certificate.ts';
import { HOLD_BOUNDS, Holds } from '../../src/data/edge/exchange/holds.ts';
import { Gateway } from '../../src/data/gateway/gateway.ts';
import { RelayRegistry } from '../../src/data/relay/relay-registry.ts';
import { LatencyRecorder } from '../../src/data/latency/latency-recorder.ts';
import { UsageMeter } from '../../src/data/report/meter.ts';
import { Outbox } from '../../src/data/report/outbox.ts';
import { TableFollower } from '../../src/data/routing/follow.ts';
import type { ServedTunnel } from '../../src/data/routing/entry.ts';
import { RouteTable } from '../../src/data/routing/table.ts';
import type { MuxSession } from '../../src/mux/session.ts';
import { WindowBudget } from '../../src/mux/window.ts';
import type { Link } from '../../src/plane/link.ts';
import type { Delta } from '../../src/plane/routes.ts';
import type { Answer } from '../../src/control/core/testing/harness.ts';
import { Plane, START } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { IDLE_NODE } from '../../src/control/core/testing/idle-node.ts';

/** The price of a Plane. */
const CENTS_PER_GB = 10;
const GB = 1_000_000_000;

/** A data folder with one organization and one person who owns it and the server: copied for each run. */
export interface Template {
  readonly dataDir: string;
  readonly ann: UserActor;
  readonly tls: TestCertificate;
}

export async function makeTemplate(): Promise<Template> {
  const plane = new Plane();
  const ann = await plane.person('ann@example.test');
  plane.projects.create(ann, { slug: 'web', name: 'Web' });
  plane.control.close();
  return { dataDir: plane.dataDir, ann: { ...ann, superadmin: true }, tls: await testCertificate() };
}

export function removeTemplate({ dataDir }: Template): void {
  rmSync(dataDir, { recursive: true });
}

/** An answer of the control plane that is under way: it has been decided, and the data node does not have it yet. */
export interface Held {
  /** Resolves once it is decided. */
  readonly decided: Promise<void>;
  release(): void;
}

/**
 * Goes to whichever control plane is there: the data node keeps it when that one starts again. Can hold an answer back, as a network would.
 */
class SwitchedLink implements Link {
  #to: Link;
  #hold: { decided: () => void; released: Promise<void> } | undefined;
  readonly #listeners = new Set<(delta: Delta) => void>();
  #off: () => void;

  constructor(to: Link) {
    this.#to = to;
    this.#off = this.#listen();
  }

  turnTo(link: Link): void {
    this.#off();
    this.#to = link;
    this.#off = this.#listen();
  }

  /** The next answer to an agent is held until `release`. */
  hold(): Held {
    const decided = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#hold = { decided: decided.resolve, released: released.promise };
    return { decided: decided.promise, release: released.resolve };
  }

  snapshot: Link['snapshot'] = () => this.#to.snapshot();
  admit: Link['admit'] = (token) => this.#answered(this.#to.admit(token));
  recheck: Link['recheck'] = (ids) => this.#to.recheck(ids);
  claim: Link['claim'] = (question) => this.#answered(this.#to.claim(question));
  attach: Link['attach'] = (question) => this.#answered(this.#to.attach(question));
  wantCertificate: Link['wantCertificate'] = (host) => this.#to.wantCertificate(host);
  report: Link['report'] = (batch) => this.#to.report(batch);
  inspect: Link['inspect'] = (batch) => this.#to.inspect(batch);
  logAccess: Link['logAccess'] = (batch) => this.#to.logAccess(batch);
  onDelta: Link['onDelta'] = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  async #answered<T>(answer: Promise<T>): Promise<T> {
    const held = this.#hold;
    this.#hold = undefined;
    const decision = await answer;
    held?.decided();
    await held?.released;
    return decision;
  }

  #listen(): () => void {
    return this.#to.onDelta((delta) => {
      for (const listener of this.#listeners) listener(delta);
    });
  }
}

interface Node {
  readonly link: SwitchedLink;
  readonly table: RouteTable;
  readonly gateway: Gateway;
  readonly meter: UsageMeter;
  readonly outbox: Outbox;
  readonly port: number;
  close(): Promise<void>;
}

export class GrantsFixture {
  readonly #template: Template;
  #now = START;
  readonly #clock: Clock = { now: () => this.#now, monotonic: () => performance.now() };
  #plane: Plane;
  #api: PlaneApi | undefined;
  #node: Node | undefined;
  #detach: () => void = () => {};
  /** How often the data node has missed changes and asked for all routes anew: then it cuts all agents off. */

  private constructor(template: Template) {
    this.#template = template;
    const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
    cpSync(template.dataDir, dataDir, { recursive: true });
    this.#plane = new Plane(dataDir, { clock: this.#clock });
  }

  static async open(template: Template): Promise<GrantsFixture> {
    const fixture = new GrantsFixture(template);
    await fixture.#startApi();
    await fixture.#startNode();
    return fixture;
  }

  async close(): Promise<void> {
    await this.#node?.close();
    await this.#api?.close();
    this.#plane.close();
  }

  get now(): number {
    return this.#now;
  }

  get ann(): UserActor {
    return this.#template.ann;
  }

  get control(): Plane['control'] {
    return this.#plane.control;
  }

  get gateway(): Gateway {
    assert.ok(this.#node !== undefined);
    return this.#node.gateway;
  }

  get table(): RouteTable {
    assert.ok(this.#node !== undefined);
    return this.#node.table;
  }

  /** A request of the person, or of the key's holder. */
  async call(method: string, path: string, options: { body?: object; key?: string } = {}): Promise<Answer> {
    assert.ok(this.#api !== undefined);
    const { ann } = this.#template;
    const as = options.key ?? (await this.control.sessions.switchOrg(ann, ann.orgId)).accessToken;
    return this.#api.call(method, path, { as, ...(options.body === undefined ? {} : { body: options.body }) });
  }

  /** Holds the next answer to an agent. */
  hold(): Held {
    assert.ok(this.#node !== undefined);
    return this.#node.link.hold();
  }

  /** An agent that has a connection and has said nothing. */
  connect(): Promise<TestAgent> {
    assert.ok(this.#node !== undefined);
    return TestAgent.connect(this.#node.port);
  }

  /** A stream of the serving brings traffic of so many cents: it is counted and stored. */
  async carry(serving: ServedTunnel, cents: number): Promise<void> {
    assert.ok(this.#node !== undefined);
    const { meter, outbox } = this.#node;
    serving.meter.bytesOut += (cents / CENTS_PER_GB) * GB;
    meter.collect();
    assert.ok(await outbox.flush(10_000));
  }

  /** Cents per lineage, as far as they are stored. */
  get spent(): ReadonlyMap<string, number> {
    const rows = this.control.store.db.select().from(tokenSpend).all();
    return new Map(rows.map(({ lineageId, bytes }) => [lineageId, (bytes / GB) * CENTS_PER_GB]));
  }

  /** Time passes, and what runs once a second has its turn: everything promised by then must hold. */
  aSecondLater(ms: number): void {
    this.#now += ms;
    this.control.tunnels.expireDue();
    this.control.tokenEnds.endGraces();
    this.gateway.registry.sweep();
  }

  /** The whole server goes and comes back. */
  async restart(): Promise<void> {
    await this.#node?.close();
    await this.restartControl();
    await this.#startNode();
  }

  /** The control plane alone: the data node serves on until it gets routes again. */
  async restartControl(): Promise<void> {
    await this.#api?.close();
    this.control.close();
    // A start takes some time: deltas are numbered from the clock on.
    this.#now += 1_000;
    this.#plane = new Plane(this.#plane.dataDir, { clock: this.#clock });
    this.control.tunnels.forgetAgents();
    this.#node?.link.turnTo(this.control.link);
    this.#attach();
    // As a start does; the node sees by it that it has missed something.
    await this.control.tunnels.announceAll();
    await this.#startApi();
  }

  async #startApi(): Promise<void> {
    this.#api = await servePlane(this.#plane);
  }

  #attach(): void {
    this.#detach();
    const { registry } = this.gateway;
    this.#detach = this.control.nodes.attach({
      ...IDLE_NODE,
      connections: () => registry.connections(),
      disconnect: (agentId) => registry.disconnect(agentId),
      isOnline: (tunnelId) => registry.isOnline(tunnelId),
    });
  }

  async #startNode(): Promise<void> {
    const link = new SwitchedLink(this.control.link);
    const table = new RouteTable('localhost');
    const follower = new TableFollower(table, { link, log: silentLog });
    await follower.start();
    const outbox = new Outbox({ node: `n/${randomUUID()}` }, { link, log: silentLog });
    const latency = new LatencyRecorder({ outbox, log: silentLog });
    const meter = new UsageMeter(outbox, latency);
    const sweeper = new Sweeper<MuxSession>(1_000);
    const relays = new RelayRegistry({ host: '127.0.0.1' }, { outbox, log: silentLog });
    const gateway = new Gateway(
      {
        listen: { host: '127.0.0.1', port: 0 },
        tls: this.#template.tls,
        serverVersion: '1.2.3',
        serverId: '00000000-0000-4000-8000-0000000000ff',
        prices: { centsPerGb: CENTS_PER_GB, centsPerMillionRequests: 0 },
        limits: {
          maxSessions: 100,
          maxStreamsPerSession: 100,
          handshakeTimeoutSeconds: 5,
          maxAnonymous: 100,
          maxAnonymousPerIp: 100,
          unknownHandshakes: { perSecond: 0, burst: 0 },
        },
      },
      {
        ...{ link, table, relays, meter, outbox, sweeper, clock: this.#clock, drops: new Drops(), log: silentLog },
        holds: new Holds({ holdMs: 0, ...HOLD_BOUNDS }, { drops: new Drops(), clock: this.#clock }),
        ports: { ready: async () => true },
        slabs: new SlabPool(),
        onPresence: () => undefined,
        budget: new WindowBudget(1 << 24),
      },
    );
    const { port = 0 } = (await gateway.listen()) ?? {};
    const close = async (): Promise<void> => {
      await gateway.close();
      relays.close();
      sweeper.close();
      meter.close();
      latency.close();
      outbox.close();
      follower.close();
    };
    this.#node = { link, table, gateway, meter, outbox, port, close };
    this.#attach();
  }
}
