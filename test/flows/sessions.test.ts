/** Who serves a name, and how it is given up: a newer agent with the same key takes over, and SIGTERM lets what is in flight end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { get, startOrigin } from '../harness.ts';
import { sharedCulvert, type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

/** A service whose answers the test begins and ends itself. */
async function heldOrigin(t: TestContext) {
  const arrived = Promise.withResolvers<ServerResponse>();
  const { port } = await startOrigin(t, (incoming, response) => {
    if (incoming.url !== '/held') {
      response.end('quick');
      return;
    }
    response.write('first half, ');
    arrived.resolve(response);
  });
  return { port, arrived: arrived.promise };
}

/** A visitor in the middle of a response; `whole` resolves with the text of all of it. */
async function visitHeld(culvert: SpawnedCulvert, host: string): Promise<{ whole: Promise<string> }> {
  const outgoing = request({ port: culvert.ports.http, path: '/held', headers: { host }, agent: false });
  outgoing.on('error', () => undefined); // the response reports a cut too, and looked for there
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const whole = text(response);
  whole.catch(() => undefined); // looked at by the test, maybe after it has failed
  return { whole };
}

suite('sessions', { timeout: 240_000 }, () => {
  /** Of the tests that leave the server alone. */
  const shared = sharedCulvert();
  test('the same key and name from elsewhere: the new agent takes over at once, the old one gets the reason', async (t) => {
    const culvert = await shared();
    const [first, second] = await Promise.all(
      ['first', 'second'].map((body) => startOrigin(t, (_request, response) => response.end(body))),
    );
    const old = culvert.agent(['http', String(first?.port), '--subdomain', 'shop', '--json']);
    await old.printed(/"tunnel_online"/);
    const url = 'http://shop.localhost';
    assert.equal((await get(url, culvert.ports.http)).body, 'first');
    const young = culvert.agent(['http', String(second?.port), '--subdomain', 'shop', '--json']);
    await young.printed(/"tunnel_online"/);
    assert.equal((await get(url, culvert.ports.http)).body, 'second', 'from the moment in which it says so');
    assert.equal(await old.ended(), 4, 'not a failure: nothing may start it again to fight for the name');
    assert.match(old.output, /"code":"superseded"/);
    assert.match(old.output, /culvert: Another agent, on .+, took over http:\/\/shop\.localhost:\d+ at \d{4}-/);
    assert.equal((await get(url, culvert.ports.http)).body, 'second');
  });

  test('a takeover lets the response under way end whole on the old agent', async (t) => {
    const culvert = await shared();
    const { port, arrived } = await heldOrigin(t);
    const old = culvert.agent(['http', String(port), '--subdomain', 'whole', '--json']);
    await old.printed(/"tunnel_online"/);
    const { whole } = await visitHeld(culvert, 'whole.localhost');
    const response = await arrived;
    const next = await startOrigin(t, (_request, answer) => answer.end('next'));
    const young = culvert.agent(['http', String(next.port), '--subdomain', 'whole', '--json']);
    await young.printed(/"tunnel_online"/);
    await old.printed(/"event":"draining"/);
    assert.equal((await get('http://whole.localhost', culvert.ports.http)).body, 'next');
    response.end('second half');
    assert.equal(await whole, 'first half, second half');
    assert.equal(await old.ended(), 4);
  });

  test('SIGTERM to the agent: no new requests, the one in flight ends whole, exit code 0', async (t) => {
    const culvert = await shared();
    const { port, arrived } = await heldOrigin(t);
    const agent = culvert.agent(['http', String(port), '--subdomain', 'in-flight', '--json']);
    await agent.printed(/"tunnel_online"/);
    const { whole } = await visitHeld(culvert, 'in-flight.localhost');
    const response = await arrived;
    const stopped = agent.stop();
    await agent.printed(/"event":"draining"/);
    const refused = await get('http://in-flight.localhost', culvert.ports.http);
    assert.deepEqual([refused.status, refused.code], [503, 'tunnel_offline']);
    response.end('second half');
    assert.equal(await whole, 'first half, second half');
    assert.equal(await stopped, 0);
  });

  test('a second SIGTERM to the agent cuts what is in flight', async (t) => {
    const culvert = await shared();
    const { port } = await heldOrigin(t);
    const agent = culvert.agent(['http', String(port), '--subdomain', 'cut', '--json']);
    await agent.printed(/"tunnel_online"/);
    const { whole } = await visitHeld(culvert, 'cut.localhost');
    void agent.stop();
    await agent.printed(/"event":"draining"/);
    assert.equal(await agent.stop(), 0);
    await assert.rejects(whole, 'half a response is not taken for a whole one');
  });

  test('SIGTERM to the server: the request in flight ends whole, new visitors are refused, exit code 0', async (t) => {
    const culvert = await spawnCulvert(t);
    const { port, arrived } = await heldOrigin(t);
    const agent = culvert.agent(['http', String(port), '--subdomain', 'shop', '--json']);
    await agent.printed(/"tunnel_online"/);
    const { whole } = await visitHeld(culvert, 'shop.localhost');
    const response = await arrived;
    const stopped = culvert.server.stop();
    await culvert.server.printed(/"signal":"SIGTERM"/);
    await agent.printed(/"event":"retrying"/);
    await assert.rejects(get('http://shop.localhost', culvert.ports.http), { code: 'ECONNREFUSED' });
    response.end('second half');
    assert.equal(await whole, 'first half, second half');
    assert.equal(await stopped, 0);
  });

  test('a second SIGTERM to the server cuts what is in flight', async (t) => {
    const culvert = await spawnCulvert(t);
    const { port } = await heldOrigin(t);
    const agent = culvert.agent(['http', String(port), '--subdomain', 'shop', '--json']);
    await agent.printed(/"tunnel_online"/);
    const { whole } = await visitHeld(culvert, 'shop.localhost');
    void culvert.server.stop();
    await culvert.server.printed(/"signal":"SIGTERM"/);
    assert.equal(await culvert.server.stop(), 0);
    await assert.rejects(whole, 'half a response is not taken for a whole one');
  });
});
