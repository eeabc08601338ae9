// group: browser
/** WebSockets in the inspector: the setting of a tunnel, figures and frames of a connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { type Ends, inReverse } from '../harness/ends.ts';
import { type Fixture, heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture } from './fixture.ts';

suite('WebSockets in the inspector', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let tunnel: string;
  before(async () => {
    fixture = await startFixture(ends);
    const agent = fixture.culvert.agent(['http', String(await startEcho(ends)), '--subdomain', 'chat']);
    await agent.printed(/chat\.localhost/);
    const { body } = await fixture.culvert.account.call('GET', '/tunnels');
    tunnel = String((body as unknown as { id: string }[])[0]?.id);
  });

  test('inspector: frames of a WebSocket are recorded once the tunnel has it on', async (t) => {
    const page = await fixture.open(t, `/tunnels/${tunnel}?tab=recording`);
    const choice = page.getByRole('radiogroup', { name: 'WebSocket frames' });
    await choice.getByText('On', { exact: true }).click();
    await page.getByText('WebSocket frames saved.').waitFor();
    await page.getByLabel('Mask rules').fill('json: $..pin');
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByText('Mask rules saved.').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-websocket-setting');

    await talk();
    const { body } = await fixture.culvert.account.call('GET', `/inspector?tunnel_id=${tunnel}&status=101`);
    const id = String((body as unknown as { id: string }[])[0]?.id);
    await page.goto(`${fixture.culvert.apiUrl}/app/inspector/${id}`);
    await heading(page, 'Request');
    await page.getByText('1000, by the visitor').waitFor();
    const frames = page.getByRole('list', { name: 'Frames' });
    assert.equal(await frames.getByRole('listitem').count(), 10);
    await frames.getByRole('button', { name: '→ text' }).first().click();
    await page.getByText('"***"').first().waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-websocket');

    for (const colorScheme of ['light', 'dark'] as const) {
      const phone = await fixture.open(t, `/inspector/${id}`, { context: { viewport: PHONE, colorScheme } });
      await phone.getByRole('list', { name: 'Frames' }).waitFor();
      const wide = await phone.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      await shoot(phone, `inspector-websocket-phone-${colorScheme}`);
    }
  });

  /** A conversation of ten frames, and the end of its record. */
  async function talk(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${fixture.culvert.ports.http}/room`, {
      headers: { host: 'chat.localhost' },
    });
    await once(socket, 'open');
    for (const said of ['{"user":"ann","pin":"4711"}', 'hello', Buffer.from([0, 1, 255]), '']) {
      socket.send(said);
      await once(socket, 'message');
    }
    socket.close(1000, 'bye');
    await once(socket, 'close');
    for (let isOpen = true; isOpen; ) {
      const { body } = await fixture.culvert.account.call('GET', `/inspector?tunnel_id=${tunnel}&status=101`);
      const [first] = body as unknown as { websocket: { open: boolean } }[];
      isOpen = first?.websocket.open !== false;
      if (isOpen) await setTimeout(20);
    }
  }
});

/** A service that sends back what it gets; its port. */
async function startEcho(ends: Ends): Promise<number> {
  const server = createServer((_request, response) => response.end());
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.after(() => {
    sockets.close();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
