/**
 * The control plane without sockets, on a clock that tests move: for rules that depend on time and for what the data plane gets.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { type ControlOptions, type ControlPlane, openControl } from '../../open.ts';
import { projects } from '../../projects/index.ts';
import type { Projects } from '../../projects/service.ts';
import type { UserActor } from '../rules/actor.ts';
import type { Visit } from '../rules/caller.ts';
import type { MintedToken } from '../../access-keys/maker.ts';
import type { MintInput } from '../../access-keys/service.ts';
import type { CreateTunnel, TunnelView } from '../../tunnels/service.ts';
import type { ClaimAnswer, ClaimQuestion } from '../../../plane/link.ts';
import type { Delta, Route } from '../../../plane/routes.ts';
import { newDataFolder } from '../../../../test/harness/data-folder.ts';
import { makeQuickHasher } from '../../../../test/harness/quick-hasher.ts';
import { IDLE_NODE } from './idle-node.ts';

export const START = Date.UTC(2026, 10, 21);

/** Someone at a test address; what waits for the answer is done at once. */
export const VISIT: Visit = { ipAddress: '192.0.2.1', userAgent: 'test', afterAnswer: (work) => work() };

export class Plane {
  readonly dataDir: string;
  now = START;
  /** Milliseconds that the wall clock is wrong by. */
  ahead = 0;
  readonly clock: Clock = { now: () => this.now + this.ahead, monotonic: () => this.now - START };
  readonly control: ControlPlane;
  readonly deltas: Delta[] = [];
  readonly online = new Set<string>();

  /** On a folder of its own, or on that of a plane whose `control` was closed: a restart. Passwords cost next to nothing unless `changes` says otherwise. */
  constructor(dataDir = newDataFolder(), changes: Partial<ControlOptions> = {}) {
    this.dataDir = dataDir;
    this.control = openControl({
      dataDir: this.dataDir,
      tcpPorts: { first: 20_000, last: 20_003 },
      udpPorts: { first: 30_000, last: 30_003 },
      names: {
        url: (label) => `http://${label}.localhost`,
        tcpUrl: (port) => `tcp://localhost:${port}`,
        udpEndpoint: (port) => `localhost:${port}`,
      },
      edgeDomain: 'localhost',
      agentsHost: '127.0.0.1',
      acme: null,
      // No server answers there.
      dnsResolvers: ['127.0.0.1:1'],
      allowPrivateJwks: false,
      prices: { centsPerGb: 10, centsPerMillionRequests: 0 },
      recordsRequests: true,
      websocketFrames: false,
      maxRecordedBytes: 64 * 1024 * 1024,
      minFree: 0,
      replay: { enabled: true, allow: ['*'] },
      billing: { mode: 'mock' },
      newOrg: { plan: 'free', approval: 'approved' },
      signup: 'open',
      owner: null,
      oauth: { google: null, github: null },
      // No server answers there, and no email is sent by a plane.
      mail: {
        transport: 'smtp',
        host: '127.0.0.1',
        port: 1,
        tls: 'where_offered',
        verify: false,
        login: undefined,
        from: 'culvert@example.test',
      },
      visitorProvider: 'google',
      backupEveryMs: null,
      releases: { releasesDir: join(this.dataDir, 'releases'), program: { version: '1.0.0', key: null } },
      apiUrl: () => 'http://api.test',
      log: silentLog,
      clock: this.clock,
      makeHasher: makeQuickHasher,
      ...changes,
    });
    this.control.link.onDelta((delta) => this.deltas.push(delta));
    this.control.nodes.attach({
      ...IDLE_NODE,
      isOnline: (id) => this.online.has(id),
      isTaken: (id) => this.online.has(id),
    });
  }

  get projects(): Projects {
    return this.control.slices.use(projects);
  }

  close(): void {
    this.control.close();
    rmSync(this.dataDir, { recursive: true });
  }

  /** A new person with an organization of their own. */
  async person(email: string, plan: 'free' | 'pro' | 'enterprise' = 'enterprise'): Promise<UserActor> {
    const made = await this.control.accounts.createUser({ email, name: '', plan, superadmin: false });
    const done = await this.control.sessions.login({ email, password: made.password.reveal() }, VISIT);
    assert.ok('accessToken' in done);
    const actor = await this.control.sessions.authenticate(done.accessToken, '192.0.2.1');
    assert.ok(actor !== undefined);
    return actor;
  }

  mint(actor: UserActor, input: Partial<MintInput> = {}): MintedToken {
    return this.control.tokens.mint(actor, {
      name: 'laptop',
      ttlHours: 24,
      allowedSubdomains: ['*'],
      bandwidthLimitMbps: 100,
      tunnelQuota: 5,
      ...input,
    });
  }

  create(actor: UserActor, input: Partial<CreateTunnel> = {}): TunnelView {
    return this.control.tunnels.create(actor, {
      localPort: 3000,
      protocol: 'http',
      subdomain: undefined,
      ttlSeconds: undefined,
      projectSlug: undefined,
      ...input,
    });
  }

  claim(token: MintedToken, input: Partial<ClaimQuestion> = {}): Promise<ClaimAnswer> {
    return this.control.link.claim({
      tokenId: token.row.id,
      agentId: '00000000-0000-4000-8000-000000000000',
      liveTunnelIds: [],
      protocol: 'http',
      target: 'localhost:3000',
      localPort: 3000,
      ...input,
    });
  }

  /** The route of a claim that must succeed; the table that it names must hold it. */
  async bound(token: MintedToken, input: Partial<ClaimQuestion> = {}): Promise<Route> {
    const answer = await this.claim(token, input);
    assert.ok(answer.ok, JSON.stringify(answer));
    const { version, routes } = await this.control.link.snapshot();
    assert.equal(answer.version, version);
    assert.ok(routes.some((route) => route.tunnelId === answer.route.tunnelId));
    return answer.route;
  }

  /** The code of a claim that must be refused. */
  async refusal(token: MintedToken, input: Partial<ClaimQuestion> = {}): Promise<string> {
    const answer = await this.claim(token, input);
    return answer.ok ? `bound ${answer.route.subdomain}` : answer.code;
  }
}
