/**
 * The PROXY protocol towards local TCP services: haproxy as a receiver that is not ours, and a plain socket that sees every byte. The
 * visitor's own end of its connection says what the header must hold.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { freePorts } from '../harness/config.ts';
import { sharedCulvert, type SpawnedCulvert } from '../harness/spawned.ts';
import { missing } from '../harness/tools.ts';

/** What a header of IPv4 to IPv4 has in front of its addresses, as far as the specification fixes it. */
const IPV4_START = Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex');
const HEADER_BYTES = 28;
const BULK_BYTES = 4 * 1024 * 1024;

suite('the PROXY protocol towards a service', { timeout: 120_000 }, () => {
  const shared = sharedCulvert();
  const without = missing('haproxy');
  test('haproxy reads the address of the visitor, and its own', { skip: without }, async (t) => {
    const culvert = await shared();
    const port = await startHaproxy(t);
    const publicPort = await publish(culvert, ['tcp', String(port), '--proxy-protocol']);
    for (let n = 0; n < 3; n++) {
      const visitor = await visit(publicPort);
      const { localAddress, localPort } = visitor;
      visitor.write('GET / HTTP/1.0\r\n\r\n');
      const answer = await text(visitor);
      assert.equal(answer.split('\r\n\r\n')[1], `${localAddress} ${localPort} 127.0.0.1 ${port}`);
    }
  });

  test('the header comes before the visitor has said anything, once, and what it says comes behind it unchanged', async (t) => {
    const culvert = await shared();
    const { port, next } = await startService(t);
    const publicPort = await publish(culvert, ['tcp', String(port), '--proxy-protocol']);
    const visitor = await visit(publicPort);
    const local = await next();
    const [first] = (await once(local, 'data')) as [Buffer];
    assert.deepEqual(first, headerOf(visitor, port));
    const sent = randomFillSync(Buffer.allocUnsafe(BULK_BYTES));
    visitor.end(sent);
    const [received, answer] = await Promise.all([rest(local).finally(() => local.end('bye')), text(visitor)]);
    assert.ok(received.equals(sent));
    assert.equal(answer, 'bye', 'nothing of the header comes back');
  });

  test('what a visitor sends at once does not overtake the header', async (t) => {
    const culvert = await shared();
    const { port, next } = await startService(t);
    const publicPort = await publish(culvert, ['tcp', String(port), '--proxy-protocol']);
    const visitor = connect({ port: publicPort, host: '127.0.0.1', allowHalfOpen: true });
    visitor.write('early');
    await once(visitor, 'connect');
    const header = headerOf(visitor, port);
    visitor.end();
    const local = await next();
    assert.deepEqual(await rest(local), Buffer.concat([header, Buffer.from('early')]));
    local.end('bye');
    assert.equal(await text(visitor), 'bye');
  });

  test("proxy_protocol in the agent's file is of one tunnel: its neighbour gets no header", async (t) => {
    const culvert = await shared();
    const told = await startService(t);
    const plain = await startService(t);
    const file = join(culvert.folder, 'agent.toml');
    writeFileSync(
      file,
      `[tunnels.told]\nprotocol = "tcp"\ntarget = ${told.port}\nproxy_protocol = true\n` +
        `[tunnels.plain]\nprotocol = "tcp"\ntarget = ${plain.port}\n`,
    );
    for (const [name, service, isTold] of [
      ['told', told, true],
      ['plain', plain, false],
    ] as const) {
      const visitor = await visit(await publish(culvert, ['start', name, '--config', file]));
      visitor.end('hello');
      const local = await service.next();
      const header = isTold ? headerOf(visitor, service.port) : Buffer.alloc(0);
      assert.deepEqual(await rest(local), Buffer.concat([header, Buffer.from('hello')]));
      local.end('bye');
      assert.equal(await text(visitor), 'bye');
    }
  });
});

async function publish(culvert: SpawnedCulvert, args: readonly string[]): Promise<number> {
  const url = new URL(await culvert.agent(args).printed(/^(tcp:\S+)$/m));
  return Number(url.port);
}

/** All bytes to the end of what the visitor sends; the way back stays open. */
function rest(socket: Socket): Promise<Buffer> {
  return buffer(socket.iterator({ destroyOnReturn: false }));
}

async function visit(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** The header that a service on `port` must get for this visitor, who is on 127.0.0.1. */
function headerOf(visitor: Socket, port: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  IPV4_START.copy(header);
  header.set([127, 0, 0, 1, 127, 0, 0, 1], IPV4_START.length);
  header.writeUInt16BE(visitor.localPort ?? 0, 24);
  header.writeUInt16BE(port, 26);
  return header;
}

/** A service whose connections a test reads by itself, in the order in which they came. */
async function startService(t: TestContext): Promise<{ port: number; next: () => Promise<Socket> }> {
  const waiting: Socket[] = [];
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    waiting.push(socket);
    server.emit('visited');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    async next() {
      if (waiting.length === 0) await once(server, 'visited');
      return waiting.shift() as Socket;
    },
  };
}

/** A haproxy that takes nothing but connections with a header, and answers each request with what it read there. */
async function startHaproxy(t: TestContext): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-haproxy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { http: port } = await freePorts();
  const file = join(folder, 'haproxy.cfg');
  const answer = '%[src] %[src_port] %[dst] %[dst_port]';
  writeFileSync(
    file,
    `defaults
  mode http
  timeout client 30s
  timeout connect 5s
  timeout server 30s
frontend visitors
  bind 127.0.0.1:${port} accept-proxy
  http-request return status 200 content-type text/plain lf-string "${answer}"
`,
  );
  const child = spawn('haproxy', ['-W', '-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(async () => {
    const ended = once(child, 'close');
    if (!child.kill()) return;
    await ended;
  });
  let said = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes('Loading success')) break;
  }
  assert.match(said, /Loading success/);
  child.stderr.resume();
  return port;
}
