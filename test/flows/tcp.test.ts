/**
 * Raw TCP in front of real services: sshd, whose protocol speaks first, and an echo for bytes in bulk. The public port stays with the
 * tunnel over restarts of server and agent.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import type { Program } from '../../scripts/quickstart/program.ts';
import { sharedCulvert, type SpawnedCulvert } from '../harness/spawned.ts';
import { findProgram, missing, run } from '../harness/tools.ts';

const BULK_BYTES = 32 * 1024 * 1024;

async function startEcho(t: TestContext): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function publish(culvert: SpawnedCulvert, port: number): Promise<{ agent: Program; publicPort: number }> {
  const agent = culvert.agent(['tcp', String(port)]);
  const url = new URL(await agent.printed(/^(tcp:\S+)$/m));
  return { agent, publicPort: Number(url.port) };
}

async function echoed(port: number, sent: Buffer): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(sent);
  return buffer(socket);
}

suite('tcp tunnels', { timeout: 300_000 }, () => {
  const shared = sharedCulvert();
  test('32 MB there and back are the same, and half-close passes through', async (t) => {
    const culvert = await shared();
    const { publicPort } = await publish(culvert, await startEcho(t));
    const sent = randomFillSync(Buffer.allocUnsafe(BULK_BYTES));
    const back = await echoed(publicPort, sent);
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    assert.equal(back.length, sent.length);
    assert.equal(hash(back), hash(sent));
  });

  test('the public port is the same after the server and then the agent were killed and started', async (t) => {
    const culvert = await shared();
    const echo = await startEcho(t);
    // An older tunnel beside it, whose agent has gone: ports are not merely given out in the same order again.
    const other = await publish(culvert, await startEcho(t));
    const { agent, publicPort } = await publish(culvert, echo);
    assert.notEqual(other.publicPort, publicPort);
    other.agent.kill();
    await other.agent.ended();
    await culvert.killServer();
    await culvert.startServer();
    await untilEchoes(publicPort);
    assert.equal((await echoed(publicPort, Buffer.from('hello'))).toString(), 'hello');
    agent.kill();
    await agent.ended();
    const again = await publish(culvert, echo);
    assert.equal(again.publicPort, publicPort);
    assert.equal((await echoed(publicPort, Buffer.from('hello'))).toString(), 'hello');
  });

  const without = missing('ssh', 'ssh-keygen', 'sshd');
  test('ssh logs in and runs a command through the tunnel', { skip: without }, async (t) => {
    const { port, folder } = await startSshd(t);
    const culvert = await shared();
    const { publicPort } = await publish(culvert, port);
    const { code, stdout, stderr } = await run([
      ...['ssh', '-F', 'none', '-p', String(publicPort), '-i', join(folder, 'user'), '-o', 'BatchMode=yes'],
      ...['-o', 'StrictHostKeyChecking=no', '-o', `UserKnownHostsFile=${join(folder, 'known')}`],
      ...[`${userInfo().username}@127.0.0.1`, 'echo over the tunnel; head -c 5000000 /dev/zero | sha256sum'],
    ]);
    assert.equal(code, 0, stderr);
    const zeros = createHash('sha256').update(Buffer.alloc(5_000_000)).digest('hex');
    assert.equal(stdout, `over the tunnel\n${zeros}  -\n`);
  });
});

/** Tries until the port answers: the agent comes back by itself, in its own time. */
async function untilEchoes(port: number): Promise<void> {
  for (;;) {
    const back = await echoed(port, Buffer.from('?')).catch(() => Buffer.alloc(0));
    if (back.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A real sshd on a free port of loopback, for this user, with keys of its own. */
async function startSshd(t: TestContext): Promise<{ port: number; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-sshd-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  }
  const config = join(folder, 'sshd_config');
  const settings = ['StrictModes no', 'UsePAM no', 'PidFile none', `HostKey ${join(folder, 'host')}`];
  writeFileSync(config, [...settings, `AuthorizedKeysFile ${join(folder, 'user.pub')}`, ''].join('\n'));
  // It wants to be started by its whole path.
  const sshd = findProgram('sshd') ?? '';
  // Where Debian's sshd separates privileges; its service makes it, which does not run here.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  // A connection per process, as inetd would do it: then the listener, and with it the port, is this test's.
  const server = createServer((socket) => {
    const child = spawn(sshd, ['-i', '-f', config], { stdio: ['pipe', 'pipe', 'ignore'] });
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
    socket.on('error', () => child.kill());
    socket.on('close', () => child.kill());
    child.stdin.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, folder };
}
