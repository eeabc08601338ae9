/** Visitor login: cookies that browsers show, cookies that others plant, and the identity that a service gets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  sealPass,
  sealTicket,
  nonceHashOf,
  TICKET_PATH,
  type VisitorPass,
  type VisitorTicket,
} from '../../src/plane/visitor-tokens.ts';
import type { PolicyAction } from '../../src/plane/policy.ts';
import { idOf, VISITOR_KEY } from '../../src/data/fixtures/link.ts';
import { answersIn, edgeFixture, request, say, type Seen } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const edge = edgeFixture();
const KEY = Buffer.from(VISITOR_KEY, 'base64url');
const PAGE = ['Accept: text/html,*/*;q=0.8', 'Sec-Fetch-Mode: navigate'];
const NONCE = 'n'.repeat(22);

const gateOf = (name: string, version = '1') => ({
  visitorGate: { version, signInUrl: `http://api.test/edge-auth/start?tunnel_id=${idOf(name)}` },
});
const WHO = {
  ...{ tunnelId: idOf('shop'), version: '1', host: 'shop.example.test', email: 'ann@example.test' },
  expiresAt: Date.now() + 60_000,
};
const PASS: VisitorPass = { ...WHO, browserHash: '' };
const pass = (over: Partial<VisitorPass> = {}, key = KEY): string =>
  `culvert_visitor=${sealPass(key, { ...PASS, ...over })}`;
const ticket = (over: Partial<VisitorTicket> = {}, key = KEY): string =>
  `${TICKET_PATH}?ticket=${sealTicket(key, { ...WHO, id: crypto.randomUUID(), nonceHash: nonceHashOf(NONCE), again: true, path: '/', ...over })}`;

/** `shop` and `shed` ask who comes. */
function gate(): void {
  edge().rig.route('shop', gateOf('shop'));
  edge().rig.route('shed', gateOf('shed'));
}
async function visit(
  line: string,
  ...fields: string[]
): Promise<{ answer: string; text: string; seen: readonly Seen[] }> {
  const text = await say(edge().rig.port, request(line, ...fields));
  return { answer: answersIn(text).join(), text, seen: edge().take() };
}
/** With this Cookie line, at `shop`. */
const shown = (cookie: string, ...fields: string[]) => visit('GET /', `Cookie: ${cookie}`, ...fields);
async function isKeptOut(what: string, cookie: string, ...fields: string[]): Promise<void> {
  const { answer, seen } = await shown(cookie, ...fields);
  assert.deepEqual([answer, seen], ['401 unauthorized', []], what);
}

test('zrok 0.4.20: what a visitor has shown one tunnel counts on no other, nor after a change', WITHIN, async () => {
  gate();
  assert.equal((await shown(pass())).answer, '200');
  await isKeptOut('on another tunnel', pass(), 'Host: shed.example.test');
  await isKeptOut('of another tunnel', pass({ tunnelId: idOf('shed'), host: 'shed.example.test' }));
  edge().rig.route('shop', gateOf('shop', '2'));
  await isKeptOut('of the gate before', pass());
  gate();
});

test('NetBird WrongDomainCookieIsRejected: a pass for another host of the same tunnel is none', WITHIN, async () => {
  for (const host of [
    'shop.example.net',
    'example.test',
    '.shop.example.test',
    'shop.example.test:80',
    'SHOP.example.test',
    '',
  ])
    await isKeptOut(host, pass({ host }));
  edge().rig.route('shop', { ...gateOf('shop'), domains: ['shop.example.net'] });
  await isKeptOut('at a domain of its own', pass(), 'Host: shop.example.net');
  assert.equal((await shown(pass({ host: 'shop.example.net' }), 'Host: shop.example.net')).answer, '200');
  gate();
});

test(
  'NetBird WrongKeyCookieIsRejected: a pass of another key, another kind or without a signature is none',
  WITHIN,
  async () => {
    const [payload = '', mac = ''] = pass().split('=').at(-1)?.split('.') ?? [];
    const other = Buffer.from(JSON.stringify({ ...PASS, email: 'root@example.test' })).toString('base64url');
    for (const [what, cookie] of Object.entries({
      'another key': pass({}, Buffer.alloc(32, 9)),
      'an empty key': pass({}, Buffer.alloc(0)),
      'a ticket': `culvert_visitor=${ticket().split('ticket=')[1]}`,
      'another payload': `culvert_visitor=${other}.${mac}`,
      'no signature': `culvert_visitor=${payload}.`,
      'payload alone': `culvert_visitor=${payload}`,
      'quotes around it': `culvert_visitor="${payload}.${mac}"`,
      'another name': pass().replace('culvert_visitor', 'Culvert_Visitor'),
      'a prefix': pass().replace('culvert_visitor', '__Host-culvert_visitor'),
      nothing: 'culvert_visitor=',
      much: `culvert_visitor=${'A'.repeat(20_000)}`,
    }))
      await isKeptOut(what, cookie);
  },
);

test('NetBird ExpiredSessionCookieIsRejected: a pass that has run out is none', WITHIN, async () => {
  for (const expiresAt of [Date.now() - 1, 0, -1]) await isKeptOut(String(expiresAt), pass({ expiresAt }));
});

test('NetBird FailedAuthDoesNotSetCookie: a sign-in that fails sets no pass', WITHIN, async () => {
  const nonce = `Cookie: culvert_nonce=${NONCE}`;
  for (const [what, path, ...fields] of [
    ['a wrong key', ticket({}, Buffer.alloc(32, 9)), nonce],
    ['run out', ticket({ expiresAt: Date.now() - 1 }), nonce],
    ['another tunnel', ticket({ tunnelId: idOf('shed') }), nonce],
    ['another host', ticket({ host: 'shed.example.test' }), nonce],
    ['another version', ticket({ version: '0' }), nonce],
    ['another browser', ticket(), `Cookie: culvert_nonce=${'x'.repeat(22)}`],
    ['no browser', ticket()],
    ['begun by no browser', ticket({ nonceHash: '' }), 'Cookie: culvert_nonce='],
    ['a pass for a ticket', `${TICKET_PATH}?ticket=${sealPass(KEY, PASS)}`, nonce],
    ['nothing', TICKET_PATH, nonce],
  ] as const) {
    const { answer, text, seen } = await visit(`GET ${path}`, ...PAGE, ...fields);
    assert.doesNotMatch(text, /set-cookie: *culvert_visitor/i, what);
    assert.notEqual(answer, '302 signed_in', what);
    assert.deepEqual(seen, [], what);
  }
  const good = ticket();
  assert.match(
    (await visit(`GET ${good}`, ...PAGE, nonce)).text,
    /\r\nSet-Cookie: culvert_visitor=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax\r\n/,
  );
  assert.doesNotMatch((await visit(`GET ${good}`, ...PAGE, nonce)).text, /set-cookie: *culvert_visitor/i, 'used twice');
});

test(
  'NetBird SessionCookieStripping, SessionTokenQueryStripping: the service gets neither pass nor ticket',
  WITHIN,
  async () => {
    for (const cookie of [
      pass(),
      `a=1; ${pass()}; b=2`,
      `${pass()};a=1`,
      `culvert_nonce=${NONCE}; ${pass()}`,
      `${pass()}; =culvert_visitor=x; CULVERT_VISITOR=y`,
    ]) {
      const { answer, seen } = await shown(cookie);
      assert.equal(answer, '200', cookie);
      assert.doesNotMatch(JSON.stringify(seen[0]?.headers), /culvert_(visitor|nonce)/i);
      assert.equal(seen[0]?.headers.cookie, /a=1/.test(cookie) ? (/b=2/.test(cookie) ? 'a=1; b=2' : 'a=1') : undefined);
    }
    const nonce = `Cookie: culvert_nonce=${NONCE}`;
    const landed = await visit(`GET ${ticket({ path: '/orders?x=1' })}`, ...PAGE, nonce);
    assert.match(landed.text, /\r\nLocation: \/orders\?x=1\r\n/);
    assert.match(landed.text, /\r\nReferrer-Policy: no-referrer\r\n/);
    assert.deepEqual(landed.seen, []);
  },
);

test(
  'NetBird StampIdentity: the service gets the identity from the edge alone, in one line that no visitor can extend',
  WITHIN,
  async () => {
    const spoofed = [
      'Culvert-Visitor-Email: root@example.test',
      'culvert_visitor_email: root@example.test',
      'CULVERT-VISITOR-EMAIL: root@example.test',
    ];
    const { seen } = await shown(pass(), ...spoofed);
    const { headers } = seen[0] ?? assert.fail();
    assert.deepEqual(
      [headers['culvert-visitor-email'], headers['culvert_visitor_email']],
      ['ann@example.test', undefined],
    );
    const named = await shown(pass(), 'Connection: Culvert-Visitor-Email', ...spoofed);
    assert.ok(named.seen.length === 0 || named.seen[0]?.headers['culvert-visitor-email'] === 'ann@example.test');
    const trailer = await say(
      edge().rig.port,
      `${request('POST /', `Cookie: ${pass()}`, 'Transfer-Encoding: chunked', 'Trailer: Culvert-Visitor-Email')}0\r\nCulvert-Visitor-Email: root@example.test\r\n\r\n`,
    );
    assert.deepEqual(answersIn(trailer), ['200']);
    assert.equal(edge().take()[0]?.headers['culvert-visitor-email'], 'ann@example.test');
    // Of one connection each request has its own visitor, and a tunnel without a gate has none.
    edge().rig.route('shed');
    const two =
      request('GET /', `Cookie: ${pass()}`) +
      request('GET /', 'Host: shed.example.test', ...spoofed) +
      request('GET /', `Cookie: ${pass({ email: 'bob@example.test' })}`);
    assert.deepEqual(answersIn(await say(edge().rig.port, two)), ['200', '200', '200']);
    assert.deepEqual(
      edge()
        .take()
        .map((one) => one.headers['culvert-visitor-email']),
      ['ann@example.test', undefined, 'bob@example.test'],
    );
    gate();
  },
);

test('zrok 2.0.3: whatever a client says that it is, it is asked who it is', WITHIN, async () => {
  for (const agent of [
    'curl/8',
    'Mozilla/5.0',
    'Googlebot/2.1',
    'ELB-HealthChecker/2.0',
    'culvert/1',
    'ngrok',
    '',
    "Let's Encrypt validation server",
  ]) {
    for (const fields of [
      [],
      PAGE,
      ['X-Requested-With: XMLHttpRequest'],
      ['ngrok-skip-browser-warning: 1'],
      ['Upgrade: websocket', 'Connection: Upgrade'],
      ['Purpose: prefetch'],
    ]) {
      const { answer, seen } = await visit('GET /', `User-Agent: ${agent}`, ...fields);
      assert.match(answer, /^(401 unauthorized|302 sign_in)$/, agent);
      assert.deepEqual(seen, []);
    }
  }
  for (const method of ['HEAD', 'POST', 'OPTIONS', 'PROPFIND', 'TRACE', 'GEX']) {
    const { answer, seen } = await visit(`${method} /`);
    assert.match(answer, /^(401 unauthorized|302 sign_in)$/, method);
    assert.deepEqual(seen, []);
  }
});

test(
  'class 4 cookies: a redirect to sign in leads to the API and back to this host, whatever a path says',
  WITHIN,
  async () => {
    for (const path of [
      '//evil.test/',
      '/\\evil.test',
      '/%0d%0aSet-Cookie:x=1',
      '/.culvert/visitor/../x',
      '/a?next=https://evil.test',
      '/"><script>',
    ]) {
      const { text } = await visit(`GET ${path}`, ...PAGE);
      const location = new URL(/\r\nLocation: (\S+)\r\n/.exec(text)?.[1] ?? '');
      assert.equal(location.origin, 'http://api.test', path);
      const back = new URL(location.searchParams.get('return_to') ?? '');
      assert.equal(back.host, 'shop.example.test', path);
      assert.equal(text.match(/\r\nSet-Cookie:/gi)?.length, 1, path);
    }
    for (const path of ['//evil.test', '/\\evil.test', 'https://evil.test', '/.culvert/sign-out']) {
      const { text } = await visit(`GET ${ticket({ path })}`, ...PAGE, `Cookie: culvert_nonce=${NONCE}`);
      assert.match(text, /\r\nLocation: \/\r\n/, path);
    }
  },
);

test('class 4 cookies: other gates are asked as well, and none of them stands in for another', WITHIN, async () => {
  const actions: PolicyAction[] = [{ kind: 'deny', pathPrefix: '/admin', enforce: true }];
  edge().rig.route('shop', { ...gateOf('shop'), policy: { setAt: 1, actions } });
  assert.equal((await visit('GET /admin', `Cookie: ${pass()}`)).answer, '403 denied');
  assert.equal((await visit('GET /.culvert/../admin', `Cookie: ${pass()}`)).answer, '403 denied');
  assert.equal((await visit('GET /.culvert/visitor/../../x')).answer, '401 unauthorized');
  assert.equal((await visit('GET http://shop.example.test/', `Cookie: ${pass()}`)).answer, '200');
  assert.equal((await visit('GET http://shop.example.test/')).answer, '401 unauthorized');
  edge().rig.route('shop');
  edge().rig.route('shed');
});

test(
  'NetBird OIDCOnPlainHTTP_BlockedWith400: where a site is https nothing of a sign-in goes over plain HTTP',
  WITHIN,
  async () => {
    edge().rig.route('shop', { ...gateOf('shop'), publicUrl: 'https://shop.example.test' });
    const { text, answer } = await visit('GET /orders', PAGE[0] ?? '');
    assert.match(text, /^HTTP\/1\.1 302 [^]*\r\nLocation: https:\/\/shop\.example\.test\/orders\r\n/);
    assert.doesNotMatch(text, /set-cookie/i);
    assert.equal(answer, '302 sign_in');
    assert.equal((await shown(pass())).answer, '401 unauthorized', 'a pass does not count there');
    const landed = await visit(`GET ${ticket()}`, ...PAGE, `Cookie: culvert_nonce=${NONCE}`);
    assert.doesNotMatch(landed.text, /set-cookie/i);
    edge().rig.route('shop');
  },
);
