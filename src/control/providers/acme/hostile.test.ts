/** What an ACME authority may say that is wrong, too much, too late or a lie, and what becomes of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import type { AcmeOrder } from './contract.ts';
import { AcmeAuthority } from './authority.ts';
import { freePort } from '../../../../test/harness/config.ts';
import { type Play, playAuthority, sendJson, sendProblem } from '../../../../test/harness/played-authority.ts';
import { failureOf, NAME, start, withJson } from './testing.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

const withBody =
  (body: string, contentType = 'application/json'): Play =>
  (_, response) =>
    void response.setHeader('content-type', contentType).end(body);

const endless: Play = (_, response) => {
  response.setHeader('content-type', 'application/json');
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
};

/** What an authorization looks like, with something changed. */
const authorization = (changes: object): Play =>
  withJson({
    status: 'pending',
    identifier: { type: 'dns', value: NAME },
    challenges: [{ type: 'http-01', url: 'http://127.0.0.1:9/challenge', token: 'token-of-the-name-0' }],
    ...changes,
  });

const order = (changes: object): Play =>
  withJson({ status: 'pending', authorizations: [], finalize: 'http://127.0.0.1:9/finalize', ...changes });

const directoryAt = (url: string) => ({ newNonce: url, newAccount: url, newOrder: url });

interface Lie {
  readonly name: string;
  readonly path: string;
  readonly play: Play;
  readonly code: string;
  readonly message: RegExp;
  /** The names whose answers were published (and so withdrawn) before it came out. */
  readonly published?: boolean;
}

// biome-ignore format: a table
const LIES: readonly Lie[] = [
  { name: 'a directory without end', path: '/dir', play: endless, code: 'bad_answer', message: /127\.0\.0\.1:\d+ is larger than 256 KB/ },
  { name: 'a directory elsewhere', path: '/dir', play: (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(), code: 'bad_answer', message: /redirects to http:\/\/127\.0\.0\.1:9\/, which is not followed: set acme\.directory_url/ },
  { name: 'a page instead of a directory', path: '/dir', play: withBody('<html>', 'text/html'), code: 'bad_answer', message: /not an ACME directory: its content type is text\/html/ },
  { name: 'a directory that is not JSON', path: '/dir', play: withBody('{'), code: 'bad_answer', message: /not a JSON object/ },
  { name: 'a directory that is a list', path: '/dir', play: withBody('[]'), code: 'bad_answer', message: /not a JSON object/ },
  { name: 'an empty directory', path: '/dir', play: withBody('{}'), code: 'bad_answer', message: /has no newNonce/ },
  { name: 'a directory that is not there', path: '/dir', play: (_, response) => void response.writeHead(404).end('nothing'), code: 'bad_answer', message: /refused: status 404/ },
  { name: 'an address of another kind', path: '/dir', play: withJson(directoryAt('file:///etc/passwd')), code: 'bad_answer', message: /not an https URL: file:/ },
  { name: 'an address in the network', path: '/dir', play: withJson(directoryAt('http://10.0.0.1/')), code: 'bad_answer', message: /not an https URL: http:\/\/10/ },
  { name: 'no nonce', path: '/nonce', play: (_, response) => void (response.removeHeader('replay-nonce'), response.end()), code: 'bad_answer', message: /sent no nonce/ },
  { name: 'a nonce with signs of its own', path: '/nonce', play: (_, response) => void response.setHeader('replay-nonce', 'a"b').end(), code: 'bad_answer', message: /sent no nonce/ },
  { name: 'no nonce that it likes', path: '/orders', play: (_, response) => sendProblem(response, { status: 400, type: 'badNonce', detail: 'again' }), code: 'badNonce', message: /refused: again/ },
  { name: 'an order without an address', path: '/orders', play: order({}), code: 'bad_answer', message: /Location is not an https URL/ },
  { name: 'an order of another type', path: '/orders', play: (asked, response) => order({ authorizations: {} })(asked, response.setHeader('location', 'http://127.0.0.1:9/')), code: 'bad_answer', message: /order has no authorizations/ },
  { name: 'more to prove than was asked for', path: '/orders', play: (asked, response) => order({ authorizations: ['', ''] })(asked, response.setHeader('location', 'http://127.0.0.1:9/')), code: 'bad_answer', message: /requires more validations than the order has names/ },
  { name: 'something else to prove', path: '/authz/0', play: authorization({ identifier: { type: 'dns', value: 'bank.example\r\n' } }), code: 'bad_answer', message: /requires validation of bank\.example, which is not part of the order/ },
  { name: 'an authorization that is over', path: '/authz/0', play: authorization({ status: 'expired' }), code: 'challenge_failed', message: /the authority reports the status "expired"/ },
  { name: 'no such challenge', path: '/authz/0', play: authorization({ challenges: [{ type: 'dns-01', url: '' }] }), code: 'challenge_failed', message: /does not offer http-01 for shop\.example\.test\. It offers: dns-01\. Set acme\.challenge/ },
  { name: 'a token that is a path', path: '/authz/0', play: authorization({ challenges: [{ type: 'http-01', url: '', token: '../../../../etc/passwd' }] }), code: 'bad_answer', message: /no usable token/ },
  { name: 'a token with a line', path: '/authz/0', play: authorization({ challenges: [{ type: 'http-01', url: '', token: 'aaaaaaaaaaaaaaaaaaaa\r\nset-cookie: a' }] }), code: 'bad_answer', message: /no usable token/ },
  { name: 'a challenge in the network', path: '/authz/0', play: authorization({ challenges: [{ type: 'http-01', url: 'http://169.254.169.254/', token: 'token-of-the-name-0' }] }), code: 'bad_answer', message: /not an https URL: http:\/\/169/, published: true },
  { name: 'a connection that breaks', path: '/challenge/0', play: (_, response) => void response.destroy(), code: 'network', message: /is unreachable: socket hang up/, published: true },
  { name: 'a body that breaks', path: '/challenge/0', play: (_, response) => { response.writeHead(200, { 'content-length': '10' }).write('{'); setImmediate(() => response.destroy()); }, code: 'network', message: /is unreachable: aborted/, published: true },
  { name: 'an order that is given up', path: '/order', play: order({ status: 'invalid', error: { type: 'urn:ietf:params:acme:error:caa', detail: 'CAA forbids it' } }), code: 'caa', message: /rejected the order: CAA forbids it/, published: true },
  { name: 'an order that is done before it began', path: '/order', play: order({ status: 'valid' }), code: 'bad_answer', message: /the order has the status "valid" before it was finalized/, published: true },
  { name: 'a page instead of a certificate', path: '/cert', play: withBody('<html>', 'text/html'), code: 'bad_answer', message: /sent no certificate: its content type is text\/html/, published: true },
  { name: 'a certificate without end', path: '/cert', play: endless, code: 'bad_answer', message: /larger than 256 KB/, published: true },
];

for (const { name, path, play, code, message, published = false } of LIES) {
  test(`an authority gives ${name}`, async (t) => {
    const { authority, account, played, actions, order: ordered } = await start(t);
    played.plays.set(path, play);
    const own = new OwnClock();
    const error = await failureOf(authority.issue(account, ordered()));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /[\p{Cc}]/u);
    assert.ok(own.ms < 4_000, 'it did not come to the end of patience');
    assert.deepEqual(actions, published ? [`publish ${NAME}`, `withdraw ${NAME}`] : []);
  });
}

test('ten nonces in a row are tried, and no more', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  played.plays.set('/orders', (_, response) => sendProblem(response, { status: 400, type: 'badNonce', detail: '' }));
  await failureOf(authority.issue(account, ordered()));
  assert.equal(played.asked.filter(({ path }) => path === '/orders').length, 10);
});

test('an authority by TLS names no plain addresses, not on this machine either', async (t) => {
  const played = await playAuthority(t, { tls: true });
  const folder = mkdtempSync(join(tmpdir(), 'culvert-acme-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, played.ca.root);
  const { directoryUrl } = played;
  const authority = new AcmeAuthority({ directoryUrl, caFile, eab: null, log: silentLog, clock: systemClock });
  const account = await authority.register({ email: null, signal: t.signal });
  assert.equal(account.accountUrl, `${played.url}/account/1`);
  for (const newNonce of ['http://127.0.0.1:9/', 'https://user:password@localhost/']) {
    played.plays.set('/dir', withJson(directoryAt(newNonce)));
    const error = await failureOf(authority.register({ email: null, signal: t.signal }));
    assert.match(error.message, /not an https URL/);
  }
});

test('a verdict that never comes is waited for so long and no longer', async (t) => {
  const { authority, account, played, actions, order: ordered } = await start(t, 3_000);
  played.plays.set('/challenge/0', (_, response) => {
    // From here on it says "pending" and "ask at once".
    played.plays.set('/authz/0', (asked, answer) => authorization({})(asked, answer.setHeader('retry-after', '0')));
    sendJson(response, {});
  });
  const error = await failureOf(authority.issue(account, ordered()));
  assert.equal(error.code, 'timeout');
  assert.match(error.message, /took too long for the validation of shop\.example\.test/);
  assert.deepEqual(actions, [`publish ${NAME}`, `withdraw ${NAME}`]);
  const looks = played.asked.filter(({ path }) => path === '/authz/0').length;
  assert.ok(looks >= 3 && looks <= 16, `${looks} looks`);
});

const SLOW: Readonly<Record<string, Play>> = {
  'says nothing': () => undefined,
  'sends a byte at a time': (_, response) => {
    response.setHeader('content-type', 'application/json');
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
};

for (const [name, play] of Object.entries(SLOW)) {
  test(`an authority that ${name} is waited for so long and no longer`, async (t) => {
    const { authority, played } = await start(t, 300);
    played.plays.set('/dir', play);
    const own = new OwnClock();
    const error = await failureOf(authority.register({ email: null, signal: t.signal }));
    assert.equal(error.code, 'timeout');
    assert.match(error.message, /did not respond in time/);
    assert.ok(own.ms < 3_000, `${own.ms} ms`);
  });
}

test('acme: an absent authority is reported at once', async (t) => {
  const port = await freePort();
  const directoryUrl = `http://127.0.0.1:${port}/dir`;
  const options = { directoryUrl, caFile: null, eab: null, log: silentLog, clock: systemClock };
  const own = new OwnClock();
  const error = await failureOf(new AcmeAuthority(options).register({ email: null, signal: t.signal }));
  assert.equal(error.code, 'network');
  assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port} is unreachable: .*ECONNREFUSED`));
  assert.ok(own.ms < 2_000, `${own.ms} ms`);
});

test('acme: a server of another protocol is reported as such', async (t) => {
  const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  for (const scheme of ['http', 'https']) {
    const directoryUrl = `${scheme}://127.0.0.1:${address.port}/dir`;
    const options = { directoryUrl, caFile: null, eab: null, log: silentLog, clock: systemClock };
    const error = await failureOf(new AcmeAuthority(options).register({ email: null, signal: t.signal }));
    assert.equal(error.code, 'network', error.message);
  }
});

const REFUSED_NAMES = {
  nothing: [],
  'a wildcard without dns-01': ['*.example.test'],
  'a name in capitals': ['Shop.example.test'],
  'an address': ['192.0.2.1'],
  'a wildcard in the middle': ['a.*.example.test'],
  'a name twice': [NAME, NAME],
};

for (const [name, names] of Object.entries(REFUSED_NAMES)) {
  test(`${name} is refused before the authority hears of it`, async (t) => {
    const { authority, account, played, order: ordered } = await start(t);
    const error = await failureOf(authority.issue(account, ordered({ names })));
    assert.equal(error.code, 'rejectedIdentifier');
    assert.deepEqual(
      played.asked.filter(({ path }) => path === '/orders'),
      [],
    );
  });
}

test('a solver that fails ends the order, and all answers are taken back', async (t) => {
  const { authority, account, order: ordered } = await start(t);
  const actions: string[] = [];
  const solver: AcmeOrder['solver'] = {
    publish: async ({ name }) => {
      actions.push(`publish ${name}`);
      if (name === 'b.test') throw new Error('no room\nat all');
      // Never done: the other's failure must be enough.
      await new Promise(() => undefined);
    },
    withdraw: async ({ name }) => {
      actions.push(`withdraw ${name}`);
      throw new Error('that too');
    },
  };
  const error = await failureOf(authority.issue(account, ordered({ names: ['a.test', 'b.test'], solver })));
  assert.equal(error.code, 'challenge_failed');
  assert.equal(error.message, 'the challenge response for b.test could not be published: no room at all');
  assert.deepEqual(actions, ['publish a.test', 'publish b.test', 'withdraw a.test', 'withdraw b.test']);
});

test('acme: an order stopped before its start sends no request', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  const error = await failureOf(authority.issue(account, ordered({ signal: AbortSignal.abort() })));
  assert.equal(error.code, 'aborted');
  assert.deepEqual(played.asked, []);
});

test('acme: a closed account is reported as absent, and a valid one is not', async (t) => {
  const refused: Play = (_, response) =>
    sendProblem(response, {
      status: 401,
      type: 'unauthorized',
      detail: 'account is not valid, has status deactivated',
    });
  for (const [account, code] of [
    [refused, 'accountDoesNotExist'],
    [withJson({ status: 'deactivated' }), 'accountDoesNotExist'],
    [withJson({ status: 'valid' }), 'unauthorized'],
    [withJson([]), 'unauthorized'],
  ] as const) {
    const fixture = await start(t);
    fixture.played.plays.set('/orders', refused);
    fixture.played.plays.set('/account/1', account);
    const failure = await failureOf(fixture.authority.issue(fixture.account, fixture.order()));
    assert.deepEqual([failure.code, fixture.actions], [code, []]);
    assert.match(failure.message, /has status deactivated/);
  }
});
