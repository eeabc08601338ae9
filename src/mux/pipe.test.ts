/**
 * base/bytes/pipe.ts at both ends of a session, between real sockets: visitor - pipe - session - pipe - service. Here and not in base,
 * for base knows no multiplexer.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Sweeper } from '../base/clock.ts';
import { Pipe } from '../base/bytes/pipe.ts';
import { SlabPool } from '../base/bytes/slab.ts';
import { readInto, sharedTarget } from '../base/bytes/socket.ts';
import { type Kind, PairSource, rounds } from '../base/testing.ts';
import { TurnEnd } from '../base/process/turn.ts';
import { attachSession } from './attach.ts';
import type { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';
import { patternBytes } from './testing.ts';
import { WindowBudget } from './window.ts';

const BUDGET = 256 << 20;

/** A service on this machine, an agent that dials it, an edge that takes visitors: all in this process, all over sockets. */
class Tunnel {
  readonly turn = new TurnEnd();
  readonly readBuffer = Buffer.alloc(65_536);
  readonly budget = new WindowBudget(BUDGET);
  readonly pools = [new SlabPool(), new SlabPool()] as const;
  readonly sweeper = new Sweeper<MuxSession>(1_000);
  readonly pipes = new Set<Pipe>();
  /** The sockets that the edge and the agent hold, newest last. */
  readonly edgeSockets: Socket[] = [];
  readonly agentSockets: Socket[] = [];
  readonly edge: MuxSession;
  readonly agent: MuxSession;
  readonly #visitors: PairSource;
  readonly #tls: boolean;
  readonly #service: Server;
  onService: (socket: Socket) => void = () => {};

  static async start(kind: Kind, visitors: PairSource, sessions: PairSource): Promise<Tunnel> {
    const service = createServer({ allowHalfOpen: true, noDelay: true });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { dialled, accepted } = await sessions.pair();
    return new Tunnel({ visitors, service, tls: kind === 'tls' }, dialled, accepted);
  }

  private constructor(
    parts: { visitors: PairSource; service: Server; tls: boolean },
    dialled: Socket,
    accepted: Socket,
  ) {
    this.#visitors = parts.visitors;
    this.#service = parts.service;
    this.#tls = parts.tls;
    this.#service.on('connection', (socket: Socket) => {
      socket.on('error', () => {});
      this.onService(socket);
    });
    const handler = (onStream: (stream: MuxStream) => void) => ({
      onStream,
      onClose: () => {},
      onFault: (_s: MuxStream, error: unknown) => assert.fail(String(error)),
    });
    const shared = { budget: this.budget, sweeper: this.sweeper, controlPerSecond: 100_000 };
    this.edge = attachSession(
      accepted,
      handler(() => {}),
      { role: 'server', slabs: this.pools[0], ...shared },
    );
    this.agent = attachSession(
      dialled,
      handler((s) => this.#serve(s)),
      { role: 'client', slabs: this.pools[1], ...shared },
    );
  }

  #serve(stream: MuxStream): void {
    const port = (this.#service.address() as AddressInfo).port;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    this.agentSockets.push(socket);
    this.#join(stream, socket, false);
  }

  #join(stream: MuxStream, socket: Socket, tls: boolean): void {
    const pipe: Pipe = new Pipe(stream, socket, {
      turn: this.turn,
      slabs: this.pools[1],
      meter: { fromSocket: 0, toSocket: 0 },
      tls,
      onClose: () => this.pipes.delete(pipe),
    });
    this.pipes.add(pipe);
    const read = (): void => {
      readInto(
        socket,
        sharedTarget(this.readBuffer, (b, start, count) => pipe.fromSocket(b, start, count)),
      );
    };
    if (socket.connecting) socket.once('connect', read);
    else read();
  }

  /** A visitor that is joined to the service. */
  async visit(): Promise<Socket> {
    const { dialled, accepted } = await this.#visitors.pair();
    this.edgeSockets.push(accepted);
    this.#join(this.edge.open() as MuxStream, accepted, this.#tls);
    return dialled;
  }

  /** All is over: asserts that nothing stayed behind. */
  async settled(): Promise<void> {
    for (let i = 0; i < 400 && (this.pipes.size > 0 || this.edge.streamCount + this.agent.streamCount > 0); i++)
      await this.edge.ping();
    assert.deepEqual([this.edge.streamCount, this.agent.streamCount, this.pipes.size], [0, 0, 0]);
    assert.equal(this.budget.left, BUDGET);
    for (const pool of this.pools) assert.equal(pool.foreign.held, false);
    assert.equal(
      this.edgeSockets.every((s) => s.destroyed),
      true,
    );
    assert.equal(
      this.agentSockets.every((s) => s.destroyed),
      true,
    );
  }

  async stop(): Promise<void> {
    this.edge.destroy();
    this.agent.destroy();
    this.sweeper.close();
    this.#service.close();
  }
}

/** Reads to the end and leaves the other direction alone, which `for await` does not. */
function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.once('end', () => resolve(Buffer.concat(parts)));
    socket.once('error', reject);
  });
}

for (const kind of ['plain', 'tls'] as const satisfies Kind[]) {
  describe(`a tunnel for ${kind} visitors`, { timeout: 120_000 }, () => {
    let visitors: PairSource;
    let sessions: PairSource;
    let tunnel: Tunnel;
    before(async () => {
      visitors = await PairSource.listen(kind);
      sessions = await PairSource.listen('tls');
      tunnel = await Tunnel.start(kind, visitors, sessions);
    });
    after(async () => {
      await tunnel.stop();
      visitors.close();
      sessions.close();
    });

    test('the visitor ends first and still reads the answer', async () => {
      const body = patternBytes(3_000_000);
      tunnel.onService = (socket) => void readAll(socket).then((got) => socket.end(got));
      const visitor = await tunnel.visit();
      visitor.end(body);
      assert.equal(Buffer.compare(await readAll(visitor), body), 0);
      await tunnel.settled();
    });

    test('the service ends first and still reads what the visitor sends', async () => {
      const body = patternBytes(3_000_000);
      const served = Promise.withResolvers<Buffer>();
      tunnel.onService = (socket) => {
        socket.end('done talking');
        readAll(socket).then(served.resolve, served.reject);
      };
      const visitor = await tunnel.visit();
      assert.equal((await readAll(visitor)).toString(), 'done talking');
      visitor.end(body);
      assert.equal(Buffer.compare(await served.promise, body), 0);
      await tunnel.settled();
    });

    test('both send at once, and end whenever they are done', async () => {
      const body = patternBytes(rounds(6, 20) * 1_000_000);
      const served = Promise.withResolvers<Buffer>();
      tunnel.onService = (socket) => {
        socket.end(body);
        readAll(socket).then(served.resolve, served.reject);
      };
      const visitor = await tunnel.visit();
      visitor.end(body);
      const [down, up] = await Promise.all([readAll(visitor), served.promise]);
      assert.equal(Buffer.compare(down, body), 0);
      assert.equal(Buffer.compare(up, body), 0);
      await tunnel.settled();
    });

    test('a service that cuts is seen by the visitor as cut, after what it said', async () => {
      tunnel.onService = (socket) => {
        socket.write('half an answ');
        socket.once('data', () => socket.resetAndDestroy());
      };
      const visitor = await tunnel.visit();
      const [said] = (await once(visitor, 'data')) as [Buffer];
      assert.equal(said.toString(), 'half an answ');
      visitor.write('go on');
      visitor.resume();
      // Over TLS the missing close_notify is all that tells; Node reports it as a plain end or a reset.
      if (kind === 'plain') await assert.rejects(once(visitor, 'end'), { code: 'ECONNRESET' });
      else await new Promise((resolve) => visitor.once('end', resolve).once('error', resolve));
      visitor.destroy();
      await tunnel.settled();
    });

    test('a visitor that cuts is seen by the service as cut', async () => {
      const cut = Promise.withResolvers<string | undefined>();
      tunnel.onService = (socket) => {
        socket.on('data', () => socket.write('x'));
        socket.on('error', (error: NodeJS.ErrnoException) => cut.resolve(error.code));
        socket.on('end', () => cut.resolve('end'));
      };
      const visitor = await tunnel.visit();
      visitor.write('hello');
      await once(visitor, 'data');
      if (kind === 'plain') visitor.resetAndDestroy();
      else visitor.destroy();
      assert.match(String(await cut.promise), kind === 'plain' ? /ECONNRESET/ : /ECONNRESET|end/);
      if (kind === 'tls') for (const socket of tunnel.agentSockets) socket.destroy();
      await tunnel.settled();
    });

    test('a service that answers early and closes is heard, though the upload goes on', async () => {
      const body = patternBytes(100_000);
      tunnel.onService = (socket) => {
        socket.once('data', () => {
          socket.pause();
          socket.end('413 too large');
        });
      };
      const visitor = await tunnel.visit();
      visitor.on('error', () => {});
      const upload = (): void => {
        while (visitor.writable && visitor.write(body));
      };
      visitor.on('drain', upload);
      upload();
      assert.equal((await readAll(visitor)).toString(), '413 too large');
      visitor.destroy();
      for (const socket of tunnel.agentSockets) socket.destroy();
      await tunnel.settled();
    });

    test('a slow reader costs its window and no more', async () => {
      const total = 256 << 20;
      const block = Buffer.alloc(1 << 20, 5);
      let sent = 0;
      tunnel.onService = (socket) => {
        const go = (): void => {
          while (sent < total && !socket.destroyed) {
            sent += block.length;
            if (!socket.write(block)) return;
          }
        };
        socket.on('drain', go);
        go();
      };
      const visitor = await tunnel.visit();
      visitor.pause();
      let last = -1;
      for (let still = 0; still < 50; still = sent === last ? still + 1 : 0) {
        last = sent;
        await tunnel.edge.ping();
      }
      const held = tunnel.edgeSockets.at(-1)?.writableLength ?? 0;
      assert.ok(held <= (16 << 20) + 262_144, `${held} bytes wait in the edge`);
      assert.ok(sent < total, 'the service was held back');
      visitor.on('error', () => {}).destroy();
      for (const socket of tunnel.agentSockets) socket.destroy();
      await tunnel.settled();
    });

    const count = kind === 'plain' ? rounds(20, 200) : rounds(4, 20);
    test(`${count * 50} short connections leave nothing behind`, async () => {
      tunnel.onService = (socket) => socket.pipe(socket);
      for (let round = 0; round < count; round++) {
        await Promise.all(
          Array.from({ length: 50 }, async (_, i) => {
            const visitor = await tunnel.visit();
            const body = `visitor ${round} ${i}`;
            visitor.on('error', () => {});
            if (i % 10 === 9) {
              visitor.write(body);
              visitor.destroy();
              return;
            }
            visitor.end(body);
            assert.equal((await readAll(visitor)).toString(), body);
          }),
        );
      }
      for (const sockets of [tunnel.edgeSockets, tunnel.agentSockets]) {
        for (const socket of sockets) if (!socket.destroyed && kind === 'tls') socket.destroy();
      }
      await tunnel.settled();
    });
  });
}
