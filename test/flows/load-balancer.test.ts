/**
 * haproxy in front of the edge, as a load balancer that passes bytes on and says by the PROXY protocol who the visitor is. Visitors come
 * from an address of loopback that is not the load balancer's.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { testCertificate } from '../../src/data/fixtures/certificate.ts';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { freePorts } from '../harness/config.ts';
import { missing } from '../harness/tools.ts';

const VISITOR = '127.0.0.7';
const EDGE = 'proxy_protocol = true\nproxy_protocol_from = ["127.0.0.1"]';

suite('haproxy in front', { timeout: 120_000, skip: missing('haproxy') }, () => {
  test('visitors of http, https and tcp are known by their own address, and none is believed about it', async (t) => {
    const culvert = await startCulvert(t, '', EDGE);
    const origin = await startOrigin(t, (incoming, response) => {
      const { headers } = incoming;
      response.end(`${headers['x-real-ip']} ${headers['x-forwarded-for']} ${headers['x-forwarded-proto']}`);
    });
    await culvert.publish('http', origin.port, { subdomain: 'shop' });
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    t.after(() => echo.close());
    const { port: echoPort } = echo.address() as { port: number };
    const tcp = await culvert.publish('tcp', echoPort);
    const at = await startHaproxy(t, culvert, Number(new URL(tcp.url).port));

    for (let n = 0; n < 3; n++) {
      assert.equal(await visit(at.plain, { tls: false }), `${VISITOR} ${VISITOR} http`);
      assert.equal(await visit(at.secure, { tls: true }), `${VISITOR} ${VISITOR} https`);
      assert.equal(await visit(at.offloaded, { tls: true }), `${VISITOR} ${VISITOR} https`, 'haproxy took TLS off');
    }
    const visitor = connect({ port: at.tcp, host: '127.0.0.1', localAddress: VISITOR });
    visitor.end('hello');
    assert.equal(await text(visitor), 'hello');

    await assert.rejects(visit(at.version1, { tls: false }), 'version 1 is not spoken');
    await assert.rejects(visit(at.bare, { tls: false }), 'no header at all');
    await assert.rejects(visit(culvert.httpPort, { tls: false }), 'past the load balancer');
    const operators = (await culvert.account.call('GET', '/superadmin/edge')).body as unknown as {
      dropped: Record<string, number>;
    };
    assert.equal(operators.dropped['proxy_header'], 3);
  });

  test('rules go by the address of the visitor, and not by that of the load balancer', async (t) => {
    const culvert = await startCulvert(t, '', EDGE);
    const origin = await startOrigin(t, (_incoming, response) => response.end('in'));
    await culvert.publish('http', origin.port, { subdomain: 'shop' });
    const at = await startHaproxy(t, culvert, 1);
    const [tunnel] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
    const path = `/tunnels/${tunnel?.id}/policy`;
    for (const [network, answer] of [
      [`${VISITOR}/32`, 'in'],
      ['127.0.0.1/32', 'denied'],
    ]) {
      const policy = { actions: [{ kind: 'ip_allow', networks: [network] }] };
      const put = await culvert.account.call('PUT', path, policy);
      assert.equal(put.status, 200, JSON.stringify(put.body));
      assert.match(await visit(at.plain, { tls: false }), new RegExp(answer ?? ''));
    }
  });
});

/** GET of the tunnel's name on a connection of its own from VISITOR, with the lies of a visitor who would be another. */
async function visit(port: number, { tls }: { tls: boolean }): Promise<string> {
  const outgoing = (tls ? secureRequest : request)({
    host: '127.0.0.1',
    localAddress: VISITOR,
    port,
    agent: false,
    headers: { host: 'shop.localhost', 'x-forwarded-for': '6.6.6.6', 'x-real-ip': '6.6.6.6' },
    ...(tls ? { servername: 'shop.localhost', rejectUnauthorized: false } : {}),
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return text(response);
}

interface Ports {
  readonly plain: number;
  readonly secure: number;
  readonly offloaded: number;
  readonly tcp: number;
  readonly version1: number;
  readonly bare: number;
}

async function startHaproxy(t: TestContext, culvert: Culvert, tcpPort: number): Promise<Ports> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-haproxy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [one, other] = [await freePorts(), await freePorts()];
  const at = {
    plain: one.http,
    secure: one.https,
    offloaded: one.api,
    tcp: one.agents,
    version1: other.http,
    bare: other.https,
  };
  const { cert, key } = await testCertificate();
  const pem = join(folder, 'haproxy.pem');
  writeFileSync(pem, `${cert}\n${key}`, { mode: 0o600 });
  const pass = (name: string, bind: string, to: number, how: string): string =>
    `listen ${name}\n  bind 127.0.0.1:${bind}\n  server edge 127.0.0.1:${to} ${how}\n`;
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `defaults
  mode tcp
  timeout client 30s
  timeout connect 5s
  timeout server 30s
${pass('plain', `${at.plain}`, culvert.httpPort, 'send-proxy-v2')}
${pass('secure', `${at.secure}`, culvert.httpsPort, 'send-proxy-v2 proxy-v2-options crc32c')}
${pass('offloaded', `${at.offloaded} ssl crt ${pem}`, culvert.httpPort, 'send-proxy-v2-ssl')}
${pass('tcp', `${at.tcp}`, tcpPort, 'send-proxy-v2')}
${pass('version1', `${at.version1}`, culvert.httpPort, 'send-proxy')}
${pass('bare', `${at.bare}`, culvert.httpPort, '')}
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
  return at;
}
