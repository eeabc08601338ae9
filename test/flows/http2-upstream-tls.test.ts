/** The flags for TLS with `--upstream-protocol http2`: a real server, agent and a service that wants a certificate of the agent. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { http2Origin } from '../../src/agent/http2/testing.ts';
import { start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { testCertificate } from '../../src/data/fixtures/certificate.ts';
import { startCulvert } from '../harness.ts';

const SERVICE = 'orders.internal';

async function fixture(t: TestContext) {
  const [culvert, service, client, other] = await Promise.all([
    startCulvert(t),
    testCertificate([SERVICE]),
    testCertificate(['agent.internal']),
    testCertificate([SERVICE]),
  ]);
  const tls = { ...service, requestCert: true, rejectUnauthorized: true, ca: client.cert };
  const seen: string[] = [];
  const origin = await http2Origin(
    t,
    (stream) => {
      const socket = stream.session?.socket as TLSSocket;
      seen.push(`${socket.servername} from ${socket.getPeerCertificate().subject.CN}`);
      stream.respond({ ':status': 200 });
      stream.end('over HTTP/2');
    },
    { tls },
  );
  const home = tempHome(t);
  const file = (name: string, text: string): string => {
    writeFileSync(join(home, name), text);
    return join(home, name);
  };
  const flags = {
    ca: ['--upstream-ca', file('ca.pem', service.cert)],
    otherCa: ['--upstream-ca', file('other.pem', other.cert)],
    sni: ['--upstream-sni', SERVICE],
    client: ['--upstream-cert', file('client.pem', client.cert), '--upstream-key', file('client.key', client.key)],
  };
  const env = { CULVERT_SERVER: culvert.account.apiUrl, CULVERT_TOKEN: culvert.token };
  /** The answer to a visitor, with these flags. */
  const visit = async (name: string, ...chosen: readonly string[][]) => {
    const target = `https://127.0.0.1:${origin.port}`;
    const words = ['http', target, '--subdomain', name, '--upstream-protocol', 'http2', '--no-inspect', '--json'];
    const agent = start(t, [...words, ...chosen.flat()], { home, env });
    await agent.until(() => agent.stdout.includes('tunnel_online'));
    return culvert.get(`http://${name}.localhost:${culvert.httpPort}/`);
  };
  return { flags, seen, visit };
}

test('http: --upstream-ca, --upstream-sni and a client certificate hold over HTTP/2', async (t) => {
  const { flags, seen, visit } = await fixture(t);
  assert.equal((await visit('all', flags.ca, flags.sni, flags.client)).body, 'over HTTP/2');
  assert.deepEqual(seen, [`${SERVICE} from agent.internal`]);
  // Each of them is needed: another authority, no name for the certificate, and no certificate of the agent.
  for (const [name, chosen] of [
    ['other', [flags.otherCa, flags.sni, flags.client]],
    ['nameless', [flags.ca, flags.client]],
    ['bare', [flags.ca, flags.sni]],
  ] as const) {
    const { status, body } = await visit(name, ...chosen);
    assert.equal(status, 502, `${name}: ${body}`);
  }
  assert.equal(seen.length, 1, 'no request came by a connection that was not verified on both sides');
});
