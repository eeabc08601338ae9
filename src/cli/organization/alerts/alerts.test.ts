/** `culvert alerts`: what it asks a server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Program, start } from '../../fixtures/in-process.ts';
import { loggedInAt, type PlayedServer, playServer, refreshWith } from '../../fixtures/played-server.ts';
import { TUNNEL_ITEM } from '../../fixtures/tunnel-item.ts';

const WITHIN = { timeout: 60_000 };
const ALERT = {
  id: 'a1',
  kind: 'error_rate',
  scope: { tunnel_id: 't1' },
  threshold: 0.1,
  for_minutes: 10,
  channels: [
    { type: 'email', last_error: null },
    { type: 'slack', last_error: 'The endpoint responded with status 404.' },
  ],
  state: 'firing',
};

async function asking(t: TestContext, ...words: string[]): Promise<{ program: Program; server: PlayedServer }> {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, words, { home });
  refreshWith(await server.next(), 'cookie-1');
  return { program, server };
}

async function expect(server: PlayedServer, what: string, answer: unknown): Promise<unknown> {
  const request = await server.next();
  assert.equal(request.what, what);
  request.answer(200, answer);
  return request.body;
}

test('alerts list: shows state, tunnel and channels that fail', WITHIN, async (t) => {
  const { program, server } = await asking(t, 'alerts');
  await expect(server, 'GET /alerts', [ALERT, { ...ALERT, kind: 'budget', scope: {}, state: 'ok', threshold: 80 }]);
  await expect(server, 'GET /tunnels', [TUNNEL_ITEM]);
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(program.stdout, /^error_rate +shop +firing +0\.1 +10m +email, slack \(failing\) +a1$/m);
  assert.match(program.stdout, /^budget +all +ok +80 +10m /m);
});

test('alerts create: sends what its flags say, and prints the signing secret', WITHIN, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-alerts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'channels.json');
  writeFileSync(file, '[{"type": "slack", "url": "https://hooks.slack.example/x"}]');
  const words = ['alerts', 'create', 'error_rate', '--tunnel', 'shop', '--threshold', '0.1', '--for', '10m'];
  const to = [
    '--email',
    'a@example.test,b@example.test',
    '--webhook',
    'https://hooks.example.test/',
    '--channel-file',
    file,
  ];
  const { program, server } = await asking(t, ...words, ...to, '--quiet-hours', '22:00-07:00');
  await expect(server, 'GET /tunnels', [TUNNEL_ITEM]);
  const answer = { ...ALERT, channels: [{ type: 'webhook', secret: 'whsec_1', last_error: null }] };
  assert.deepEqual(await expect(server, 'POST /alerts', answer), {
    kind: 'error_rate',
    scope: { tunnel_id: 't1' },
    for_minutes: 10,
    channels: [
      { type: 'email', to: 'a@example.test' },
      { type: 'email', to: 'b@example.test' },
      { type: 'webhook', url: 'https://hooks.example.test/' },
      { type: 'slack', url: 'https://hooks.slack.example/x' },
    ],
    threshold: 0.1,
    quiet_hours: { from: '22:00', to: '07:00', time_zone: 'UTC' },
  });
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(program.stdout, /^error_rate: created \(a1\)\. Signing secret, .*: whsec_1\n$/);
});

test('alerts create: flags that make no sense are usage errors', WITHIN, async (t) => {
  for (const [flags, said] of [
    [[], /needs --email, --webhook or --channel-file/],
    [['--email', 'a@example.test', '--for', '90s'], /--for: "90s"/],
    [['--email', 'a@example.test', '--threshold', 'many'], /--threshold: "many" is not a number/],
    [['--email', 'a@example.test', '--quiet-hours', 'night'], /--quiet-hours: "night"/],
    [['--email', 'a@example.test', '--time-zone', 'UTC'], /--time-zone: needs --quiet-hours/],
  ] as const) {
    const server = await playServer(t);
    const { home } = loggedInAt(t, server.url);
    const program = start(t, ['alerts', 'create', 'tunnel_offline', ...flags], { home });
    assert.equal(await program.exit, 2, program.stderr);
    assert.match(program.stderr, said);
  }
});

test('alerts test and delete: find a rule by its kind; a channel that fails is exit code 1', WITHIN, async (t) => {
  const tested = await asking(t, 'alerts', 'test', 'error_rate');
  await expect(tested.server, 'GET /alerts', [ALERT]);
  await expect(tested.server, 'POST /alerts/a1/test', {
    ok: false,
    results: [
      { type: 'email', ok: true, error: null },
      { type: 'slack', ok: false, error: 'The endpoint responded with status 404.' },
    ],
  });
  assert.equal(await tested.program.exit, 1);
  assert.match(tested.program.stdout, /^email: sent, slack: The endpoint responded with status 404\.\n$/);
  const deleted = await asking(t, 'alerts', 'delete', 'a1', '--yes');
  await expect(deleted.server, 'GET /alerts', [ALERT]);
  await expect(deleted.server, 'DELETE /alerts/a1', { success: true });
  assert.deepEqual([await deleted.program.exit, deleted.program.stdout], [0, 'error_rate: deleted\n']);
});

test('alerts: an address that waits for its confirmation is marked, and gets another email', WITHIN, async (t) => {
  const waiting = { type: 'email', to: 'ops@example.com', state: 'pending', last_error: null };
  const rule = {
    ...ALERT,
    channels: [
      { ...waiting, id: 'c1' },
      { ...waiting, id: 'c2' },
      { type: 'slack', last_error: null },
    ],
  };
  const listed = await asking(t, 'alerts');
  await expect(listed.server, 'GET /alerts', [rule]);
  await expect(listed.server, 'GET /tunnels', [TUNNEL_ITEM]);
  assert.equal(await listed.program.exit, 0, listed.program.stderr);
  assert.match(listed.program.stdout, /email \(pending\), email \(pending\), slack/);
  const created = await asking(t, 'alerts', 'create', 'certificate', '--email', 'ops@example.com');
  await expect(created.server, 'POST /alerts', rule);
  assert.equal(await created.program.exit, 0, created.program.stderr);
  assert.match(created.program.stdout, /To get alerts, ops@example\.com must open the link in the confirmation email/);
  const resent = await asking(t, 'alerts', 'resend', 'a1');
  await expect(resent.server, 'GET /alerts', [rule]);
  await expect(resent.server, 'POST /alerts/a1/channels/c2/resend', rule);
  assert.equal(await resent.program.exit, 0, resent.program.stderr);
  assert.equal(resent.program.stdout, 'error_rate: confirmation sent to ops@example.com\n');
  const none = await asking(t, 'alerts', 'resend', 'a1');
  await expect(none.server, 'GET /alerts', [ALERT]);
  assert.equal(await none.program.exit, 1);
  assert.match(none.program.stderr, /no unconfirmed address/);
});
