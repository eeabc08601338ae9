/** Alerts in tests: a plane with a team, a data node that the test plays, and an HTTP server that takes what channels send. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlaneEvent } from '../../../plane/events.ts';
import type { ConnectionInfo } from '../../../plane/link.ts';
import { IDLE_NODE } from '../../core/testing/idle-node.ts';
import { lastEmail } from '../../core/testing/outbox.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, Team } from '../../core/testing/team.ts';
import type { ControlOptions } from '../../open.ts';
import { EVERY_MS } from './evaluator.ts';

/** What a channel sent. */
export interface Taken {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Takes posts on loopback. */
export class Taker {
  readonly taken: Taken[] = [];
  /** Status of its responses. */
  status = 200;
  headers: Readonly<Record<string, string>> = {};
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Taker> {
    const server = createServer();
    const taker = new Taker(server);
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { url: path = '', headers } = request;
        taker.taken.push({ path, headers, body: Buffer.concat(parts).toString() });
        response.writeHead(taker.status, taker.headers).end('ok');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return taker;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** What came, as JSON; it is forgotten. */
  json(): Array<Readonly<Record<string, unknown>>> {
    return this.taken.splice(0).map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

/** One organization whose alerts go to `taker`. */
export class AlertFixture {
  plane: Plane;
  api: PlaneApi;
  team: Team;
  ann: Person;
  readonly taker: Taker;
  connections: ConnectionInfo[] = [];
  #sequence = 0;

  private constructor(plane: Plane, api: PlaneApi, who: { team: Team; ann: Person; taker: Taker }) {
    this.plane = plane;
    this.api = api;
    this.team = who.team;
    this.ann = who.ann;
    this.taker = who.taker;
    this.#attach();
  }

  static async start(options: Partial<ControlOptions> = {}): Promise<AlertFixture> {
    const plane = new Plane(undefined, { allowPrivateJwks: true, ...options });
    const api = await servePlane(plane);
    const team = new Team(plane, api);
    return new AlertFixture(plane, api, {
      team,
      ann: await team.person('ann@example.test'),
      taker: await Taker.start(),
    });
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.taker.close();
    this.plane.close();
  }

  /** The server starts again, with the clock where it is. */
  async restart(): Promise<void> {
    const { now, dataDir } = this.plane;
    await this.api.close();
    this.plane.control.close();
    this.plane = new Plane(dataDir, { allowPrivateJwks: true });
    this.plane.now = now;
    this.api = await servePlane(this.plane);
    this.team = new Team(this.plane, this.api);
    this.#attach();
    this.#sequence = 0;
  }

  #attach(): void {
    this.plane.control.nodes.attach({
      ...IDLE_NODE,
      isOnline: (id) => this.plane.online.has(id),
      connections: () => this.connections,
    });
  }

  /** Evaluates as the clock would, every ten seconds for so long, and sends what is due. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= EVERY_MS) {
      this.plane.now += Math.min(left, EVERY_MS);
      await this.look();
    }
  }

  async look(): Promise<void> {
    const { alertEvaluator, alertSender } = this.plane.control;
    const { signal } = new AbortController();
    await alertEvaluator.run(signal);
    while (alertSender.sendDue(signal) > 0) await alertSender.idle();
  }

  /** Calls as Ann, whose access token lives for 15 minutes. */
  async call(method: string, path: string, body?: object, status = 200): Promise<Readonly<Record<string, unknown>>> {
    this.ann = await this.team.again(this.ann);
    const answer = await this.ann.call(method, path, body);
    assert.equal(answer.status, status, answer.text);
    return answer.body;
  }

  async rule(more: object): Promise<string> {
    const channels = [{ type: 'webhook', url: this.taker.url('/hook') }];
    return String((await this.call('POST', '/alerts', { for_minutes: 1, channels, ...more }, 201))['id']);
  }

  /** As the owner of the address, by the link in the last email. */
  async confirm(to: string, status = 200): Promise<Readonly<Record<string, unknown>>> {
    const { token } = lastEmail(this.plane, to, 'alert_confirm');
    const answer = await this.api.call('POST', '/alerts/confirm', { body: { token } });
    assert.equal(answer.status, status, answer.text);
    return answer.body;
  }

  report(...events: readonly PlaneEvent[]): Promise<unknown> {
    return this.plane.control.link.report({ node: `n${this.plane.now}`, sequence: ++this.#sequence, events });
  }

  /** A tunnel with an agent. */
  async tunnel(subdomain: string): Promise<string> {
    const { id } = await this.call('POST', '/tunnels', { localPort: 3000, subdomain }, 201);
    await this.up(String(id));
    return String(id);
  }

  async up(tunnelId: string): Promise<void> {
    this.plane.online.add(tunnelId);
    await this.report({ kind: 'agent', agentId: tunnelId, tunnelId, online: true, at: this.plane.now });
  }

  async down(tunnelId: string): Promise<void> {
    this.plane.online.delete(tunnelId);
    await this.report({ kind: 'agent', agentId: tunnelId, tunnelId, online: false, lost: true, at: this.plane.now });
  }

  /** Of the messages that came, in words. */
  said(): string[] {
    return this.taker.json().map(({ type, data }) => `${String(type)}: ${(data as { summary: string }).summary}`);
  }
}
