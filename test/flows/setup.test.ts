// group: acme
/** From `culvert setup` to a public server: real DNS, pebble as the authority, and the owner's link; and a server for this machine alone. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { realSystem } from '../../src/cli/checks/system.ts';
import { run, start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import type { Host } from '../../src/cli/setup/host.ts';
import { setupOn } from '../../src/cli/setup/setup.ts';
import { runSetup } from '../../src/cli/setup/testing.ts';
import { freePorts, type Ports } from '../harness/config.ts';
import { startDns } from '../harness/dns.ts';
import { startPebble } from '../harness/pebble.ts';
import { missing } from '../harness/tools.ts';

const DOMAIN = 'edge.example.test';
const PASSWORD = 'seven green bottles sit';

/** A machine without systemd. */
const host: Host = {
  isRoot: false,
  hasSystemd: false,
  program: '/usr/local/bin/culvert',
  run: () => Promise.reject(new Error('nothing may run')),
  serverUser: () => undefined,
};

/** The written settings, on ports of this test; all else stays as setup wrote it. */
function onPorts(written: string, ports: Ports, resolver: string): string {
  const at = (port: number): string => `listen = "127.0.0.1:${port}"`;
  const own = written.includes('listen = ":8443"') ? written : written.replace('[api]\n', '[api]\nlisten = ":8443"\n');
  return `${own
    .replace('listen = ":80"', at(ports.http))
    .replace('listen = ":443"', at(ports.https))
    .replace('listen = ":8443"', at(ports.api))
    .replace('listen = ":7443"', at(ports.agents))
    .replace(/^tcp_host = .*$/m, 'tcp_ports = ""')
    .replace(/^udp_host = .*$/m, 'udp_ports = ""')}
[dns]
resolvers = ["${resolver}"]
`;
}

/** A call to the API on this machine, whatever the DNS says. */
async function post(port: number, path: string, body: object): Promise<number> {
  const written = JSON.stringify(body);
  const send = (request: typeof httpRequest): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      };
      const asked = request({ ...options, rejectUnauthorized: false } as object, (answer) => {
        text(answer).then(() => resolve(answer.statusCode ?? 0), reject);
      });
      asked.once('error', reject);
      asked.end(written);
    });
  return send(httpsRequest).catch(() => send(httpRequest));
}

test('setup: checks, settings, certificate from an authority, and a link that sets the password of the owner once', {
  skip: missing('pebble'),
  timeout: 120_000,
}, async (t) => {
  const home = tempHome(t);
  const ports = await freePorts();
  const dns = await startDns(t);
  dns.address4 = '127.0.0.1';
  const pebble = await startPebble(t, { dnsServer: dns.address, httpPort: ports.http, tlsPort: ports.https });
  const system = { ...realSystem([dns.address]), ownAddresses: () => ['127.0.0.1'] };
  const flags = {
    email: 'ann@example.test',
    config: 'server.toml',
    acmeDirectory: pebble.directoryUrl,
    acmeCaFile: pebble.caFile,
    yes: true,
  };
  const setup = (more = {}) => runSetup(setupOn(system, host), { home, args: [DOMAIN], flags: { ...flags, ...more } });

  const first = await setup();
  for (const name of ['dns_domain', 'dns_dashboard', 'dns_wildcard', 'caa', 'clock'])
    assert.match(first.output, new RegExp(`^ok +${name} `, 'm'));
  assert.match(first.output, /^settings +\S+server\.toml: written$/m);
  assert.match(first.output, /no systemd here[^\n]*\n {2}culvert serve --config \S+server\.toml\n/);

  const file = join(home, 'server.toml');
  writeFileSync(file, onPorts(readFileSync(file, 'utf8'), ports, dns.address));
  const server = start(t, ['serve', '--config', file], { home });
  await server.until(() => /admin password-link ann@example\.test/.test(server.stdout));
  assert.match(server.stdout, /ann@example\.test owns the server and has no password yet/);
  assert.doesNotMatch(server.stdout, /admin@localhost|Copy the password/);

  const second = await setup();
  assert.equal(second.code, 0, second.output);
  assert.match(second.output, /yours is kept/);
  assert.match(second.output, new RegExp(`^certificate +culvert\\.${DOMAIN.replaceAll('.', '\\.')}: valid until`, 'm'));
  const link = /works once, until \S+\):\n {2}(\S+)/.exec(second.output)?.[1] ?? '';
  assert.ok(link.startsWith(`https://culvert.${DOMAIN}`), second.output);
  const token = new URL(link).searchParams.get('token');
  assert.equal(await post(ports.api, '/auth/reset', { token, new_password: PASSWORD }), 200);
  assert.equal(await post(ports.api, '/auth/reset', { token, new_password: PASSWORD }), 400);
  assert.equal(await post(ports.api, '/auth/login', { email: 'ann@example.test', password: PASSWORD }), 200);

  // Without --email, too, the owner is the one of the settings.
  const third = await setup({ email: undefined });
  assert.match(third.output, /ann@example\.test has a password\./);
  assert.doesNotMatch(third.output, /token=/);
});

test('setup --local: a server in the foreground, and a printed command that publishes a port as it stands', {
  timeout: 60_000,
}, async (t) => {
  const home = tempHome(t);
  const server = start(t, ['setup', '--local'], { home });
  await server.until(() => /Press Ctrl-C to stop/.test(server.stdout));
  const command = /^ {2}culvert (http 3000 .*)$/m.exec(server.stdout)?.[1] ?? '';
  const agent = start(t, [...command.split(' '), '--no-inspect'], { home });
  await agent.until(() => /http:\/\/hello\.localhost:\d+/.test(agent.stdout));
  agent.signal('SIGTERM');
  await agent.exit;
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
  const again = start(t, ['setup', '--local'], { home });
  await again.until(() => /Press Ctrl-C to stop/.test(again.stdout));
  assert.ok(again.stdout.includes(command), again.stdout);
  const login = await run(['doctor', '--json', '--config', join(home, '.local/share/culvert-local/server.toml')], {
    home,
  });
  assert.match(login.stdout, /"name":"outside_api","status":"ok"/);
});
