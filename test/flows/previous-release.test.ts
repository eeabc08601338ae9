// group: slow
/** Server and agents of this version beside those of the release before it, and this version on that release's data. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, suite, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { replaceDatabase, snapshots } from '../../src/server/upgrade/database.ts';
import { PREVIOUS_VERSION, previousRelease } from '../fixtures/previous-release/recipe.ts';
import { startOrigin } from '../harness/origin.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { get } from '../harness/visitor.ts';

/** Visitors wait for an agent for as long as a busy machine takes. */
const PATIENT = { edge: 'hold_seconds = 60\n' };

/** A tunnel whose agent has left. */
const LEFT = 'added';

let old = '';
before(() => {
  old = previousRelease();
});

interface Services {
  readonly http: number;
  readonly tcp: number;
}

/** Sends back what it gets: requests, WebSocket messages and bytes. */
async function startServices(t: TestContext): Promise<Services> {
  const origin = await startOrigin(t, (request, response) => void request.pipe(response));
  const sockets = new WebSocketServer({ server: origin.server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  const echo = createServer((socket) => void socket.on('error', () => socket.destroy()).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.after(() => echo.close());
  return { http: origin.port, tcp: (echo.address() as AddressInfo).port };
}

interface Tunnels {
  readonly url: URL;
  readonly tcpPort: number;
}

async function publish(culvert: SpawnedCulvert, services: Services, program: string | undefined): Promise<Tunnels> {
  const web = culvert.agent(['http', String(services.http), '--subdomain', 'shop'], { program });
  const raw = culvert.agent(['tcp', String(services.tcp)], { program });
  return {
    url: new URL(await web.printed(/^(http:\S+)$/m)),
    tcpPort: Number(new URL(await raw.printed(/^(tcp:\S+)$/m)).port),
  };
}

/** A request with a body, a WebSocket and a TCP connection, each answered with what was sent. `login`: a password is set on the name. */
async function useAll({ ports }: SpawnedCulvert, { url, tcpPort }: Tunnels, login = ''): Promise<void> {
  const place = { host: '127.0.0.1', port: ports.http, agent: false, headers: { host: url.host } } as const;
  const auth = login === '' ? {} : { auth: login };
  const sent = 'x'.repeat(100_000);
  const asking = request({ ...place, ...auth, method: 'POST' }).end(sent);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  assert.deepEqual([response.statusCode, await text(response)], [200, sent]);
  const socket = new WebSocket(`ws://127.0.0.1:${ports.http}/`, { headers: { host: url.host }, ...auth });
  await once(socket, 'open');
  socket.send('hello');
  const [message] = (await once(socket, 'message')) as [Buffer];
  assert.equal(message.toString(), 'hello');
  socket.close();
  await once(socket, 'close');
  const raw = connect({ port: tcpPort, host: '127.0.0.1', allowHalfOpen: true });
  raw.end('bytes');
  assert.equal(await text(raw), 'bytes');
}

/** Both agents serve their tunnels again. */
async function untilBack(culvert: SpawnedCulvert): Promise<void> {
  const isOnline = async (): Promise<boolean> =>
    (await tunnelsOf(culvert)).every(({ online, subdomain }) => online || subdomain === LEFT);
  while (!(await isOnline())) await pause(100);
}

async function tunnelsOf({ account }: SpawnedCulvert) {
  const { status, body } = await account.call('GET', '/tunnels');
  assert.equal(status, 200);
  return body as unknown as Array<{ id: string; subdomain: string; online: boolean }>;
}

suite('the release before this one', { timeout: 600_000 }, () => {
  for (const [title, isServerOld] of [
    [`agents of ${PREVIOUS_VERSION} on this server`, false],
    [`agents of this version on a server of ${PREVIOUS_VERSION}`, true],
  ] as const) {
    test(`${title}: HTTP, WebSocket and TCP work, also after restarts of the server`, async (t) => {
      const services = await startServices(t);
      const culvert = await spawnCulvert(t, { ...PATIENT, program: isServerOld ? old : undefined });
      const tunnels = await publish(culvert, services, isServerOld ? undefined : old);
      await useAll(culvert, tunnels);
      assert.equal(await culvert.stopServer(), 0);
      await culvert.startServer();
      await untilBack(culvert);
      await useAll(culvert, tunnels);
      await culvert.killServer();
      await culvert.startServer();
      await untilBack(culvert);
      await useAll(culvert, tunnels);
    });
  }

  test('data: this version serves it, and so does the release before it after a way back', async (t) => {
    const services = await startServices(t);
    const culvert = await spawnCulvert(t, { ...PATIENT, program: old });
    const tunnels = await publish(culvert, services, old);
    const shop = (await tunnelsOf(culvert)).find(({ subdomain }) => subdomain === 'shop');
    const gate = { username: 'preview', password: 'first' };
    assert.equal((await culvert.account.call('PUT', `/tunnels/${shop?.id}/auth`, gate)).status, 200);
    const works = async (): Promise<void> => {
      await culvert.logIn();
      await untilBack(culvert);
      await useAll(culvert, tunnels, 'preview:first');
      const { status, code } = await get(tunnels.url.href, culvert.ports.http);
      assert.deepEqual([status, code], [401, 'unauthorized'], 'the password is still required');
    };
    await works();

    assert.equal(await culvert.stopServer(), 0);
    culvert.useProgram(undefined);
    await culvert.startServer();
    await works();
    const added = culvert.agent(['http', String(services.http), '--subdomain', LEFT]);
    await added.printed(/^(http:\S+)$/m);
    assert.equal(await added.stop(), 0);

    assert.equal(await culvert.stopServer(), 0);
    const dataDir = join(culvert.folder, 'data');
    const [before] = snapshots(dataDir);
    // Without one, this version has not changed the form of the database.
    if (before !== undefined) replaceDatabase(dataDir, before.file);
    culvert.useProgram(old);
    await culvert.startServer();
    await works();
  });
});
