/** The two paths that a tunnel with a visitor gate keeps for itself: where a sign-in comes back, and where it ends. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { nonceHashOf, openPass, sealTicket, type VisitorTicket } from '../../../plane/visitor-tokens.ts';
import { idOf, VISITOR_KEY } from '../../fixtures/link.ts';
import { httpOrigin, type Reply, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const KEY = Buffer.from(VISITOR_KEY, 'base64url');
const PAGE = 'Accept: text/html';
const NONCE = 'n'.repeat(22);
const NO_BODY = 'Content-Length: 0';
const HAS_NONCE = `Cookie: culvert_nonce=${NONCE}`;
const GATE = { version: '1', signInUrl: `http://api.test/edge-auth/start?tunnel_id=${idOf('shop')}` };

let tickets = 0;
function ticket(over: Partial<VisitorTicket> = {}): string {
  const sealed = sealTicket(KEY, {
    tunnelId: idOf('shop'),
    version: '1',
    host: 'shop.example.test',
    email: 'ann@example.test',
    expiresAt: Date.now() + 60_000,
    id: String(++tickets),
    nonceHash: nonceHashOf(NONCE),
    again: false,
    path: '/orders?open=1',
    ...over,
  });
  return `/.culvert/visitor?ticket=${sealed}`;
}

async function gated(t: TestContext) {
  const rig = await Rig.start(t);
  const asked: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(request.url ?? '');
    response.end('hello');
  });
  for (const name of ['shop', 'open']) await rig.serve(name, origin.port);
  rig.route('shop', { visitorGate: GATE });
  return { rig, wire: await rig.visit(), asked };
}

async function ask(wire: Wire, line: string, ...fields: string[]): Promise<Reply> {
  wire.ask(line, ...fields);
  return wire.response(line.startsWith('HEAD'));
}

const fieldOf = ({ head }: Reply, name: string): string | undefined =>
  new RegExp(`\\r\\n${name}: (.*)\\r\\n`, 'i').exec(head)?.[1];
const codeOf = (reply: Reply): string => `${reply.status} ${fieldOf(reply, 'culvert-error') ?? ''}`.trim();
const passIn = ({ head }: Reply): string | undefined => /set-cookie: culvert_visitor=([^;]+)/i.exec(head)?.[1];

test(
  'a ticket signs in the browser that began: a cookie of this host alone, and back to where it wanted to go',
  WITHIN,
  async (t) => {
    const { wire, asked } = await gated(t);
    const reply = await ask(wire, `GET ${ticket()}`, PAGE, HAS_NONCE);
    assert.deepEqual([codeOf(reply), fieldOf(reply, 'Location')], ['303 signed_in', '/orders?open=1']);
    assert.match(
      fieldOf(reply, 'Set-Cookie') ?? '',
      /^culvert_visitor=[\w.-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Lax$/,
    );
    assert.equal(fieldOf(reply, 'Referrer-Policy'), 'no-referrer');
    assert.equal(fieldOf(reply, 'Cache-Control'), 'no-store');
    const pass = passIn(reply) ?? '';
    const browser =
      /\r\nSet-Cookie: culvert_browser=([\w-]{22}); Path=\/; Max-Age=28800; HttpOnly; SameSite=Lax\r\n/.exec(
        reply.head,
      );
    const { expiresAt, ...rest } = openPass(KEY, pass) ?? assert.fail(pass);
    assert.deepEqual(rest, {
      tunnelId: idOf('shop'),
      version: '1',
      host: 'shop.example.test',
      email: 'ann@example.test',
      browserHash: nonceHashOf(browser?.[1] ?? ''),
    });
    assert.ok(Math.abs(expiresAt - Date.now() - 8 * 3_600_000) < 60_000);
    assert.equal((await ask(wire, 'GET /', `Cookie: culvert_visitor=${pass}`)).status, 200);
    assert.deepEqual(asked, ['/']);
  },
);

test('over https the cookie is Secure, and so is its nonce', WITHIN, async (t) => {
  const { rig } = await gated(t);
  const tls = await rig.visit({ tls: true });
  const reply = await ask(tls, `GET ${ticket()}`, PAGE, `Cookie: __Host-culvert_nonce=${NONCE}`);
  assert.match(fieldOf(reply, 'Set-Cookie') ?? '', /^culvert_visitor=.*; Secure$/);
  assert.match(reply.head, /\r\nSet-Cookie: __Host-culvert_browser=[\w-]{22}; Path=\/; .*; Secure\r\n/);
  // One that a neighbour can plant is none here.
  assert.equal(codeOf(await ask(tls, `GET ${ticket()}`, PAGE, HAS_NONCE)), '302 sign_in');
});

test(
  'where the public address is https a ticket and a sign-out over plain http do nothing but lead there',
  WITHIN,
  async (t) => {
    const { rig, wire } = await gated(t);
    rig.route('shop', { visitorGate: GATE, publicUrl: 'https://shop.example.test' });
    for (const path of [ticket(), '/.culvert/sign-out']) {
      const reply = await ask(wire, `GET ${path}`, PAGE, HAS_NONCE);
      assert.deepEqual(
        [codeOf(reply), fieldOf(reply, 'Location')],
        ['302 sign_in', `https://shop.example.test${path}`],
      );
      assert.equal(/set-cookie/i.test(reply.head), false);
    }
  },
);

test("visitor login: another browser's ticket starts the login again, once", WITHIN, async (t) => {
  const { wire } = await gated(t);
  for (const [what, shown, ...fields] of [
    ['no nonce', ticket()],
    ['another nonce', ticket(), `Cookie: culvert_nonce=${'m'.repeat(22)}`],
    ['started without one', ticket({ nonceHash: '' }), HAS_NONCE],
    ['an empty one', ticket({ nonceHash: nonceHashOf('') })],
  ] as const) {
    const reply = await ask(wire, `GET ${shown}`, PAGE, ...fields);
    assert.equal(codeOf(reply), '302 sign_in', what);
    assert.equal(passIn(reply), undefined, what);
    const { searchParams } = new URL(fieldOf(reply, 'Location') ?? '');
    assert.equal(searchParams.get('again'), '1', what);
    assert.equal(searchParams.get('return_to'), 'http://shop.example.test/orders?open=1', what);
  }
  const reply = await ask(wire, `GET ${ticket({ again: true })}`, PAGE);
  assert.equal(codeOf(reply), '403 sign_in_failed');
  assert.match(reply.body, /Allow cookies for this site/);
});

test('visitor login: a used, expired or foreign ticket (tunnel, host, version) is refused', WITHIN, async (t) => {
  const { wire } = await gated(t);
  const used = ticket();
  assert.equal(codeOf(await ask(wire, `HEAD ${used}`, PAGE, HAS_NONCE)), '302 sign_in');
  assert.equal(codeOf(await ask(wire, `GET ${used}`, PAGE, HAS_NONCE)), '303 signed_in');
  for (const [what, shown] of [
    ['used', used],
    ['run out', ticket({ expiresAt: Date.now() - 1 })],
    ['another tunnel', ticket({ tunnelId: idOf('open') })],
    ['another host', ticket({ host: 'open.example.test' })],
    ['another version', ticket({ version: '0' })],
    ['cut', ticket().slice(0, -1)],
    ['empty', '/.culvert/visitor?ticket='],
    ['none', '/.culvert/visitor'],
  ] as const) {
    const reply = await ask(wire, `GET ${shown}`, PAGE, HAS_NONCE);
    assert.equal(codeOf(reply), '403 sign_in_failed', what);
    assert.equal(passIn(reply), undefined, what);
    assert.match(reply.body, /<a class="button" href="\/">Open the site again<\/a>/);
  }
});

test('who is in goes on, whatever ticket is shown', WITHIN, async (t) => {
  const { wire } = await gated(t);
  const used = ticket();
  const pass = passIn(await ask(wire, `GET ${used}`, PAGE, HAS_NONCE)) ?? '';
  const withPass = `Cookie: culvert_visitor=${pass}`;
  for (const [shown, to] of [
    [used, '/orders?open=1'],
    [ticket(), '/orders?open=1'],
    ['/.culvert/visitor?ticket=junk', '/'],
  ] as const) {
    const reply = await ask(wire, `GET ${shown}`, PAGE, withPass);
    assert.deepEqual([codeOf(reply), fieldOf(reply, 'Location')], ['303 signed_in', to], shown);
    assert.equal(/set-cookie/i.test(reply.head), false);
  }
});

test('visitor login: a ticket leads to this host alone, whatever its path', WITHIN, async (t) => {
  const { wire } = await gated(t);
  for (const path of ['//evil.test', '/\\evil.test', 'https://evil.test/', '/a\r\nSet-Cookie: x=1', '@evil.test', '']) {
    const reply = await ask(wire, `GET ${ticket({ path })}`, PAGE, HAS_NONCE);
    assert.deepEqual([codeOf(reply), fieldOf(reply, 'Location')], ['303 signed_in', '/'], path);
  }
});

test(
  'visitor logout: the person and the tunnel’s own page log out at once, other pages need a confirmation',
  WITHIN,
  async (t) => {
    const { wire } = await gated(t);
    const own = 'Origin: http://shop.example.test';
    for (const [line, ...fields] of [
      ['GET /.culvert/sign-out?x=1', PAGE, 'Sec-Fetch-Site: none'],
      ['GET /.culvert/sign-out', PAGE, 'Sec-Fetch-Site: same-origin'],
      ['POST /.culvert/sign-out', NO_BODY, 'Sec-Fetch-Site: Same-Origin', 'Origin: null'],
      // Of a browser that says no more: an older one, or any over plain http.
      ['POST /.culvert/sign-out', NO_BODY, own],
    ] as const) {
      const reply = await ask(wire, line, ...fields);
      assert.equal(codeOf(reply), '200 signed_out', [line, ...fields].join());
      for (const name of ['culvert_visitor', 'culvert_nonce', 'culvert_browser'])
        assert.ok(reply.head.includes(`\r\nSet-Cookie: ${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax\r\n`), name);
    }
    for (const [line, ...fields] of [
      ['GET /.culvert/sign-out', 'Sec-Fetch-Site: cross-site'],
      ['GET /.culvert/sign-out', 'Sec-Fetch-Site: Same-Site'],
      ['GET /.culvert/sign-out'],
      ['GET /.culvert/sign-out', own],
      ['GET /.culvert/sign-out', 'Referer: http://evil.test/'],
      ['POST /.culvert/sign-out', NO_BODY],
      ['POST /.culvert/sign-out', NO_BODY, 'Origin: http://evil.test'],
      ['POST /.culvert/sign-out', NO_BODY, 'Origin: http://open.example.test'],
      ['POST /.culvert/sign-out', NO_BODY, 'Origin: null'],
      ['POST /.culvert/sign-out', NO_BODY, 'Sec-Fetch-Site: same-site', own],
    ] as const) {
      const reply = await ask(wire, line, PAGE, ...fields);
      assert.equal(codeOf(reply), '200 sign_out', [line, ...fields].join());
      assert.equal(/set-cookie/i.test(reply.head), false);
      assert.match(reply.body, /<form method="post" action="\/\.culvert\/sign-out"><button>Log out<\/button>/);
      // Or the button's request would say "null" for the page that it is on; and another page may not put it under a person's hand.
      assert.equal(fieldOf(reply, 'Referrer-Policy'), 'same-origin');
      assert.equal(fieldOf(reply, 'X-Frame-Options'), 'DENY');
    }
  },
);

test('planted cookies hide neither pass nor nonce', WITHIN, async (t) => {
  const { wire } = await gated(t);
  const planted = (name: string, value: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name}=${value}${i}`).join('; ');
  const nonces = planted('culvert_nonce', 'x'.repeat(20), 90);
  const reply = await ask(wire, `GET ${ticket()}`, PAGE, `Cookie: ${nonces}; culvert_nonce=${NONCE}`);
  assert.equal(codeOf(reply), '303 signed_in');
  const pass = passIn(reply) ?? '';
  for (const junk of [planted('culvert_visitor', 'x', 1_000), planted('culvert_visitor', pass.slice(0, -2), 70)])
    assert.equal((await ask(wire, 'GET /a/b/c', `Cookie: ${junk}; culvert_visitor=${pass}`)).status, 200);
});

test('visitor login: a browser without cookies gets an error instead of a redirect loop', WITHIN, async (t) => {
  const { rig, wire, asked } = await gated(t);
  assert.equal(codeOf(await ask(wire, 'GET /', PAGE, HAS_NONCE)), '302 sign_in');
  const pass = passIn(await ask(wire, `GET ${ticket()}`, PAGE, HAS_NONCE)) ?? '';
  const lost = await ask(wire, 'GET /orders', PAGE, `${HAS_NONCE}; culvert_visitor=junk`);
  assert.equal(codeOf(lost), '403 sign_in_failed');
  assert.equal(fieldOf(lost, 'Location'), undefined);
  assert.match(lost.body, /Delete the cookies of this site and of its parent domains/);
  // Others, its own scripts, and the browser once it shows its pass, find all as ever; so does a visitor after a logout or a changed gate.
  assert.equal(codeOf(await ask(wire, 'GET /', PAGE)), '302 sign_in');
  assert.equal(codeOf(await ask(wire, 'GET /', HAS_NONCE)), '401 unauthorized');
  assert.equal((await ask(wire, 'GET /', PAGE, `${HAS_NONCE}; culvert_visitor=${pass}`)).status, 200);
  rig.route('shop', { visitorGate: { ...GATE, version: '2' } });
  assert.equal(codeOf(await ask(wire, 'GET /', PAGE, HAS_NONCE)), '302 sign_in');
  assert.deepEqual(asked, ['/']);
});

test('no method on these paths reaches the service, with a pass either', WITHIN, async (t) => {
  const { wire, asked } = await gated(t);
  const pass = passIn(await ask(wire, `GET ${ticket()}`, PAGE, HAS_NONCE)) ?? '';
  for (const [line, without, within] of [
    [`HEAD ${ticket()}`, '302 sign_in', '303 signed_in'],
    [`DELETE ${ticket()}`, '401 unauthorized', '303 signed_in'],
    ['HEAD /.culvert/sign-out', '200 sign_out', '200 sign_out'],
    ['DELETE /.culvert/sign-out', '200 sign_out', '200 sign_out'],
  ] as const) {
    assert.equal(codeOf(await ask(wire, line, PAGE)), without, line);
    const reply = await ask(wire, line, PAGE, `Cookie: culvert_visitor=${pass}`);
    assert.equal(codeOf(reply), within, line);
    assert.equal(/set-cookie/i.test(reply.head), false, line);
  }
  assert.deepEqual(asked, []);
});

test(
  'visitor login: a rule against hidden paths does not block it, blocked addresses stay blocked',
  WITHIN,
  async (t) => {
    const { rig, wire } = await gated(t);
    const hidden = { kind: 'deny' as const, pathPrefix: '/.', enforce: true };
    rig.route('shop', { visitorGate: GATE, policy: { actions: [hidden], setAt: 0 } });
    assert.equal(codeOf(await ask(wire, `GET ${ticket()}`, PAGE, HAS_NONCE)), '303 signed_in');
    assert.equal(codeOf(await ask(wire, 'GET /.git', PAGE)), '403 denied');
    const kept = { kind: 'ip_deny' as const, networks: ['127.0.0.1'], enforce: true };
    rig.route('shop', { visitorGate: GATE, policy: { actions: [kept], setAt: 0 } });
    assert.equal(codeOf(await ask(wire, `GET ${ticket()}`, PAGE, HAS_NONCE)), '403 denied');
  },
);

test(
  'the paths are the service’s own where there is no gate, and all that is not exactly one of them',
  WITHIN,
  async (t) => {
    const { wire, asked } = await gated(t);
    const pass = passIn(await ask(wire, `GET ${ticket()}`, PAGE, HAS_NONCE)) ?? '';
    const open = ['/.culvert/visitor?ticket=x', '/.culvert/sign-out'];
    for (const path of open)
      assert.equal((await ask(wire, `GET ${path}`, 'Host: open.example.test', PAGE)).status, 200);
    const others = [
      '/.culvert/',
      '/.culvert/visitors',
      '/.culvert/visitor/x',
      '/x/.culvert/visitor',
      '/.culvert/sign-outs',
    ];
    for (const path of others) {
      assert.equal(codeOf(await ask(wire, `GET ${path}`, PAGE)), '302 sign_in', path);
      assert.equal((await ask(wire, `GET ${path}`, PAGE, `Cookie: culvert_visitor=${pass}`)).status, 200, path);
    }
    assert.deepEqual(asked, [...open, ...others]);
  },
);
