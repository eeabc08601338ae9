// group: slow
/**
 * Five things that go wrong at night, on one real server: after how many seconds `GET /attention` lists each and the email of its alert comes, and what
 * both say. In real time: an alert waits a minute at least. The dashboard's overview is read at the end.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../harness/config.ts';
import { NO_CHROMIUM, openTab, sharedChromium } from '../harness/chromium.ts';
import type { Account } from '../harness/account.ts';
import { type Ends, inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { type Smtp, smtpSettings, startSmtp } from '../harness/smtp.ts';
import { SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { get } from '../harness/visitor.ts';
import { fillDisk, noSmallDisks, smallDisk } from '../faults/small-disk.ts';

const TO = 'night@example.test';
/** A rule waits a minute, is looked at every 10 s, and messages are grouped. */
const MAIL_MS = 150_000;
/** Of the checks of the server itself, which are made once a minute. */
const LISTED_MS = 90_000;
/** A new server is given time to get its certificate. */
const CERTIFICATE_MS = 150_000;
const KINDS = ['tunnel_offline', 'webhook_failing', 'certificate', 'disk', 'key_expiring'] as const;
type Kind = (typeof KINDS)[number];

interface Item {
  readonly kind: string;
  readonly title: string;
  readonly detail: string;
}

interface Said {
  readonly seconds: number;
  readonly text: string;
}

async function startNight(t: Ends, smtp: Smtp): Promise<SpawnedCulvert> {
  // Nothing listens at the authority: every order fails.
  const toml = `${smtpSettings(smtp)}\n[acme]\ndirectory_url = "https://127.0.0.1:9/directory"\n`;
  const edge = 'domain = "edge.night-shift.dev"\npublic_url = "https://{subdomain}.edge.night-shift.dev"';
  return spawnCulvert(t, { toml, edge, tls: 'acme' });
}

/** Another one, whose disk fills; its owner's account. */
async function startOnSmallDisk(t: Ends): Promise<{ readonly account: Account; fill(): void }> {
  const culvert = new SpawnedCulvert(t, smallDisk(t, 64), await freePorts(), {});
  await culvert.prepare();
  return { account: culvert.account, fill: () => void fillDisk(join(culvert.folder, 'data'), 1 << 20) };
}

test('bad night: what attention and alerts say, and when', {
  skip: noSmallDisks(),
  timeout: 600_000,
}, async (context) => {
  const t = inReverse(context);
  const smtp = await startSmtp(t);
  const culvert = await startNight(t, smtp);
  const small = await startOnSmallDisk(t);
  const { account, ports } = culvert;
  const must = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await account.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  for (const kind of ['tunnel_offline', 'webhook_failing', 'certificate'])
    await must('POST', '/alerts', { kind, scope: {}, for_minutes: 1, channels: [{ type: 'email', to: TO }] });
  await must('POST', '/alerts/confirm', { token: (await smtp.nextMail(TO)).token });
  const good = await startOrigin(t, (_, answer) => answer.end('ok'));
  const bad = await startOrigin(t, (_, answer) => {
    answer.statusCode = 500;
    answer.end();
  });
  const agent = culvert.agent(['http', String(good.port), '--subdomain', 'shop']);
  await agent.printed(/:\/\/shop\./);
  await culvert.agent(['http', String(bad.port), '--subdomain', 'hooks']).printed(/:\/\/hooks\./);
  assert.equal((await get(`http://shop.edge.night-shift.dev:${ports.http}/`, ports.http)).status, 200);
  const tunnels = (await must('GET', '/tunnels')) as unknown as ReadonlyArray<{ id: string; subdomain: string }>;
  const hooks = tunnels.find(({ subdomain }) => subdomain === 'hooks')?.id ?? '';
  const secret = 'a secret of the sender';
  const receiver = await must('POST', '/webhook-receivers', {
    name: 'orders',
    validator: 'github',
    secret,
    forward: { tunnel_id: hooks, path: '/' },
  });
  const began = new Map<Kind, number>();
  const begin = (kind: Kind): void => void began.set(kind, performance.now());
  begin('certificate');
  // The first visitor of a name has its certificate ordered.
  const visitor = connect({ host: '127.0.0.1', port: ports.https, servername: 'shop.edge.night-shift.dev' });
  visitor.on('error', () => undefined);
  t.after(() => visitor.destroy());
  // Let the traffic of `shop` be counted before its agent is gone.
  await pause(3_000);

  begin('tunnel_offline');
  agent.kill();
  begin('webhook_failing');
  const body = '{"action":"opened"}';
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const delivered = await fetch(String(receiver['url']), {
    method: 'POST',
    headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push', 'content-type': 'application/json' },
    body,
  });
  assert.ok(delivered.ok, String(delivered.status));
  begin('key_expiring');
  const { apiKey } = await must('POST', '/tokens', { name: 'ci', ttlHours: 72 });
  await culvert.agent(['http', String(good.port), '--subdomain', 'ci'], { token: String(apiKey) }).printed(/:\/\/ci\./);
  begin('disk');
  small.fill();

  const since = (kind: Kind): number => (performance.now() - (began.get(kind) ?? 0)) / 1_000;
  const listed = new Map<Kind, Said>();
  const mailed = new Map<Kind, Said>();
  const MAILS: Readonly<Partial<Record<Kind, RegExp>>> = {
    tunnel_offline: /shop.*offline/i,
    webhook_failing: /orders/i,
    certificate: /certificate/i,
  };
  const until = performance.now() + CERTIFICATE_MS;
  const isDone = (): boolean => listed.size === KINDS.length && mailed.size === Object.keys(MAILS).length;
  while (!isDone() && performance.now() < until) {
    const here = (await must('GET', '/attention')) as unknown as readonly Item[];
    const there = (await small.account.call('GET', '/attention')).body as unknown as readonly Item[];
    const items = [...here, ...there.filter(({ kind }) => kind === 'disk')];
    for (const kind of KINDS) {
      const item = items.find((one) => one.kind === kind);
      if (item !== undefined && !listed.has(kind))
        listed.set(kind, { seconds: since(kind), text: `${item.title}. ${item.detail}` });
      const pattern = MAILS[kind];
      if (pattern === undefined || mailed.has(kind)) continue;
      const mail = smtp.mails.find(({ subject, text }) => pattern.test(subject) || pattern.test(text));
      if (mail !== undefined) mailed.set(kind, { seconds: since(kind), text: mail.subject });
    }
    await pause(250);
  }
  // Told whether it passes or not: these lines are what the test is for.
  for (const kind of KINDS) {
    const { seconds: at, text } = listed.get(kind) ?? { seconds: Number.NaN, text: 'not listed' };
    const mail = mailed.get(kind);
    process.stdout.write(`${kind}: listed after ${at.toFixed(1)} s: ${text}\n`);
    if (mail !== undefined) process.stdout.write(`${kind}: email after ${mail.seconds.toFixed(1)} s: ${mail.text}\n`);
  }
  assert.deepEqual([...listed.keys()].sort(), [...KINDS].sort());
  const subjects = smtp.mails.map(({ subject, text }) => `${subject}: ${text}`).join('\n');
  assert.deepEqual([...mailed.keys()].sort(), Object.keys(MAILS).sort(), subjects);
  for (const [kind, { seconds }] of listed)
    if (kind !== 'certificate') assert.ok(seconds * 1_000 < LISTED_MS, `${kind} was listed after ${seconds} s`);
  for (const [kind, { seconds }] of mailed)
    if (kind !== 'certificate') assert.ok(seconds * 1_000 < MAIL_MS, `the email about ${kind} came after ${seconds} s`);
  if (NO_CHROMIUM !== false) return;
  const browser = await sharedChromium(t);
  const tab = await browser.newContext();
  const login = { email: 'admin@localhost', password: culvert.password };
  assert.equal((await tab.request.post(`${culvert.apiUrl}/auth/login`, { data: login })).status(), 200);
  const page = await openTab(t, tab);
  await page.goto(`${culvert.apiUrl}/app/`);
  const list = page.getByRole('region', { name: 'Needs attention' });
  await list.waitFor();
  const shown = await list.innerText();
  for (const [kind, { text }] of listed) {
    if (kind === 'disk') continue;
    const [title = ''] = text.split('. ');
    assert.ok(shown.includes(title), `the overview does not say "${title}"`);
  }
  process.stdout.write(`overview: ${shown.replaceAll(/\s+/g, ' ')}\n`);
});
