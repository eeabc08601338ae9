// group: browser
/**
 * What visitors, other members and agents send is hostile: through paths, queries, headers, bodies of every kind, names and messages, none of it runs,
 * asks another host or breaks a page, and it stands there as the text that it is.
 */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Ends, inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { NO_CHROMIUM, settled, startFixture, type Fixture } from './fixture.ts';
import { bodyOf, RAW_BODIES, TYPES, VECTORS } from './xss-corpus.ts';

/** As the page knows it: vectors, and what the page's policy has refused. */
const WATCH = `window.broken = []; document.addEventListener('securitypolicyviolation', (event) => window.broken.push(event.violatedDirective + ' ' + event.blockedURI));`;
const [SCRIPT = '', , , IMAGE = ''] = VECTORS;
/** Of the names that one kind of thing is given. */
const NAMES = VECTORS.filter((vector) => vector.length < 60).slice(0, 12);

suite('hostile text', { timeout: 240_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let receiver = '';
  let tunnel = '';
  before(async () => {
    fixture = await startFixture(ends);
    // Gives back what it gets, as the type that it is asked for.
    const { port } = await startOrigin(ends, (incoming, outgoing) => {
      const type = incoming.headers['content-type'] ?? 'text/html';
      outgoing.writeHead(200, {
        'content-type': type,
        'x-echo': incoming.headers['x-attack'] ?? '',
        'x-__proto__': '1',
      });
      incoming.pipe(outgoing);
    });
    await fixture.culvert.agent(['http', String(port), '--subdomain', 'shop']).printed(/^(http:\/\/\S+)$/m);
    const found = (await fixture.culvert.account.call('GET', '/tunnels')).body as unknown as { id: string }[];
    tunnel = found[0]?.id ?? '';
    await sendEverything(fixture.culvert.ports.http);
    receiver = await nameEverything();
  });

  test('hostile text: inert in the list of requests', async (t) => {
    const { page, check } = await watched(t, '/inspector');
    await page.getByRole('option').first().waitFor();
    await page.getByText(SCRIPT).first().waitFor();
    const list = page.getByRole('listbox');
    for (let at = 0; at < 12; at++) {
      await list.evaluate(
        (element: { scrollTop: number; clientHeight: number }) => (element.scrollTop += element.clientHeight),
      );
    }
    await check();
  });

  test('hostile text: inert in paths, headers and bodies of every kind', async (t) => {
    const { page, check } = await watched(t, '/inspector');
    await page.getByRole('option').first().waitFor();
    const records = (await fixture.culvert.account.call('GET', '/inspector?limit=500')).body as unknown as Seen[];
    assert.ok(records.length >= VECTORS.length, `${records.length} records`);
    for (const { id } of chosen(records)) {
      const fetched = page.waitForResponse((response) => response.url().endsWith(`/inspector/${id}`));
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/app/inspector/${id}`)})`);
      await fetched;
      await page.getByRole('tab', { name: 'Request' }).click();
      await page.getByRole('heading', { level: 3, name: 'Request headers' }).waitFor();
      await page.getByText('Raw', { exact: true }).click();
    }
    await check();
  });

  test('hostile text: a script in a path, a header or a body is text', async (t) => {
    const { page, check } = await watched(t, `/inspector?path=literal`);
    await page.getByRole('option').first().click();
    await page.getByRole('heading', { level: 2 }).getByText(`/literal?q=${SCRIPT}`).waitFor();
    await page.getByRole('tab', { name: 'Request' }).click();
    const row = page.getByRole('tree', { name: 'Body as JSON' }).getByRole('treeitem').nth(1);
    assert.equal(
      (await row.textContent())?.trim(),
      JSON.stringify({ [SCRIPT]: SCRIPT })
        .slice(2, -1)
        .replace('":', ': '),
    );
    await page.getByRole('button', { name: 'Request headers' }).click();
    await page.getByRole('table', { name: 'Request headers' }).getByText(IMAGE).waitFor();
    await check();
  });

  test('hostile text: inert in names, messages, policies and deliveries on every page', async (t) => {
    const { page, check } = await watched(t, '/');
    const places = [
      '/',
      '/tunnels',
      `/tunnels/${tunnel}`,
      '/keys',
      '/projects',
      '/connections',
      '/webhooks',
      `/webhooks/${receiver}`,
    ];
    for (const place of [
      ...places,
      '/organization',
      '/members',
      '/audit',
      '/account',
      '/names',
      '/domains',
      '/networks',
      '/operator',
      '/operator/orgs',
    ]) {
      await page.goto(`${fixture.culvert.apiUrl}/app${place}`);
      await settled(page);
      if (place === '/keys') await page.getByText(SCRIPT).first().waitFor();
      await check();
    }
  });

  /** A tab that hears of everything that must not happen. */
  async function watched(t: Ends, path: string): Promise<{ page: Page; check: () => Promise<void> }> {
    const page = await fixture.open(t, '/nowhere');
    const heard: string[] = [];
    page.on('dialog', (dialog) => {
      heard.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (asked) => {
      const { protocol, origin } = new URL(asked.url());
      if (protocol !== 'data:' && protocol !== 'blob:' && origin !== fixture.culvert.apiUrl) heard.push(asked.url());
    });
    await page.addInitScript(WATCH);
    await page.goto(`${fixture.culvert.apiUrl}/app${path}`);
    const check = async (): Promise<void> => {
      assert.deepEqual(heard, []);
      assert.equal(await page.evaluate('window.ran'), undefined);
      assert.deepEqual(await page.evaluate('window.broken'), []);
      assert.equal(
        await page
          .locator(
            'iframe, object, embed, base, main form[action], main script, main style:not([data-mantine-styles]), main a[href^="javascript:"]',
          )
          .count(),
        0,
      );
      assert.equal(await page.evaluate('({}).polluted ?? Object.prototype.list'), undefined);
    };
    return { page, check };
  }

  async function sendEverything(port: number): Promise<void> {
    for (const [at, vector] of VECTORS.entries()) {
      const type = TYPES[at % TYPES.length] ?? '';
      const path = `/${encodeURI(vector).replaceAll('%3C', '<').replaceAll('%3E', '>').replaceAll('%22', '"').slice(0, 2_000)}?q=${at}`;
      await send(port, { path, type, body: bodyOf(type, vector), value: vector });
    }
    for (const type of TYPES) await send(port, { path: `/kind`, type, body: bodyOf(type, IMAGE), value: IMAGE });
    for (const body of RAW_BODIES)
      await send(port, { path: '/raw', type: 'text/html; charset=utf-7', body, value: '' });
    await send(port, {
      path: `/literal?q=${SCRIPT}`,
      type: 'application/json',
      body: JSON.stringify({ [SCRIPT]: SCRIPT }),
      value: IMAGE,
    });
  }

  /** Names and messages are given by members, who may be as hostile. Returns the receiver's id. */
  async function nameEverything(): Promise<string> {
    const { account } = fixture.culvert;
    const taken: string[] = [];
    const name = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await account.call('POST', path, body);
      if (answer.status < 300) taken.push(path);
      return answer.body;
    };
    for (const [at, vector] of NAMES.entries()) {
      await name('/tokens', { name: vector });
      await name('/projects', { slug: `p${at}`, name: vector });
    }
    const { active_org: org } = (await account.call('GET', '/auth/me')).body as { active_org: { id: string } };
    await account.call('PATCH', `/orgs/${org.id}`, { name: IMAGE });
    await account.call('PUT', `/tunnels/${tunnel}/maintenance`, { message: SCRIPT + IMAGE });
    const actions = [
      { kind: 'deny', path_prefix: `/${IMAGE}`.replaceAll(' ', '') },
      { kind: 'header_set', name: 'X-Attack', value: SCRIPT },
      { kind: 'jwt_validation', allowed_issuers: [SCRIPT], allowed_audiences: [IMAGE], enforce: false },
    ];
    for (const action of actions) await account.call('PUT', `/tunnels/${tunnel}/policy`, { actions: [action] });
    const secret = randomBytes(24).toString('hex');
    const made = await name('/webhook-receivers', { name: SCRIPT, validator: 'github', secret });
    assert.ok(taken.filter((path) => path === '/tokens').length > 5, `keys: ${taken.length}`);
    assert.ok(taken.includes('/webhook-receivers') && taken.includes('/projects'));
    for (const vector of NAMES.slice(0, 4)) await deliver(String(made['url']), secret, vector);
    return String(made['id']);
  }
});

interface Sending {
  readonly path: string;
  readonly type: string;
  readonly body: string | Buffer;
  /** Of a header. */
  readonly value: string;
}

async function send(port: number, { path, type, body, value }: Sending): Promise<void> {
  const bytes = Buffer.from(body as string);
  const outgoing = request({
    host: '127.0.0.1',
    port,
    agent: false,
    path,
    method: 'POST',
    headers: {
      host: 'shop.localhost',
      'content-type': type,
      'content-length': bytes.length,
      // Header values are bytes: one character each.
      'x-attack': Buffer.from(value).toString('latin1'),
      __proto__x: '<b>',
      constructor: '<i>',
    },
  });
  outgoing.end(bytes);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
}

async function deliver(url: string, secret: string, vector: string): Promise<void> {
  const body = JSON.stringify({ action: vector, __proto__x: vector });
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': randomBytes(16).toString('hex'),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  });
  assert.equal(answer.status, 202);
}

interface Seen {
  readonly id: string;
  readonly path: string;
}

/** Those with a body of each kind, and some of the others: a page each takes its time. */
function chosen(records: readonly Seen[]): Seen[] {
  const kinds = records.filter(({ path }) => path === '/kind' || path === '/raw');
  const others = records.filter(({ path }) => path !== '/kind' && path !== '/raw');
  return [...kinds, ...others.filter((_, at) => at % 6 === 0)];
}
