import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../../src/control/core/testing/harness.ts';
import { OwnClock } from '../harness/own-clock.ts';

let h: Harness;
let stranger = '';
before(async () => {
  h = await startHarness();
  stranger = await h.stranger('other@example.test');
});
after(() => h.close());

const UNKNOWN = '00000000-0000-7000-8000-000000000000';

async function tunnelOf(as: string, body: object = { localPort: 3000 }): Promise<string> {
  const made = await h.call('POST', '/tunnels', { as, body });
  assert.equal(made.status, 201, made.text);
  return String(made.body['id']);
}

test('every route answers 401 to the anonymous, 404 to another organization, and 200 to the right one', async () => {
  const minted = await h.call('POST', '/tokens', { as: h.owner, body: { name: 'ci' } });
  const sessions = [
    {
      agentId: 'a0000000-0000-4000-8000-000000000001',
      orgId: '',
      tokenId: String(minted.body['id']),
      remoteIp: '192.0.2.1',
      hostname: 'laptop',
      version: '0.1.0',
      connectedAt: 0,
      tunnelIds: [],
      uninspectedIds: [],
      networkIds: [],
    },
  ];
  const me = await h.call('GET', '/auth/me', { as: h.owner });
  const org = me.body['active_org'] as { id: string };
  h.node.sessions = sessions.map((one) => ({ ...one, orgId: org.id }));
  const rows: ReadonlyArray<readonly [string, string, unknown?]> = [
    ['GET', `/tunnels/${await tunnelOf(h.owner)}`],
    ['POST', `/tunnels/${await tunnelOf(h.owner)}/start`],
    ['POST', `/tunnels/${await tunnelOf(h.owner)}/stop`],
    ['DELETE', `/tunnels/${await tunnelOf(h.owner)}`],
    ['DELETE', `/tokens/${String(minted.body['nonce'])}`],
    ['DELETE', `/connections/${sessions[0]?.agentId}`],
  ];
  for (const [method, path] of rows) {
    for (const [who, as, status] of [
      ['anonymous', undefined, 401],
      ['a stranger', stranger, 404],
      ['the owner', h.owner, 200],
    ] as const) {
      const answer = await h.call(method, path, as === undefined ? {} : { as });
      assert.equal(answer.status, status, `${method} ${path} by ${who}: ${answer.text}`);
      if (status >= 400) assert.deepEqual(Object.keys(answer.body).sort(), ['error', 'message']);
      if (status === 401) assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    }
  }
  assert.deepEqual(h.node.kicked, [sessions[0]?.agentId]);
  h.node.sessions = [];
});

test('lists hold what belongs to the caller and need a bearer', async () => {
  await tunnelOf(h.owner, { localPort: 1, subdomain: 'mine' });
  await h.call('POST', '/tokens', { as: h.owner, body: { name: 'mine' } });
  for (const path of ['/tunnels', '/tokens', '/connections']) {
    assert.equal((await h.call('GET', path)).status, 401);
    assert.equal((await h.call('GET', path, { as: 'rubbish' })).status, 401);
    const theirs = await h.call('GET', path, { as: stranger });
    assert.deepEqual([theirs.status, theirs.text], [200, '[]']);
  }
  const mine = await h.call('GET', '/tunnels', { as: h.owner });
  assert.equal((mine.body[0] as { subdomain: string }).subdomain, 'mine');
});

test('an id that can be none is 404, not 400', async () => {
  for (const id of ['x', '%20', '%ff', UNKNOWN, "'--", '1'.repeat(200)]) {
    for (const [method, path] of [
      ['GET', `/tunnels/${id}`],
      ['DELETE', `/tunnels/${id}`],
      ['POST', `/tunnels/${id}/start`],
      ['DELETE', `/tokens/${id}`],
      ['DELETE', `/connections/${id}`],
    ] as const) {
      const answer = await h.call(method, path, { as: h.owner });
      assert.deepEqual([answer.status, answer.body['error']], [404, 'not_found'], `${method} ${path}`);
    }
  }
});

test('a tunnel has the fields of the specification and the contract, and those of its state', async () => {
  const made = await h.call('POST', '/tunnels', {
    as: h.owner,
    body: { localPort: 8000, subdomain: 'fields', junk: 1 },
  });
  assert.deepEqual(Object.keys(made.body).sort(), [
    'authEnabled',
    'bytesIn',
    'bytesOut',
    'createdAt',
    'edgeAuthEnabled',
    'endedSessionId',
    'expiresAt',
    'id',
    'localPort',
    'maintenance',
    'online',
    'policyEnabled',
    'projectSlug',
    'protocol',
    'publicUrl',
    'state',
    'stateReason',
    'stateSince',
    'status',
    'stopped',
    'subdomain',
    'totalRequests',
  ]);
  assert.equal(made.body['status'], 'inactive');
  assert.equal(made.body['publicUrl'], 'http://fields.localhost:18080');
  assert.equal(made.body['expiresAt'], null);
  const random = await h.call('POST', '/tunnels', { as: h.owner, body: { localPort: 8000 } });
  assert.match(String(random.body['subdomain']), /^[a-z]+-[a-z]+-\d{4}$/);
});

test('values at, below and above their bounds', async () => {
  const tunnel = (body: object) => h.call('POST', '/tunnels', { as: h.owner, body });
  const token = (body: object) => h.call('POST', '/tokens', { as: h.owner, body });
  const long = 'l'.repeat(63);
  for (const [make, body, status] of [
    [tunnel, { localPort: 0 }, 400],
    [tunnel, { localPort: 1 }, 201],
    [tunnel, { localPort: 65_535 }, 201],
    [tunnel, { localPort: 65_536 }, 400],
    [tunnel, { localPort: 1.5 }, 400],
    [tunnel, { localPort: '80' }, 400],
    [tunnel, {}, 400],
    [tunnel, { localPort: 1, ttlSeconds: 59 }, 400],
    [tunnel, { localPort: 1, ttlSeconds: 60 }, 201],
    [tunnel, { localPort: 1, ttlSeconds: Number.MAX_SAFE_INTEGER }, 201],
    [tunnel, { localPort: 1, protocol: 'udp' }, 400],
    [tunnel, { localPort: 1, subdomain: '' }, 400],
    [tunnel, { localPort: 1, subdomain: 'a' }, 201],
    [tunnel, { localPort: 1, subdomain: long }, 201],
    [tunnel, { localPort: 1, subdomain: `${long}l` }, 400],
    [tunnel, { localPort: 1, subdomain: '-a' }, 400],
    [tunnel, { localPort: 1, subdomain: 'a-' }, 400],
    [tunnel, { localPort: 1, subdomain: 'A' }, 400],
    [tunnel, { localPort: 1, subdomain: 'a.b' }, 400],
    [tunnel, { localPort: 1, subdomain: 'a_b' }, 400],
    [tunnel, { localPort: 1, projectSlug: 'nope' }, 404],
    [tunnel, { localPort: 1, projectSlug: 'default' }, 201],
    [token, { ttlHours: 0 }, 400],
    [token, { ttlHours: 1 }, 200],
    [token, { ttlHours: 1.5 }, 400],
    [token, { tunnelQuota: 0 }, 400],
    [token, { tunnelQuota: 1 }, 200],
    [token, { bandwidthLimitMbps: 0 }, 400],
    [token, { bandwidthLimitMbps: 1 }, 200],
    [token, { allowedSubdomains: [] }, 400],
    [token, { allowedSubdomains: ['*'] }, 200],
    [token, { allowedSubdomains: ['shop', 'pr-*'] }, 200],
    [token, { allowedSubdomains: ['pr*'] }, 400],
    [token, { allowedSubdomains: ['*-pr'] }, 400],
    [token, { allowedSubdomains: ['Shop'] }, 400],
  ] as const) {
    const answer = await make(body);
    assert.equal(answer.status, status, `${JSON.stringify(body)}: ${answer.text}`);
    if (status === 400) {
      assert.equal(answer.body['error'], 'invalid_request');
      assert.ok(Array.isArray(answer.body['details']), answer.text);
    }
  }
});

test('a name that is taken, or the system needs, is 409', async () => {
  const make = (as: string, subdomain: string) => h.call('POST', '/tunnels', { as, body: { localPort: 1, subdomain } });
  assert.equal((await make(h.owner, 'taken')).status, 201);
  for (const [as, name] of [
    [h.owner, 'taken'],
    [stranger, 'taken'],
    [h.owner, 'api'],
    [h.owner, 'www'],
    [h.owner, 'admin'],
    [h.owner, 'app'],
    [h.owner, 'xn--80ak6aa92e'],
  ] as const) {
    const answer = await make(as, name);
    assert.deepEqual([answer.status, answer.body['error']], [409, 'duplicate_name'], name);
    const why = name === 'taken' ? 'taken' : 'reserved by the server';
    assert.equal(answer.body['message'], `${name} is ${why}. Choose another subdomain.`);
  }
});

test('a deleted name rests for strangers but not for those who had it', async () => {
  const id = await tunnelOf(h.owner, { localPort: 1, subdomain: 'resting' });
  assert.equal((await h.call('DELETE', `/tunnels/${id}`, { as: h.owner })).status, 200);
  const body = { localPort: 1, subdomain: 'resting' };
  assert.equal((await h.call('POST', '/tunnels', { as: stranger, body })).status, 409);
  assert.equal((await h.call('POST', '/tunnels', { as: h.owner, body })).status, 201);
});

test('a tunnel of a small plan ends at the plan, whatever was asked for', async () => {
  for (const [ttlSeconds, expected] of [
    [undefined, 3600],
    [60, 60],
    [3600, 3600],
    [3601, 3600],
    [999_999, 3600],
  ] as const) {
    const made = await h.call('POST', '/tunnels', {
      as: stranger,
      body: { localPort: 1, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) },
    });
    const left = Date.parse(String(made.body['expiresAt'])) - Date.parse(String(made.body['createdAt']));
    assert.equal(left, expected * 1000, `asked for ${ttlSeconds}`);
  }
});

test('public TCP ports stick to their tunnel, are given out once, and one organization gets three of four', async () => {
  const ids: string[] = [];
  const ports: string[] = [];
  for (let i = 0; i < 3; i++) {
    const made = await h.call('POST', '/tunnels', { as: h.owner, body: { localPort: 22, protocol: 'tcp' } });
    ids.push(String(made.body['id']));
    ports.push(String(made.body['publicUrl']));
  }
  assert.deepEqual(ports, ['tcp://localhost:20000', 'tcp://localhost:20001', 'tcp://localhost:20002']);
  const none = await h.call('POST', '/tunnels', { as: h.owner, body: { localPort: 22, protocol: 'tcp' } });
  assert.deepEqual([none.status, none.body['error']], [409, 'conflict']);
  for (const action of ['stop', 'start']) {
    assert.equal((await h.call('POST', `/tunnels/${ids[1]}/${action}`, { as: h.owner })).body['publicUrl'], ports[1]);
  }
  for (const id of ids) await h.call('DELETE', `/tunnels/${id}`, { as: h.owner });
});

test('a minted token shows its secrets once, and its times in seconds', async () => {
  const minted = await h.call('POST', '/tokens', { as: h.owner, body: { name: 'long', ttlHours: 9999 } });
  const { body } = minted;
  assert.match(String(body['apiKey']), /^mtk_[0-9A-Za-z]{43}$/);
  assert.match(String(body['nonce']), /^[0-9a-f]{32}$/);
  assert.equal(Number(body['expiresAt']) - Number(body['issuedAt']), 2160 * 3600);
  assert.ok(Math.abs(Number(body['issuedAt']) - Date.now() / 1000) < 60);
  assert.equal(Buffer.from(String(body['wireBytes']), 'base64').length, body['wireBytesLen']);
  assert.deepEqual(
    [
      body['tunnelQuota'],
      body['bandwidthLimitMbps'],
      body['allowedSubdomains'],
      body['version'],
      body['kind'],
      body['revoked'],
    ],
    [5, 100, ['*'], 1, 'agent', false],
  );
  const list = await h.call('GET', '/tokens', { as: h.owner });
  const listed = list.body.find((one) => (one as { nonce: string }).nonce === body['nonce']);
  assert.ok(listed !== undefined);
  for (const secret of ['apiKey', 'wireBytes', 'signature']) assert.ok(!(secret in (listed as object)), secret);
  await h.call('DELETE', `/tokens/${String(body['nonce'])}`, { as: h.owner });
  const again = await h.call('GET', '/tokens', { as: h.owner });
  assert.equal(
    (again.body.find((one) => (one as { nonce: string }).nonce === body['nonce']) as { revoked: boolean }).revoked,
    true,
  );
});

test('what is not right about a request has its own status and one shape', async () => {
  for (const [method, path, options, status, error] of [
    ['GET', '/nope', {}, 404, 'not_found'],
    ['GET', '/nope', { as: h.owner }, 404, 'not_found'],
    ['GET', '/tunnels/', { as: h.owner }, 404, 'not_found'],
    ['PUT', '/tunnels', {}, 405, 'method_not_allowed'],
    ['POST', '/health', {}, 405, 'method_not_allowed'],
    ['POST', '/tunnels', { as: h.owner, raw: '{' }, 400, 'invalid_request'],
    ['POST', '/tunnels', { as: h.owner, raw: '' }, 400, 'invalid_request'],
    ['POST', '/tunnels', { as: h.owner, raw: 'null' }, 400, 'invalid_request'],
    ['POST', '/tunnels', { as: h.owner, raw: '[]' }, 400, 'invalid_request'],
    ['POST', '/tunnels', { as: h.owner }, 400, 'invalid_request'],
    ['POST', '/auth/signup', { raw: '{}', headers: { 'content-type': 'text/plain' } }, 400, 'invalid_request'],
    [
      'POST',
      '/tunnels',
      { as: h.owner, raw: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      400,
      'invalid_request',
    ],
    [
      'POST',
      '/tunnels',
      { as: h.owner, raw: `{"localPort":1,"x":"${'x'.repeat(1 << 20)}"}` },
      413,
      'payload_too_large',
    ],
    ['POST', '/auth/login', { raw: `{"email":"${'x'.repeat(1 << 20)}"}` }, 413, 'payload_too_large'],
    ['POST', '/auth/login', { raw: `{"email":"${'x'.repeat(1 << 16)}"}` }, 413, 'payload_too_large'],
    ['POST', '/auth/login', { raw: `{"email":${'['.repeat(40)}${']'.repeat(40)}}` }, 400, 'invalid_request'],
    ['POST', '/tunnels', { as: h.owner, raw: `{"x":${'['.repeat(200_000)}` }, 400, 'invalid_request'],
  ] as const) {
    const answer = await h.call(method, path, options);
    assert.deepEqual([answer.status, answer.body['error']], [status, error], `${method} ${path}: ${answer.text}`);
    assert.equal(typeof answer.body['message'], 'string');
    if (error === 'invalid_request') assert.match(JSON.stringify(answer.body['details']), /^\[\{"path":.*"message":/);
    assert.ok(!answer.text.includes('    at '), 'no stack');
  }
  assert.equal((await h.call('PUT', '/tunnels')).headers.get('allow'), 'GET, POST');
});

test('a chunked body counts as it comes', async () => {
  const send = async (bytes: number) => {
    let left = bytes;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const size = Math.min(left, 65_536);
        left -= size;
        if (size === 0) controller.close();
        else controller.enqueue(Buffer.alloc(size, 0x20));
      },
    });
    const headers = { authorization: `Bearer ${h.owner}`, 'content-type': 'application/json' };
    const answer = await fetch(`${h.server.apiUrl}/tunnels`, { method: 'POST', headers, body, duplex: 'half' });
    await answer.text();
    return answer.status;
  };
  assert.equal(await send(1 << 20), 400, 'blank, but not too large');
  assert.equal(await send((1 << 20) + 1), 413);
  const own = new OwnClock();
  assert.equal(await send(8 << 20), 413);
  assert.ok(own.ms < 4_000, 'the rest was read, not waited for');
});

test('probes, discovery, keys and the document are public, at / and under /api', async () => {
  for (const prefix of ['', '/api']) {
    for (const path of ['/health', '/ready', '/.well-known/culvert', '/.well-known/jwks.json', '/openapi.json']) {
      assert.equal((await h.call('GET', prefix + path)).status, 200, prefix + path);
    }
    assert.equal((await h.call('GET', `${prefix}/tunnels`)).status, 401);
    assert.equal((await h.call('GET', `${prefix}/tunnels`, { as: h.owner })).status, 200);
  }
  const { status, version, checks } = (await h.call('GET', '/health')).body;
  assert.deepEqual([status, version, Array.isArray(checks)], ['ok', '9.9.9', true]);
  const found = await h.call('GET', '/.well-known/culvert');
  assert.match(String(found.body['agent_fingerprint']), /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual([found.body['agent_address'], found.body['edge_domain']], ['127.0.0.1:17443', 'localhost']);
});

/** Parameters of public routes, which answer 404 by themselves to what is not there. */
const REAL: Readonly<Record<string, string>> = { provider: 'github', file: 'swagger-ui.css', page: 'install' };
/** Named by a build or a release (pages.test.ts, docs-site.test.ts and flows/download.test.ts ask for one), or by a secret (the sharing of requests). */
const UNGUESSABLE = new Set([
  '/app/assets/{file}',
  '/docs/assets/{file}',
  '/download/{file}',
  '/inspector/shared/{token}',
]);

test('the document describes every route, with a bearer wherever one is needed', async () => {
  const { body } = await h.call('GET', '/openapi.json');
  const paths = body['paths'] as Record<string, Record<string, { security?: unknown[]; summary?: string }>>;
  const receiver = { name: 'x', validator: 'github', secret: 'x' };
  const made = await h.call('POST', '/webhook-receivers', { as: h.owner, body: receiver });
  const ids: Readonly<Record<string, string>> = { ...REAL, receiver_id: String(made.body['id']) };
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      assert.ok(operation.summary, `${method} ${path}`);
      const real = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? UNKNOWN);
      const answer = await h.call(method.toUpperCase(), real);
      // Refresh and log-out are public routes that look at a cookie themselves.
      const open = operation.security?.length === 0;
      if (!open) assert.equal(answer.status, 401, `${method} ${path}`);
      if (!UNGUESSABLE.has(path)) assert.notEqual(answer.status, 404, `${method} ${path}`);
    }
  }
  assert.ok(Object.keys(paths).length >= 15);
});

test('start and stop mark the tunnel and tell the data plane', async () => {
  const id = await tunnelOf(h.owner, { localPort: 1 });
  h.node.online.add(id);
  assert.equal((await h.call('GET', `/tunnels/${id}`, { as: h.owner })).body['status'], 'active');
  h.node.online.delete(id);
  const from = h.node.deltas.length;
  const stopped = await h.call('POST', `/tunnels/${id}/stop`, { as: h.owner });
  assert.deepEqual(
    [stopped.body['status'], stopped.body['online'], stopped.body['stopped']],
    ['inactive', false, true],
  );
  assert.equal((await h.call('POST', `/tunnels/${id}/start`, { as: h.owner })).body['status'], 'active');
  await h.call('DELETE', `/tunnels/${id}`, { as: h.owner });
  const told = h.node.deltas.slice(from);
  assert.deepEqual(
    told.map((delta) =>
      delta.kind === 'put' ? ['put', delta.route.stopped] : [delta.kind, 'code' in delta ? delta.code : ''],
    ),
    [
      ['put', true],
      ['put', false],
      ['remove', 'tunnel_deleted'],
    ],
  );
  assert.deepEqual(
    told.map((delta) => delta.version),
    told.map((_, i) => (told[0]?.version ?? 0) + i),
  );
});
